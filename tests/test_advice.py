"""Advice of `airfair explain`, and its words on causes: sums, order, and lines that the scenario accepts."""

from __future__ import annotations

import io
import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import airfair
import pytest
from airfair import Scenario
from airfair.explaining import show, words
from airfair.explaining.advice import advice
from airfair.explaining.prose import folded
from airfair.explaining.result import Explanation
from airfair.explaining.settings import accepted, changes
from rich.console import Console

from tests.support import SCENARIOS
from tests.support import airfair as command

HIDDEN = """
name = "hidden"
duration = "6 s"
[radio]
standard = "802.11a"
data_rate = "24 Mbit/s"
rts_threshold = "2347 B"
propagation = { model = "matrix" }
node = [{ id = "s" }, { id = "r" }, { id = "h1" }, { id = "h2" }, { id = "h3" }, { id = "h4" }, { id = "h5" }]
gain = [
  { from = "s", to = "r", gain = "-85 dB", both = true },
  { from = "h1", to = "r", gain = "-85 dB", both = true },
  { from = "h2", to = "r", gain = "-85 dB", both = true },
  { from = "h3", to = "r", gain = "-85 dB", both = true },
  { from = "h4", to = "r", gain = "-85 dB", both = true },
  { from = "h5", to = "r", gain = "-85 dB", both = true },
]
"""
"""Six senders around a receiver that do not hear each other; five of them send a little each."""

FLOWS = """
[[flow]]
id = "s"
from = "s"
to = "r"
transport = "tcp"
traffic = { kind = "ftp" }
""" + "".join(
    f"""
[[flow]]
id = "h{i}"
from = "h{i}"
to = "r"
traffic = {{ kind = "poisson", rate = "1500 kbit/s", packet = "1400 B" }}
"""
    for i in range(1, 6)
)


def around(*overrides: str) -> Scenario:
    # The tables of nodes and gains are keys of the document, and come first.
    head, rest = HIDDEN.split("[radio]")
    radio, lists = rest.split("node = ", 1)
    return Scenario.parse(f"{head}node = {lists}[radio]{radio}{FLOWS}", "hidden", overrides)


def behind_another_flow() -> Explanation:
    """The sender has packets of another flow as well, and gets less than it should."""
    other = """
[[flow]]
id = "other"
from = "s"
to = "r"
traffic = { kind = "constant", rate = "5 Mbit/s", packet = "1400 B" }
"""
    told = airfair.explain(Scenario.parse(around().text + other, "other"), flow="s")
    told["standing"] = "behind"
    return told


def printed(told: Explanation, width: int = 80) -> list[str]:
    out = io.StringIO()
    show.show(told, Console(file=out, width=width))
    return out.getvalue().splitlines()


def test_hidden_stations_are_summed() -> None:
    """Each of five stations spoils less than a fifth of the attempts, all together most of them."""
    told = airfair.explain(around(), flow="s")
    attempts = told["hops"][0]["attempts"]
    assert attempts is not None
    by: dict[str | None, int] = {}
    for cause in attempts["causes"]:
        if cause["hidden"]:
            by[cause["by"]] = by.get(cause["by"], 0) + cause["count"]
    assert set(by) == {"h1", "h2", "h3", "h4", "h5"}
    hidden, failed = sum(by.values()), attempts["no_cts"] + attempts["no_ack"]
    assert max(c["count"] for c in attempts["causes"]) < 0.2 * attempts["exchanges"] < hidden
    names = ", ".join(sorted(by, key=lambda name: (-by[name], str(name)))[:4])  # type: ignore[arg-type]
    part = f"{100 * hidden / failed:.0f} %"
    (reason,) = (text for text in told["reasons"] if "get no answer" in text)
    assert f": {part}: frames of stations that the sender does not sense: {names}" in reason
    first, *_ = told["advice"]
    assert f"hidden from s and cause {part} of its failures: try RTS/CTS." in first
    assert first.endswith("\n--set 'radio.rts_threshold=\"0 B\"'")
    # Who is hidden follows from the list of gains alone.
    assert told["hops"][0]["radio"]["unlisted"] == ["h1", "h2", "h3", "h4", "h5"]
    assert words.UNLISTED in " ".join(" ".join(printed(told, 300)).split())


