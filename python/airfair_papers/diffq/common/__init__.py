"""Parts that several experiments of the paper share."""

STARVED_BPS = 1000.0
"""A flow below this rate starves, as in section 6.3."""

SHORT = ("flows.count=4", "flows.start=3 s", 'duration="6 s"', 'warmup="3 s"')
"""A run of the testbed that only shows that it works."""
