"""Parts that the experiments of the paper share."""
