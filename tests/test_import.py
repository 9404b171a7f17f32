"""Maps of real networks: what the command writes, says and refuses, and the same from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import InputError, Scenario

from tests.support import ROOT
from tests.support import airfair as command

MAPS = ROOT / "crates" / "scenario" / "tests" / "import"
MESH = MAPS / "meshviewer.json"


def groups(report: Any) -> dict[str, int]:  # noqa: ANN401 - JSON
    """How many records were rejected, by reason."""
    return {group["reason"]: group["count"] for group in report["rejected"]}


def test_a_map_becomes_a_scenario_that_runs(tmp_path: Path) -> None:
    file = tmp_path / "mesh.toml"
    done = command("import", MESH, "-o", file, "--flows", "2")
    assert (done.returncode, done.stdout) == (0, "")
    assert "read: 11 links, 6 nodes; 5 ids; 7 pairs of 5 nodes linked" in done.stderr
    assert "    link m0 - m3: 28 km; longest is 20 km\n" in done.stderr
    assert command("check", file).stderr == ""
    result = json.loads(command("run", file, "--set", "duration=3 s", "--json").stdout)
    assert result["warnings"] == []
    assert [flow["dst"] for flow in result["flows"]] == ["m0", "m0"]
    assert result["aggregate_goodput_bps"] > 0


def test_a_date_that_is_none_or_of_no_use_is_refused() -> None:
    olsr = MAPS / "olsr-jsoninfo.json"
    assert "not the beginning of a date" in command("import", olsr, "--since", "yesterday").stderr
    done = command("import", olsr, "--since", "2031")
    assert done.returncode == 2
    assert "records of olsr-jsoninfo have no date" in done.stderr


def test_the_scenario_goes_to_standard_output_and_the_report_does_not() -> None:
    done = command("import", MESH)
    assert done.returncode == 0
    assert done.stdout.startswith("# Imported from meshviewer.json (meshviewer), data of 2031-05-01")
    assert Scenario.parse(done.stdout).name == "meshviewer"
    assert "rejected:" in done.stderr


def test_the_report_as_json(tmp_path: Path) -> None:
    file, stored = tmp_path / "mesh.toml", tmp_path / "report.json"
    done = command("import", MESH, "-o", file, "--report", stored, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert json.loads(stored.read_text()) == report
    assert (report["format"], report["link_model"]) == ("meshviewer", "delivery")
    assert report["read"] == {"links": 11, "nodes": 6}
    assert report["missing_ids"] == {"m9": 1}
    assert groups(report)["duplicate_link"] == 2
    (too_long,) = (group for group in report["rejected"] if group["reason"] == "too_long")
    assert too_long["records"] == [{"record": "link m0 - m3", "detail": "28 km; longest is 20 km"}]


def test_verbose_names_every_record(tmp_path: Path) -> None:
    links = ", ".join(f'{{"source": "a", "target": "x{i}"}}' for i in range(9))
    file = tmp_path / "map.json"
    good = '{"source": "a", "target": "b"}'
    file.write_text(f'{{"nodes": [{{"id": "a"}}, {{"id": "b"}}], "links": [{good}, {links}]}}')
    short = command("import", file, "-o", tmp_path / "out.toml").stderr
    assert "    and 4 more\n" in short
    assert "link a - x8" not in short
    assert "    link a - x8: no node x8\n" in command("import", file, "--verbose").stderr


def test_parts_of_a_network_are_found_beside_one_of_them() -> None:
    folder = command("import", MAPS / "nycmesh", "--gateway", "4")
    beside = command("import", MAPS / "nycmesh" / "links.json", "--gateway", "4")
    assert folder.returncode == beside.returncode == 0
    assert folder.stdout == beside.stdout
    assert "missing: 3 ids without a record: 97, 98, 99" in beside.stderr


BAD_INPUT: list[tuple[list[str | Path], str]] = [
    (["nowhere.json"], "nowhere.json: cannot be read"),
    ([MAPS / "bad" / "unknown.txt"], "no known format; it is text that begins with"),
    ([MAPS / "bad" / "cut.json"], "cut.json: not JSON: EOF while parsing"),
    ([MAPS / "bad" / "nyc-links-only" / "links.json"], "expected nodes.json beside it"),
    ([MESH, "--format", "netjsn"], 'format: "netjsn": no such choice; did you mean "netjson"?'),
    ([MESH, "--format", "graphml"], "not XML"),
    ([MESH, "--link-model", "best"], "link-model"),
    ([MESH, "--gateway", "m7"], 'gateway: "m7": no such node; did you mean "m0"?'),
    ([MESH, "--flows", "many"], 'flows: "many": expected a whole number'),
    ([MESH, "--longest", "20"], "the unit is missing"),
    ([MESH, "--json"], "needs -o"),
    ([], "FILE"),
]


@pytest.mark.parametrize(
    ("arguments", "message"), BAD_INPUT, ids=lambda value: " ".join(map(str, value))[-60:]
)
def test_bad_input(arguments: list[str | Path], message: str) -> None:
    done = command("import", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_from_python() -> None:
    toml, report = airfair.import_network(MESH, link_model="distance", radio_only=True, flows=1)
    assert Scenario.parse(toml).flows == ["flow-0"]
    assert report["written"]["wired_links"] == 0
    assert report["gateway"] == "m0"
    with pytest.raises(InputError, match='did you mean "flows"'):
        airfair.import_network(MESH, flow=1)


LONG_LINK = """{"type": "NetworkGraph", "protocol": "OLSR", "version": "1", "metric": "ETX", "nodes": [
 {"id": "hill", "location": {"lat": 47.0, "lng": 15.0}},
 {"id": "barn", "location": {"lat": 47.036, "lng": 15.0}}],
 "links": [{"source": "hill", "target": "barn", "cost": 1.0}]}"""
"""Two nodes 4.00 km apart; the slots of 802.11g, 20 us, are 3.00 km there and back, with class 3 4.35 km."""


def goodput_mbps(toml: str, *overrides: str) -> float:
    return airfair.run(Scenario.parse(toml, "map", list(overrides)))["aggregate_goodput_bps"] / 1e6


def test_no_answer_comes_late_on_a_link_of_a_map(tmp_path: Path) -> None:
    file = tmp_path / "far.json"
    file.write_text(LONG_LINK)
    toml, report = airfair.import_network(file, flows=1)
    (assumed,) = [words for words in report["assumed"] if "time-outs" in words]
    assert "(coverage_class = 3): the usual ones fit 3 km; 1 link is longer" in assumed
    assert assumed.endswith("the longest is link barn - hill with 4 km")
    assert Scenario.parse(toml).check() == []
    (warning,) = Scenario.parse(toml, "map", ["radio.coverage_class=0"]).check()
    assert warning.startswith("barn and hill are 4.00 km apart")
    assert "up to 3.00 km" in warning
    assert "expected radio.coverage_class = 3" in warning
    assert goodput_mbps(toml) == pytest.approx(10.5, abs=0.1)
    assert goodput_mbps(toml, "radio.coverage_class=2") < 1
    by_link = ["radio.coverage_class=0", 'radio.timeout_distance="each-link"']
    assert Scenario.parse(toml, "map", by_link).check() == []
    assert goodput_mbps(toml, *by_link) > goodput_mbps(toml)


def test_links_beyond_every_class_have_time_outs_of_their_own(tmp_path: Path) -> None:
    """150 km there and back are 1000 us, and class 255 has 785."""
    file = tmp_path / "far.json"
    file.write_text(LONG_LINK.replace("47.036", "48.349"))
    toml, report = airfair.import_network(file, flows=1, longest="200 km")
    assert any(
        "time-outs allow for the length of each link (timeout_distance)" in words
        for words in report["assumed"]
    )
    assert Scenario.parse(toml).check() == []
    assert goodput_mbps(toml) > 3


def test_an_answer_that_came_late_is_not_called_lost(tmp_path: Path) -> None:
    file = tmp_path / "far.json"
    file.write_text(LONG_LINK)
    toml, _ = airfair.import_network(file, flows=1)
    late = Scenario.parse(toml, "far", ["radio.coverage_class=0", "duration=5 s"])
    told = airfair.explain(late)
    causes = [cause["why"] for hop in told["hops"] for cause in (hop["attempts"] or {"causes": []})["causes"]]
    assert "answer-late" in causes
    assert not {"answer-lost", "not-answered"} & set(causes)
    file.with_suffix(".toml").write_text(toml)
    shown = command("explain", file.with_suffix(".toml"), "--set", "radio.coverage_class=0")
    assert "the answer came after the time-out" in shown.stdout
    assert "the answer was lost" not in shown.stdout
    lines = list(airfair.trace(late))
    first = next(i for i, line in enumerate(lines) if "receives no ACK" in line)
    assert "in time" in lines[first]
    answers = [
        line for line in lines[first:] if "ACK #" in line and ("ignores" in line or "receives" in line)
    ]
    assert "receives ACK" in answers[0]
    assert "ignores ACK" in answers[1]
    assert "it came after the time-out" in answers[1]


PLACES = {"east": (51.30, 12.40), "west": (51.30, 12.36), "lost": (53.00, 12.38), "south": (51.29, 12.38)}
"""A hub without a location, three neighbours around it, and one whose location is 189 km too far north."""


def test_a_guessed_location_causes_no_delay_and_no_length(tmp_path: Path) -> None:
    file = tmp_path / "hub.json"
    nodes = [{"id": name, "location": {"lat": lat, "lng": lng}} for name, (lat, lng) in PLACES.items()]
    links = [{"source": "hub", "target": name} for name in PLACES]
    file.write_text(json.dumps({"nodes": [{"id": "hub"}, *nodes], "links": links}))
    toml, report = airfair.import_network(file, flows=1, gateway="hub", seed=3)
    assert report["written"]["radio_links"] == 4
    assert "too_long" not in groups(report)
    (placed,) = report["changed"]
    assert placed["records"] == [{"record": "node hub", "detail": "amid 4 neighbours"}]
    positions = {node["id"]: node["position_m"] for node in airfair.network(Scenario.parse(toml))["nodes"]}
    # The median of four latitudes is the mean of the two in the middle.
    hub, east, west = (positions[name] or [] for name in ("hub", "east", "west"))
    assert hub[1] == pytest.approx((east[1] + west[1]) / 2, abs=0.2)
    assert east[0] > hub[0] > west[0]
    goodputs = {
        source: goodput_mbps(
            toml.replace(f'from = "{report_source(toml)}"', f'from = "{source}"'), "duration=5 s"
        )
        for source in ("east", "west", "lost", "south")
    }
    # All links lose nothing: the wrong location makes none of them worse.
    assert min(goodputs.values()) > 0.95 * max(goodputs.values()) > 9


def report_source(toml: str) -> str:
    """The source of the only flow."""
    return toml.split("[[flow]]")[1].split('from = "')[1].split('"')[0]


def line_of_nodes(tmp_path: Path, gateways: set[int], count: int = 9) -> Path:
    """The map of a line of nodes with lossless links, some of which are gateways."""
    nodes = [{"node_id": f"n{i}", "hostname": f"n{i}", "is_gateway": i in gateways} for i in range(count)]
    quality = {"source_tq": 1, "target_tq": 1, "type": "wifi"}
    links = [{"source": f"n{i}", "target": f"n{i + 1}", **quality} for i in range(count - 1)]
    file = tmp_path / f"line{len(gateways)}.json"
    file.write_text(json.dumps({"timestamp": "2031-05-01", "nodes": nodes, "links": links}))
    return file


def ends(toml: str) -> dict[str, str]:
    """Source and destination of each flow."""
    return {flow["src"]: flow["dst"] for flow in airfair.network(Scenario.parse(toml))["flows"]}


def test_flows_go_to_the_nearest_gateway(tmp_path: Path) -> None:
    marked = line_of_nodes(tmp_path, {0, 8})
    toml, report = airfair.import_network(marked, flows=7)
    expected = {f"n{i}": "n0" if i <= 4 else "n8" for i in range(1, 8)}
    assert ends(toml) == expected, "n4 is as near to both: the first by name"
    assert (report["gateway"], report["gateways"]) == (None, {"n0": 4, "n8": 3})
    assert "each flow goes to the nearest of 2 gateways: n0, n8" in report["assumed"]
    one, report = airfair.import_network(marked, flows=7, one_gateway=True)
    assert set(ends(one).values()) == {report["gateway"]}
    named, _ = airfair.import_network(marked, flows=6, gateway=["n2", "n4", "n8"])
    assert ends(named) == {"n0": "n2", "n1": "n2", "n3": "n2", "n5": "n4", "n6": "n4", "n7": "n8"}
    done = command("import", marked, "--flows", "6", "--gateway", "n2", "--gateway", "n4", "--gateway", "n8")
    assert ends(done.stdout) == ends(named)


def test_a_map_without_gateways_says_what_was_chosen(tmp_path: Path) -> None:
    _, report = airfair.import_network(line_of_nodes(tmp_path, set()), flows=2)
    (words,) = [words for words in report["assumed"] if "gateway" in words]
    choice = "the map marks no gateway: flows go to n1, reached by 8 nodes, with 2 neighbours"
    assert words == f"{choice}; --gateway names another"


def test_as_many_flows_as_nodes_are_written(tmp_path: Path) -> None:
    toml, report = airfair.import_network(line_of_nodes(tmp_path, {1}, count=2), flows=20)
    assert ends(toml) == {"n0": "n1"}
    assert report["written"]["flows"] == 1
    assert "1 flow instead of 20 flows: no other node reaches the gateway n1" in report["assumed"]