def test_rts_in_use_is_not_called_useless() -> None:
    told = airfair.explain(around('radio.rts_threshold="0 B"'), flow="s")
    told["standing"] = "behind"
    (text,) = (text for text in advice(told) if "RTS/CTS" in text)
    assert "RTS/CTS is in use, and does not prevent all of these collisions" in text
    assert "not help" not in text
    # 802.11a begins with 16 slots: four times as many are 64.
    assert text.endswith("\n--set radio.cw_min=63")
    assert "carrier_sense" not in text, "a matrix has no such key"


def test_advice_for_several_senders_is_given_once() -> None:
    """Five hops with the same trouble: one piece of advice for each kind, in whole sentences."""
    told = behind_another_flow()
    told["hops"] = [{**told["hops"][0], "src": f"s{number}"} for number in range(5)]
    texts = advice(told)
    (queues,) = (text for text in texts if "a queue for each flow" in text)
    assert queues.startswith(
        "Its packets wait behind others at s0, s1, s2 and 2 others: a queue for each flow"
    )
    (hidden,) = (text for text in texts if "hidden from" in text)
    whole = r"(h\d(, | and )?)+( 1 others)? are hidden from s{} and cause \d+ % of its failures; "
    expected = "".join(whole.format(number) for number in range(3)).replace("{", "").replace("}", "")
    assert re.match(expected + r"so it is at 2 more senders of its route: try RTS/CTS\.", hidden), hidden


def test_flows_in_a_sentence() -> None:
    told = airfair.explain(around(), flow="s")
    names = [("a", True), ("s", True), ("b", True), (None, True), ("a", True)]
    assert words.flow_names(told, names) == "flows a, b, its own and control packets"
    assert words.flow_names(told, [("a", False), ("b", True)]) == "flow b and flow a (acknowledgements)"


def test_categories_have_windows_of_their_own() -> None:
    """With access categories `cw_min` is no key of a radio: what is said stays, without a line to copy."""
    told = airfair.explain(around('radio.rts_threshold="0 B"', "radio.categories=edca"), flow="s")
    told["standing"] = "behind"
    (text,) = (text for text in advice(told) if "RTS/CTS" in text)
    assert text.endswith("RTS/CTS is in use, and does not prevent all of these collisions.")


def test_hidden_stations_come_before_queues() -> None:
    """A sender has packets of another flow before those of this one, and neighbours that it does not hear."""
    told = behind_another_flow()
    texts = advice(told)
    (queues,) = (i for i, text in enumerate(texts) if "a queue for each flow may help" in text)
    assert "try RTS/CTS" in texts[0]
    assert queues > 0


WEAK = """
name = "weak"
duration = "4 s"
node = [{ id = "a.1" }, { id = "b" }]
gain = [{ from = "a.1", to = "b", gain = "-95.6 dB", both = true }]
[radio]
standard = "802.11a"
data_rate = "12 Mbit/s"
noise = "-86.6 dBm"
error_model = "per-chunk"
propagation = { model = "matrix" }
[[flow]]
id = "far"
from = "a.1"
to = "b"
traffic = { kind = "saturating", packet = "1400 B" }
"""
"""A signal of -80.6 dBm, 6 dB above the noise: at 12 Mbit/s half of the frames are lost."""


def test_a_weak_link_gets_a_radio_of_its_own() -> None:
    scene = Scenario.parse(WEAK, "weak")
    told = airfair.explain(scene)
    told["standing"] = "behind"
    (text,) = (text for text in advice(told) if "The link is weak" in text)
    assert text.startswith("The link is weak (a.1 to b): give a.1 a radio of its own, with a lower rate")
    # The next lower rate of 802.11a.
    line = '--set \'radios.slow.data_rate="9 Mbit/s"\' --set \'node."a.1".radios=["slow"]\''
    assert text.endswith(f"\n{line}")
    assert "data_rate, or" not in text
    # It helps this link, and leaves the other radios as they are.
    slower = Scenario.parse(WEAK, "weak", changes(line))
    assert slower.to_dict()["radio"]["data_rate"] == "12 Mbit/s"
    before, after = (airfair.run(one)["flows"][0]["goodput_bps"] for one in (scene, slower))
    assert after > 1.2 * before
    # A name that is taken stays what it is.
    taken = airfair.explain(Scenario.parse(WEAK + "[radios.slow]\nchannel = 40\n", "weak"))
    taken["standing"] = "behind"
    assert any("radios.slow-2." in text for text in advice(taken))


