"""Parts that several experiments of the paper share."""
