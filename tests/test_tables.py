"""The tables of a run."""

from __future__ import annotations

import io
import re

from airfair import compare, quantities, run, tables, terminal

from tests.support import SCENARIOS, SHORT, THREE_PAIRS


def test_lost_routes_are_told_flow_by_flow_where_they_are_few() -> None:
    def lines(*flows: tuple[int, float]) -> str:
        found = [
            {"id": f"f{i}", "lost": lost, "without_s": without} for i, (lost, without) in enumerate(flows)
        ]
        lost = sum(lost for lost, _ in flows)
        upkeep = {"protocol": "OLSR", "ip_bytes_per_node_s": 244.6, "routes_lost": lost, "flows": found}
        told = tables._upkeep(upkeep)  # type: ignore[arg-type]
        assert told[-1].endswith("; a broken route counts as a route until a node notices")
        return "\n".join(told).rsplit("; ", 1)[0]

    head = "OLSR: 245 B of packets per node and second; "
    assert lines((0, 0.0)) == f"{head}0 routes lost in the tables of all nodes\nno flow has lost its route"
    assert lines((1, 0.26), (0, 0.0)) == (
        f"{head}1 route lost in the tables of all nodes\nf0: route lost 1 time, 0.26 s without"
    )
    assert lines((2, 12.3456), (0, 1e-5)).splitlines()[1:] == [
        "f0: route lost 2 times, 12.3 s without",
        "f1: route lost 0 times, 1e-05 s without",
    ]
    assert lines(*[(1, 0.5)] * 5).splitlines()[1:] == ["5 flows in all: routes lost 5 times, 2.5 s without"]


def test_times_have_the_unit_in_which_they_are_not_below_one() -> None:
    times = (None, 0.0, 3.45e-6, 4e-7, 0.00099949, 0.0009996, 0.0123456, 0.9994, 0.9996, 12.34, 1234.5)
    assert [quantities.time(time) for time in times] == [
        "-",
        "0 ms",
        "3.45 us",
        "0.4 us",
        "999 us",
        "1 ms",
        "12.3 ms",
        "999 ms",
        "1 s",
        "12.3 s",
        "1230 s",
    ]


def test_a_controller_is_warned_of_where_no_scheme_of_a_comparison_has_one() -> None:
    overrides = ["duration=1 s", "warmup=0 s", 'controller=[{ node = "1" }]']
    file = SCENARIOS / "inhibited-link.toml"

    def warned(*schemes: str) -> int:
        rows = compare(file, schemes=schemes, seeds=[1], overrides=overrides)
        return sum(text.startswith(tables.NO_CONTROLLER) for text in tables.warnings_of(rows))

    assert warned("droptail", "red") == 2
    assert warned("droptail", "c3l") == 0


def test_feedback_of_tfrc_is_in_the_table() -> None:
    result = run(SCENARIOS / "tfrc-beside-tcp.toml", overrides=["duration=30 s"])
    out = io.StringIO()
    tables.show_run(result, terminal.Console(file=out, width=300))
    lines = [re.split(r" {2,}", line.strip()) for line in out.getvalue().splitlines()]
    heads = next(line for line in lines if "loss event rate" in line)
    for flow in result["flows"]:
        (row,) = (dict(zip(heads, line, strict=True)) for line in lines if line[0] == flow["id"])
        told = [row[head] for head in ("loss events", "loss event rate", "feedback")]
        if "feedback" not in flow:
            assert told == ["-", "-", "-"]
            continue
        feedback = flow["feedback"]
        assert feedback["loss_event_rate"] is not None
        assert told == [
            str(feedback["loss_events"]),
            f"{100 * feedback['loss_event_rate']:.3g} %",
            f"{feedback['received']} of {feedback['sent']}",
        ]
    assert sum("feedback" in flow for flow in result["flows"]) == 2
    pairs = io.StringIO()
    tables.show_run(run(THREE_PAIRS, overrides=SHORT[1::2]), terminal.Console(file=pairs, width=300))
    assert "loss event" not in pairs.getvalue()