@pytest.mark.parametrize("name", ["O'Brien", "roof 2", "a.b", "Bäckerei", 'the "tower"', "x=1"])
def test_names_of_maps_are_written_so_that_a_shell_reads_them(name: str, tmp_path: Path) -> None:
    """A name that `--set` cannot write, with a quotation mark or an equals sign, has no line to copy."""
    text = WEAK.replace('"a.1"', json.dumps(name, ensure_ascii=False))
    file = tmp_path / "weak.toml"
    file.write_text(text, encoding="utf-8")
    told = airfair.explain(file)
    told["standing"] = "behind"
    kept = accepted(advice(told), Scenario.read(file))
    lines = [line for text in kept for line in text.split("\n")[1:] if "node." in line]
    assert bool(lines) is not ('"' in name or "=" in name)
    for line in lines:
        slower = subprocess.run(
            ["sh", "-c", f"exec {sys.executable} -m airfair run {shlex.quote(str(file))} --json {line}"],
            capture_output=True,
            check=True,
        )
        after = json.loads(slower.stdout)["flows"][0]["goodput_bps"]
        assert after > 1.2 * told["goodput_bps"]
    assert any("The link is weak" in text for text in kept)


def test_a_rate_of_all_radios_is_called_so() -> None:
    """Nodes that are generated cannot be given a radio by `--set`."""
    head, rest = WEAK.split("node = ", 1)
    radio, flow = rest[rest.index("[radio]") :].split("[[flow]]")
    radio = radio.replace('model = "matrix"', 'model = "two-ray", range = "250 m", carrier_sense = "550 m"')
    flow = flow.replace('"a.1"', '"0"').replace('"b"', '"1"')
    nodes = '[nodes]\nkind = "chain"\ncount = 2\nspacing = "200 m"\n'
    told = airfair.explain(Scenario.parse(f"{head}{radio}{nodes}[[flow]]{flow}", "generated"))
    attempts = told["hops"][0]["attempts"]
    assert attempts is not None
    attempts["causes"] = [
        {
            "missing": "ACK",
            "why": "noise",
            "by": None,
            "of": None,
            "hidden": False,
            "count": attempts["exchanges"],
        }
    ]
    told["standing"] = "behind"
    (text,) = (text for text in advice(told) if "The link is weak" in text)
    assert "settings of all radios of this kind" in text
    assert "other flows may lose" in text
    assert text.endswith("\n--set 'radio.data_rate=\"9 Mbit/s\"'")


SCENES = [
    ("three-pairs", "middle", []),
    ("gateway", "two-hop", []),
    ("gateway", "two-hop", ['radio.rts_threshold="0 B"']),
    ("hidden-terminal", "left", []),
    ("exposed-terminal", "left", []),
    ("access-point", "down1", []),
    ("chain", None, []),
    ("building", None, []),
]


@pytest.mark.parametrize(("name", "flow", "overrides"), SCENES)
def test_what_is_advised_is_accepted(name: str, flow: str | None, overrides: list[str]) -> None:
    """Every line to copy is one that this scenario accepts, before any is left out for not being one."""
    file = SCENARIOS / f"{name}.toml"
    overrides = [*overrides, "duration=12 s", "warmup=2 s"]
    told = airfair.explain(file, flow=flow, overrides=overrides)
    lines = []
    for standing in (told["standing"], "behind"):
        told["standing"] = standing
        lines += [line for text in advice(told) for line in text.split("\n")[1:]]
    tried = [changes(line) for line in lines if line.startswith("--set ")]
    assert all(tried)
    for each in tried:
        Scenario.read(file, [*overrides, *each])
    assert lines


