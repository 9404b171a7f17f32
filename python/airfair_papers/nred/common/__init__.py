"""Parts that several experiments of the paper share."""

STARVED = 0.1
"""Of the mean goodput of a run's flows: below this share a flow starves. The paper gives no number."""
