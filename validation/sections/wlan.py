"""Uploads and downloads through one access point."""

from __future__ import annotations

from collections.abc import Iterable

from airfair import Scenario

from ..report import Context, Figure, Row, Series, Style, inside
from ..runs import SCENARIOS, mean_of, run_all, seeds

TITLE = "Uploads against downloads"
ABOUT = """
`scenarios/access-point.toml`: six stations, each with a download and an upload, round trips of 40 to 370
ms, 802.11b at 11 Mbit/s. DCF gives each of the n + 1 stations with a frame the same number of turns. So
downloads can have at most the access point's turns, 1 of 7, against 6 of 7 for the uploads, even if the
access point sent nothing else. It sends fewer: for every two upload segments an acknowledgement waits in
its queue too, three packets for each turn, and two of three packets are dropped, of any kind. An upload
does not need most of its acknowledgements, since a later one covers them; a download does not grow beyond
its first window. A long queue delays the drops and lets downloads from near servers pass, but the number of
turns stays. RTS/CTS changes the cost of a turn, not its owner.
"""

SECTION = "wlan"
THEORY = "DCF's equal turns: 6/7 with n = 6 stations and the access point"
VARIANTS: dict[str, list[str]] = {
    "50 packets": [],
    "1000 packets": ["radio.queue_packets=1000"],
    "50 packets, RTS/CTS": ['radio.rts_threshold="0 B"'],
}
RTT_MS = (40, 106, 172, 238, 304, 370)


def rows(context: Context) -> Iterable[Row]:
    """Shares of the uploads, and every flow over its round trip."""
    count = 3 if context.quick else 10
    series = []
    for name, overrides in VARIANTS.items():
        scenario = Scenario.read(SCENARIOS / "access-point.toml", overrides)
        results = run_all(context, [(scenario, seed) for seed in seeds(context, count)])
        goodput = {
            flow: mean_of([result["flows"][i]["goodput_bps"] / 1e3 for result in results])
            for i, flow in enumerate(scenario.flows)
        }
        up = [goodput[f"up{i}"] for i in range(1, 7)]
        down = [goodput[f"down{i}"] for i in range(1, 7)]
        sum_up, sum_down = (sum(mean.mean for mean in means) for means in (up, down))
        yield inside(
            SECTION,
            f"queue of {name}: share of the uploads",
            THEORY,
            low=6 / 7,
            high=1.0,
            measured=sum_up / (sum_up + sum_down),
        )
        yield inside(
            SECTION,
            f"queue of {name}: the best download over the worst upload",
            "the same: no download is above any upload",
            low=0.0,
            high=1.0,
            measured=max(mean.mean for mean in down) / min(mean.mean for mean in up),
        )
        if "RTS" not in name:
            for label, means in (("upload", up), ("download", down)):
                style: Style = "line" if name == "50 packets" else "dashed"
                series.append(Series.of_means(f"{label}s, queue of {name}", RTT_MS, means, style))
    context.figure(
        Figure(
            SECTION,
            "flows",
            "Goodput over the round trip of the wired part; bars are 99 % intervals.",
            "round trip, ms",
            "goodput, kbit/s",
            series,
        )
    )