@pytest.mark.parametrize("threshold", ["0 B", "2347 B"])
def test_what_is_advised_for_a_matrix_is_accepted(threshold: str, tmp_path: Path) -> None:
    file = tmp_path / "hidden.toml"
    around(f'radio.rts_threshold="{threshold}"').save(file)
    told = airfair.explain(file, flow="s")
    told["standing"] = "behind"
    lines = [line for text in advice(told) for line in text.split("\n")[1:] if line.startswith("--set ")]
    assert lines
    arguments = [part for line in lines for override in changes(line) for part in ("--set", override)]
    for option, override in zip(arguments[::2], arguments[1::2], strict=True):
        assert command("check", file, option, override).returncode == 0, override


ROW = """
name = "row"
duration = "6 s"
node = [
  { id = "s", position = ["0 m", "0 m"], radios = ["mesh.1"] },
  { id = "r", position = ["200 m", "0 m"], radios = ["mesh.1"] },
  { id = "h", position = ["400 m", "0 m"], radios = ["mesh.1"] },
]
[radios."mesh.1"]
standard = "802.11a"
data_rate = "6 Mbit/s"
rts_threshold = "2347 B"
propagation = { model = "two-ray", range = "250 m", carrier_sense = "260 m" }
[[flow]]
id = "s"
from = "s"
to = "r"
traffic = { kind = "saturating", packet = "1400 B" }
[[flow]]
id = "h"
from = "h"
to = "r"
traffic = { kind = "saturating", packet = "1400 B" }
"""
"""Two senders that do not sense each other, with radios of a kind of their own."""


def test_advice_is_for_the_radio_of_the_sender() -> None:
    """The radios are of a named kind, with a range of carrier sensing, of which twice is advised."""
    told = airfair.explain(Scenario.parse(ROW, "row"), flow="s")
    told["standing"] = "behind"
    assert advice(told)[0].endswith('try RTS/CTS.\n--set \'radios."mesh.1".rts_threshold="0 B"\'')
    rts = ['radios."mesh.1".rts_threshold="0 B"']
    told = airfair.explain(Scenario.parse(ROW, "row", rts), flow="s")
    attempts = told["hops"][0]["attempts"]
    assert attempts is not None
    attempts["causes"] = [
        {
            "missing": "CTS",
            "why": "collision",
            "by": "h",
            "of": "h",
            "hidden": True,
            "count": attempts["exchanges"],
        }
    ]
    told["standing"] = "behind"
    first, *_ = advice(told)
    assert first.startswith("h is hidden from s and causes 100 % of its failures. RTS/CTS is in use")
    window, heard = first.split("\n")[1:]
    assert window == "--set 'radios.\"mesh.1\".cw_min=63'"
    assert heard == '--set \'radios."mesh.1".propagation.carrier_sense="520 m"\''
    for line in (window, heard):
        Scenario.parse(ROW, "row", [*rts, *changes(line)])


def test_the_caution_of_the_optimum_is_said_where_it_applies() -> None:
    """Two senders that do not hear each other, without RTS: the model's rates are rough there. With RTS, and
    where nobody is hidden, they are not."""
    told = airfair.explain(around(), flow="s")
    assert told["optimum"] is not None
    caution = told["optimum"]["caution"]
    assert caution is not None
    assert "known to about a quarter" in caution
    assert caution in " ".join(" ".join(printed(told, 400)).split())
    for scene in (around('radio.rts_threshold="0 B"'), Scenario.read(SCENARIOS / "three-pairs.toml")):
        best = airfair.explain(scene)["optimum"]
        assert best is not None
        assert best["caution"] is None


CLOSED = """
name = "closed"
duration = "8 s"
node = [{ id = "a" }, { id = "b" }]
[[link]]
ends = ["a", "b"]
rate = "1 Mbit/s"
loss = 1.0
[[flow]]
id = "f"
from = "a"
to = "b"
transport = "tcp"
traffic = { kind = "ftp" }
"""


def test_a_connection_that_never_opens() -> None:
    """SYNs leave 0, 1, 3 and 7 s after the start of the flow (RFC 6298: 1 s, doubled)."""
    told = airfair.explain(Scenario.parse(CLOSED, "closed"))
    tcp = told["tcp"]
    assert tcp is not None
    assert (tcp["syn_timeouts"], tcp["timeouts"], tcp["connections"], tcp["unopened"]) == (3, 0, 1, 1)
    (drop,) = told["drops"]
    assert (drop["packets"], drop["data"], drop["opening"]) == (4, False, True)
    first = told["reasons"][0]
    assert first.startswith(
        "Its connection never opened: 4 SYNs dropped at a, wire-loss; 3 time-outs in the measured"
    )
    assert "the timer is doubled 3 times in all, as no answer has come." in first
    assert "data" not in first
    assert not any("min_rto" in text for text in told["advice"])
    assert "time-outs 0 (0 while packets were under way), of SYNs 3" in " ".join(
        " ".join(printed(told, 200)).split()
    )


