"""A batch can be followed: in the trace, in the table of frames, and in a picture."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import airfair
import pytest
from airfair import Capture, InputError, Recording, Scenario, plots
from matplotlib.collections import LineCollection

from tests.support import SCENARIOS
from tests.support import airfair as command

DIAMOND = SCENARIOS / "lossy-diamond.toml"
SCHEMES = ("more", "exor")


def recorded(scheme: str, out: Path | None = None) -> Recording:
    scenario = Scenario.read(DIAMOND, ["duration=2 s"])
    return airfair.record(scenario, scheme=scheme, capture=Capture(trace=True), out=out)


@pytest.fixture(scope="module")
def recordings() -> dict[str, Recording]:
    return {scheme: recorded(scheme) for scheme in SCHEMES}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_held_grows_by_what_is_received(recordings: dict[str, Recording], scheme: str) -> None:
    """A node holds at most as many packets of a batch as broadcasts of it have arrived, one more each time;
    at the end of each batch the destination holds all of it, and these are its packets that arrived."""
    recording = recordings[scheme]
    frames = recording.pandas("frames")
    received: Counter[tuple[str, float]] = Counter()
    last: dict[tuple[str, float], tuple[float, float]] = {}
    for row in frames.to_dict("records"):
        at = (row["node"], row["sequence"])
        if row["event"] == "received" and row["content"] == "forwarded":
            received[at] += 1
        elif row["event"] == "holds":
            held, of = row["held_packets"], row["batch_packets"]
            before, same = last.get(at, (0, of))
            assert (held, of) == (before + 1, same)
            assert held <= min(received[at], of)
            last[at] = held, of
    (flow,) = recording.result["flows"]
    forwarding = flow.get("forwarding")
    assert forwarding is not None
    whole = [of for (node, _), (held, of) in last.items() if node == "e" and held == of]
    arrived = sum(held for (node, _), (held, _) in last.items() if node == "e")
    assert forwarding["innovative"] == arrived
    if scheme == "more":
        assert forwarding["batches"] == len(whole) > 5
        assert flow["delivered_packets"] == sum(whole)
    else:  # the last tenth of a batch arrives by ordinary routing
        assert flow["delivered_packets"] >= arrived > 100


def test_other_schemes_have_no_such_columns() -> None:
    recording = recorded("droptail")
    assert {"held_packets", "batch_packets"}.isdisjoint(recording.arrow("frames").column_names)
    with pytest.raises(InputError, match="no flow goes by forwarders; expected a run with a scheme such as"):
        plots.batches(recording)


def test_a_trace_tells_what_is_held() -> None:
    until = ["--until", "100 ms", "--node", "e"]
    done = command("trace", DIAMOND, "--scheme", "more", *until)
    lines = [line for line in done.stdout.splitlines() if " holds " in line]
    held = [int(line.split(" holds ")[1].split()[0]) for line in lines]
    assert held == list(range(1, len(held) + 1))
    assert len(held) > 10
    assert all(line.endswith(" of 32 of batch 0 of f") for line in lines)


def test_a_picture_of_batches(recordings: dict[str, Recording]) -> None:
    """Lanes from the source to the destination, a stroke for each broadcast, a dotted line for each batch."""
    recording = recordings["more"]
    frames = recording.pandas("frames")
    figure = plots.batches(recording, until="1 s")
    (axes,) = figure.axes
    assert axes.get_title(loc="left") == "lossy-diamond, more, seed 1: flow f"
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert (labels[0], labels[-1]) == ("a", "e")
    assert set(labels[1:-1]) < set("bcd")
    sent = frames[(frames["event"] == "sent") & (frames["content"] == "forwarded")]
    sent = sent[sent["time_ns"] <= 1e9]
    strokes = [c for c in axes.collections if isinstance(c, LineCollection)]
    assert sum(len(c.get_segments()) for c in strokes) == len(sent)
    first = sent[sent["node"] == "a"].drop_duplicates("sequence")["time_ns"].to_numpy()
    dotted = [line for line in axes.get_lines() if line.get_linestyle() == ":"]
    at = [float(cast(Any, line.get_xdata())[0]) for line in dotted]
    assert at == pytest.approx((first - first[0]) / 1e6)
    assert len(at) > 3
    assert all(a < b for a, b in pairwise(at))


def test_a_window_of_three_batches_by_default(recordings: dict[str, Recording]) -> None:
    (axes,) = plots.batches(recordings["exor"], "f").axes
    assert sum(line.get_linestyle() == ":" for line in axes.get_lines()) == 4


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("g",), 'flow: there is no "g"'),
        (("f", "5 s"), "no broadcast from 5 s until"),
        (("f", "1 s", "500 ms"), "no broadcast from 1 s until 0.5 s; the table has some from"),
    ],
)
def test_what_cannot_be_drawn(
    recordings: dict[str, Recording], arguments: tuple[str, ...], told: str
) -> None:
    with pytest.raises(InputError, match=told):
        plots.batches(recordings["more"], *arguments)


def test_the_command_draws_batches(tmp_path: Path) -> None:
    recorded("more", tmp_path / "run")
    picture = tmp_path / "b.svg"
    asked = ["--kind", "batches", "--flow", "f", "--from", "0.2 s", "--until", "0.4 s"]
    assert command("plot", tmp_path / "run", *asked, "-o", picture).returncode == 0
    assert "flow f" in picture.read_text()
    done = command("plot", tmp_path / "run", "--kind", "batches", "--stations", "a", "-o", picture)
    assert done.returncode != 0
    assert "--stations goes with --kind timeline, not with batches" in done.stderr
