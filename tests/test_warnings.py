"""Warnings about a scenario that `check` and `run` give before a run starts."""

from __future__ import annotations

from pathlib import Path

import airfair
import pytest
from airfair import Scenario
from airfair.sweeping.plan import Plan
from airfair.sweeping.study import Study

from tests.support import airfair as command

CHANNELS = """name = "channels"
duration = "1 s"
[radio]
standard = "802.11g"
data_rate = "54 Mbit/s"
propagation = { model = "two-ray", range = "100 m", carrier_sense = "220 m" }
[radios.other]
channel = 3
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["10 m", "0 m"]
radios = ["other"]
"""


def test_channels_that_overlap() -> None:
    def overlaps(channel: int) -> list[str]:
        warnings = Scenario.parse(CHANNELS, "x", [f"radios.other.channel={channel}"]).check()
        return [warning for warning in warnings if "overlap" in warning]

    (warning,) = overlaps(3)
    assert warning.startswith('channels 1 and 3 (radios "default" and "other") overlap: ')
    assert [channel for channel in range(1, 14) if overlaps(channel)] == [2, 3, 4], "OFDM has 20 MHz"


RANGE = """name = "range"
duration = "1 s"
[radio]
standard = "802.11a"
data_rate = "24 Mbit/s"
propagation = { model = "two-ray", range = "9000 m", carrier_sense = "9500 m" }
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["500 m", "0 m"]
[[flow]]
id = "u"
from = "a"
to = "b"
traffic = { kind = "saturating" }
"""


def test_a_range_beyond_that_of_data() -> None:
    warnings = Scenario.parse(RANGE).check()
    (warning,) = [warning for warning in warnings if "`range`" in warning]
    # 410 m, where 15 dBm arrive 10 dB above the noise.
    assert 'radio "default" detects preambles up to 9000 m, its `range`' in warning
    assert "receives data frames at 24 Mbit/s up to 410 m only" in warning
    for at, fits in [("405 m", True), ("415 m", False)]:
        scene = Scenario.parse(RANGE.replace("500 m", at))
        assert (airfair.run(scene)["aggregate_goodput_bps"] > 0) == fits
    shorter = ['radio.propagation.range="400 m"', 'radio.propagation.carrier_sense="900 m"']
    assert not any("`range`" in warning for warning in Scenario.parse(RANGE, "x", shorter).check())


STREAMS = """name = "streams"
duration = "20 s"
warmup = "5 s"
[radio]
standard = "802.11g"
data_rate = "54 Mbit/s"
propagation = { model = "two-ray", range = "100 m", carrier_sense = "220 m" }
[[node]]
id = "ap"
position = ["0 m", "0 m"]
[[node]]
id = "s1"
position = ["10 m", "0 m"]
[[node]]
id = "s2"
position = ["0 m", "10 m"]
[[node]]
id = "h"
radios = []
[[link]]
ends = ["h", "ap"]
rate = "1 Gbit/s"
delay = "1 ms"
[[flow]]
id = "u1"
from = "h"
to = "s1"
traffic = { kind = "constant", rate = "100 Mbit/s", packet = "1470 B" }
[[flow]]
id = "u2"
from = "h"
to = "s2"
traffic = { kind = "constant", rate = "100 Mbit/s", packet = "1470 B" }
"""


def streams(*overrides: str) -> Scenario:
    return Scenario.parse(STREAMS, "streams", list(overrides))


def test_constant_streams_that_fill_one_queue() -> None:
    (warning,) = streams().check()
    assert warning.startswith("flows at equal gaps without jitter fill the queue of ap: ")
    assert "u1 (to s1), u2 (to s2)" in warning
    # The remedy of the warning: each gets its half of 23.6 Mbit/s, in the run of every seed.
    jitter = ["flow.u1.traffic.gap_jitter=1.0", "flow.u2.traffic.gap_jitter=1.0"]
    assert streams(*jitter).check() == []
    for seed in (1, 2, 3):
        one, other = (flow["goodput_bps"] for flow in airfair.run(streams(*jitter), seed=seed)["flows"])
        assert one == pytest.approx(other, rel=0.1)


