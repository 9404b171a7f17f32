"""Average windows of Reno and CUBIC by loss rate, against the table of CUBIC's RFC."""

from __future__ import annotations

from collections.abc import Iterable

from .. import reference
from ..report import Context, Figure, Row, Series, within
from ..runs import run_all, seeds
from .mathis import MSS, long_flow

TITLE = "Response functions"
ABOUT = """
The average window of one flow that loses every 1/p-th segment, every segment acknowledged, fast convergence
off, as the table of RFC 9438 is computed: whole packets down to p = 10⁻⁶ (10⁻⁵ with `--quick`). The tests
of the law alone, without packets, continue to 10⁻⁸ in the crate `airfair-schemes`. The first half of
each run, which begins with slow start up to the table's window, is omitted.

At p = 0.01 the window is ten segments, of which the repair of each loss and the rounding to whole segments
cost 1.5 to 2: the table omits both. The tolerance there is 20 %, and 15 % elsewhere.
"""

SECTION = "response"
SOURCE = "RFC 9438, section 5.1"
CYCLES = {1e-2: 2000, 1e-3: 1000, 1e-4: 200, 1e-5: 60, 1e-6: 16}
"""Losses of a run, about."""


def rows(context: Context) -> Iterable[Row]:
    """Each cell of the table."""
    cells = []
    for rtt, table in reference.CUBIC_RESPONSE.items():
        for p, reno, cubic in table:
            if p >= (1e-5 if context.quick else 1e-6):
                cells += [(rtt, p, "reno", reno), (rtt, p, "cubic", cubic)]
    runs = []
    for rtt, p, law, window in cells:
        half = max(5, round(CYCLES[p] / 2 * rtt / p / window))
        params = f'initial_ssthresh = "{window * MSS} B"\n'
        if law == "cubic":
            params += "fast_convergence = false\n"
        key = f"loss_every = {round(1 / p)}"
        runs.append(
            long_flow(key, law, rtt_s=rtt, duration_s=2 * half, warmup_s=half, delayed=False, params=params)
        )
    results = run_all(context, [(scenario, seeds(context, 1)[0]) for scenario in runs])
    measured = [
        result["flows"][0]["goodput_bps"] * rtt / (8 * MSS)
        for (rtt, *_), result in zip(cells, results, strict=True)
    ]
    for (rtt, p, law, window), mean in zip(cells, measured, strict=True):
        yield within(
            SECTION,
            f"{law}, round trip {round(1e3 * rtt)} ms, p = {p:g}",
            SOURCE,
            expected=window,
            measured=mean,
            unit="segments",
            relative=0.20 if p == 1e-2 else 0.15,
        )
    series = []
    for law in ("reno", "cubic"):
        chosen = [i for i, cell in enumerate(cells) if cell[0] == 0.1 and cell[2] == law]
        x = [float(k) for k in range(1, len(chosen) + 1)]
        series.append(Series(f"{law}: RFC", x, [cells[i][3] / measured[i] for i in chosen], "dashed"))
    context.figure(
        Figure(
            SECTION,
            "windows",
            "The table's window over the simulator's, round trip 100 ms",
            "loss rate",
            "table / simulator",
            series,
            [f"{p:g}" for p in sorted({cell[1] for cell in cells}, reverse=True)],
        )
    )