def test_a_timer_that_stays_doubled_is_explained() -> None:
    """An acknowledgement of what was sent again brings the connection on, but measures nothing (Karn)."""
    told = airfair.explain(Scenario.parse(CLOSED, "closed"))
    tcp = told["tcp"]
    assert tcp is not None
    tcp["unopened"] = 0
    tcp["timer"] = {"since_s": 16.0, "until_s": 31.96, "expiries": 1, "doublings": 4}
    assert words.timer(told) == (
        "At the end it has waited since 16 s, and will until 31.96 s, 24 s after the end: the timer is "
        "doubled 4 times in all, and stays so until a segment that was sent only once is acknowledged: of "
        "one that was sent again no round-trip time can be measured. "
    )
    tcp["timer"]["expiries"] = 4
    assert words.timer(told).endswith("doubled 4 times in all, as nothing new has been acknowledged. ")


def test_retries_have_a_price() -> None:
    told = airfair.explain(SCENARIOS / "exposed-terminal.toml", flow="left")
    (text,) = (text for text in told["advice"] if "short_retry_limit" in text)
    assert "That costs delay" in text
    assert text.endswith("\n--set radio.short_retry_limit=50 --set radio.long_retry_limit=50")


def test_all_is_clear_only_where_nothing_is_listed() -> None:
    told = airfair.explain(Scenario.parse(CLOSED, "clear", ["link.0.loss=0"]))
    told |= {"standing": "fair", "loss_ratio": 0.0, "p99_delay_s": 0.1, "reasons": []}
    told["flows"] = [{"id": name, "goodput_bps": 1e6} for name in "abcdefghij"]
    told |= {"goodput_bps": 1e6, "mean_goodput_bps": 1e6}
    assert words.verdict(told).endswith(" 100 % of the mean of the 10 flows (1000 kbit/s). Nothing is wrong.")
    told["reasons"] = ["3411 of 9120 attempts of a (to b) get no answer: 100 %: the frame drowned in noise."]
    assert words.verdict(told).endswith(" 100 % of the mean of the 10 flows (1000 kbit/s).")
    # Ten times its share: no all-clear, whatever is listed.
    told |= {"goodput_bps": 10e6, "reasons": []}
    assert " takes more than its share: 10000 kbit/s, 1000 % of the mean " in words.verdict(told)
    assert "Nothing is wrong" not in words.verdict(told)
    told |= {"standing": "content", "offered_bps": 10e6}
    assert words.verdict(told).endswith(
        " gets what it asks for: 10000 kbit/s of 10000 kbit/s. That is more than its share: 1000 % of the "
        "mean of the 10 flows (1000 kbit/s)."
    )


BROKEN = re.compile(r"\d$")
UNIT = re.compile(r"(%|[kM]bit/s|ms|s)\b|%")


def test_a_number_keeps_its_unit() -> None:
    """At every width no line ends with a number whose unit begins the next one, and nothing is lost."""
    text = "get no answer: 14 %: the frame; at 159 kbit/s of 12.5 Mbit/s, 182 ms and 31.96 s, 3 attempts."
    for width in range(12, 100):
        lines = folded(text, width)
        assert " ".join(lines) == text
        assert all(len(line) <= width for line in lines)
        for line, after in itertools.pairwise(lines):
            assert not (BROKEN.search(line) and UNIT.match(after)), (width, lines)
    assert "\N{NO-BREAK SPACE}" not in "".join(folded(text, 20))
    told = airfair.explain(around(), flow="s")
    for width in (60, 80, 100):
        lines = printed(told, width)
        for line, after in itertools.pairwise(lines):
            assert not (BROKEN.search(line) and UNIT.match(after)), (width, line, after)
