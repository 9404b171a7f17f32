"""NewReno in Python: half the window at a loss, one segment at a time-out.

    airfair run scenarios/three-pairs.toml --schemes-from examples/schemes/newreno.py --scheme py-newreno

RFC 5681, RFC 6582 and RFC 4015; the law of `crates/schemes/newreno` with its usual settings: the results of
`newreno`, byte for byte. Windows are bytes of payload; repairing losses is the transport's business.
"""

from __future__ import annotations

from airfair.scheme import (
    Acked,
    Allowance,
    Congestion,
    Context,
    FlowSetup,
    Idle,
    Scheme,
    Source,
    Spurious,
    register,
    size,
)


class NewReno(Source):
    """The law of one connection."""

    def __init__(self, initial_ssthresh: int) -> None:
        self.mss = self.initial = self.limit = self.window = 1
        self.threshold = initial_ssthresh
        self.counted = 0  # what equation 3 left over, in bytes times window
        self.before: tuple[int, int] | None = None  # window, and the larger of flight and threshold

    def on_start(self, setup: FlowSetup, context: Context) -> None:
        self.mss = max(setup.mss, 1)
        self.limit = max(setup.window_limit, self.mss)
        first = self.mss if setup.syn_lost else setup.initial_window
        self.window = self.initial = min(max(first, self.mss), self.limit)

    def on_acked(self, acked: Acked, context: Context) -> None:
        if acked.cumulative == 0 or acked.in_recovery or not acked.window_limited:
            return
        if self.window < self.threshold:
            self.set_window(self.window + min(acked.cumulative, self.mss))  # RFC 5681, equation 2
        else:
            self.counted += self.mss * self.mss  # equation 3, with what the division leaves over
            grown, self.counted = divmod(self.counted, self.window)
            self.set_window(self.window + grown)

    def on_congestion(self, congestion: Congestion, context: Context) -> None:
        half = congestion.in_flight // 2
        if congestion.cause in ("fast-loss", "timeout") and not congestion.repeated:
            self.before = self.window, max(min(congestion.in_flight, self.window), self.threshold)
        match congestion.cause:
            case "fast-loss" | "mark":
                self.set_threshold(half)
                self.set_window(min(self.window, self.threshold))
            case "timeout":
                if not congestion.repeated:
                    self.set_threshold(min(half, self.window // 2))  # equation 4 is an upper bound
                self.window = self.mss
            case "link-drop":
                return  # left to be found as the loss that it is
        self.counted = 0

    def on_spurious(self, spurious: Spurious, context: Context) -> None:
        self.counted = 0
        if self.before is not None:
            window, self.threshold = self.before
            released = min(spurious.acked, self.initial)  # RFC 4015: no burst
            self.set_window(max(min(spurious.in_flight + released, window), self.window))
            self.before = None

    def on_recovered(self, in_flight: int, context: Context) -> None:
        self.set_window(min(self.window, max(in_flight, self.mss) + self.mss))  # RFC 6582 section 3.2

    def on_idle(self, idle: Idle, context: Context) -> None:
        self.window = min(self.window, self.initial)

    def allowance(self, now: int) -> Allowance:
        return Allowance(window=self.window)

    def ssthresh(self) -> int | None:
        return self.threshold

    def set_window(self, size: int) -> None:
        """Between one segment and the limit."""
        self.window = min(max(size, self.mss), self.limit)

    def set_threshold(self, size: int) -> None:
        """At least two segments."""
        self.threshold = max(size, 2 * self.mss)


@register
class NewRenoScheme(Scheme):
    """slow start and congestion avoidance; half the window at a loss"""

    name = "py-newreno"
    origin = "RFC 5681, RFC 6582"

    initial_ssthresh = size("1073725440 B", "slow-start threshold of a new flow", low="1 B", high="1000 GB")

    def source(self) -> Source:
        return NewReno(self.initial_ssthresh)
