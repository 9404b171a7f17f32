"""What the experiments of the paper share."""