@pytest.mark.parametrize(
    "overrides",
    [
        ['flow.u2.traffic.rate="50 Mbit/s"'],  # other gaps
        ['flow.u1.traffic.rate="5 Mbit/s"', 'flow.u2.traffic.rate="5 Mbit/s"'],  # the queue does not fill
        ['flow.u1.from="ap"', 'flow.u2.from="ap"'],  # a full queue stops both, and they take turns
    ],
)
def test_constant_streams_whose_shares_do_not_follow_from_phases(overrides: list[str]) -> None:
    assert streams(*overrides).check() == []


SETTINGS = """name = "settings"
duration = "1 s"
scheme = "c3l-faulty"
[radio]
data_rate = "2 Mbit/s"
[[node]]
id = "a"
position = ["0 m", "0 m"]
[[node]]
id = "b"
position = ["100 m", "0 m"]
scheme = "red"
[[flow]]
id = "u"
from = "a"
to = "b"
traffic = { kind = "saturating" }
"""

UNUSED = "warning: --set c3l.probe_power: no node runs c3l here"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["run"], f"{UNUSED}; did you mean c3l-faulty.probe_power?"),
        (["run", "--json"], f"{UNUSED}; did you mean c3l-faulty.probe_power?"),
        (["check"], f"{UNUSED}; did you mean c3l-faulty.probe_power?"),
        (["trace", "--until", "1 ms"], f"{UNUSED}; did you mean c3l-faulty.probe_power?"),
        (["explain", "--scheme", "droptail", "--json"], UNUSED),
        (["compare", "--schemes", "droptail,codel", "--seeds", "1"], UNUSED),
        (["run", "--scheme", "c3l"], None),
        (["compare", "--schemes", "droptail,c3l", "--seeds", "1"], None),
    ],
)
def test_a_parameter_of_a_scheme_that_does_not_run(
    arguments: list[str], expected: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(SETTINGS)
    name, *options = arguments
    where = ["--out", str(tmp_path / "x.svg")] if name == "explain" else []
    done = command(name, file, *options, *where, "--set", "c3l.probe_power=7")
    assert done.returncode == 0, done.stderr
    found = [line for line in done.stderr.splitlines() if "probe_power:" in line]
    assert found == ([] if expected is None else [expected])


def test_a_change_of_one_row_for_another_scheme(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(SETTINGS)
    row = "codel[nred.max_p=0.3]"
    done = command("compare", file, "--schemes", f"droptail,{row}", "--seeds", "1")
    warning = f'warning: scheme "{row}": nred.max_p: no node runs nred here; did you mean red.max_p?\n'
    assert warning in done.stderr


def test_a_study_with_a_parameter_that_nothing_reads(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(SETTINGS)
    study = tmp_path / "study.toml"
    study.write_text(
        'name = "s"\nscenario = "settings.toml"\nschemes = ["droptail", "codel"]\nseeds = 1\n'
        '[parameters]\n"nred.max_p" = [0.1, 0.2]\n"codel.target" = ["5 ms"]\n'
    )
    plan = Plan(Study.read(study))
    found = [warning for warning in plan.warnings if "no node runs" in warning]
    assert found == [f"{study}:6: parameters.nred.max_p: no node runs nred here; did you mean red.max_p?"]


def test_faults_of_which_none_is_set() -> None:
    def lacking(*overrides: str) -> list[str]:
        return [warning for warning in Scenario.parse(SETTINGS, "x", overrides).check() if "fault" in warning]

    assert lacking() == ["scheme c3l-faulty: no fault is set; `airfair schemes c3l-faulty` lists the faults"]
    assert lacking("c3l-faulty.lost=0.5") == []
    assert lacking("scheme=droptail") == []
    assert len(lacking("scheme=droptail", "node.b.scheme=c3l-faulty")) == 1


def test_the_heading_names_the_schemes_of_nodes(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(SETTINGS)
    heading = command("run", file).stdout.splitlines()[0]
    assert heading == "settings, c3l-faulty; b: red, seed 1: 1 s"
    assert command("run", file, "--scheme", "red").stdout.startswith("settings, red, seed 1")
    assert Scenario.parse(SETTINGS).own_schemes == {"b": "red"}
