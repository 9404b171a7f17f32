"""What several experiments of the paper share."""
