"""The page of capabilities and `airfair schemes` agree on what schemes want."""

from __future__ import annotations

import json
import re

import pytest
from airfair import capabilities

from tests.support import ROOT, airfair, json_of

PAGE = (ROOT / "docs" / "reference" / "capabilities.md").read_text(encoding="utf-8")


def entries() -> dict[str, str]:
    """The text of each capability, on one line."""
    found = re.findall(r"^- \*\*`(\w+)`\*\* (.*?)(?=^- |^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    return {name: " ".join(text.split()) for name, text in found}


def wanted_by(text: str) -> dict[str, str]:
    """The schemes of an entry, each with its condition; empty if it wants the capability always."""
    groups = re.search(r"Wanted by (.*)\.$", text)
    assert groups is not None, text
    of_scheme = {}
    for group in groups[1].split("; "):
        names = re.match(r"(?:`[\w-]+`(?:, | and )?)+", group)
        if names is None:
            assert group == "no scheme of the tree"
            continue
        condition = group[names.end() :].strip()
        of_scheme.update(dict.fromkeys(re.findall(r"`([\w-]+)`", names[0]), condition))
    return of_scheme


def test_the_page_and_the_program_agree() -> None:
    schemes = json_of("schemes")
    page = {name: wanted_by(text) for name, text in entries().items()}
    assert len(page) > 20
    for name, of_scheme in page.items():
        by_default = {s for s, condition in of_scheme.items() if not re.match(r"(exactly )?with ", condition)}
        assert by_default == {
            scheme["name"] for scheme in schemes if name in {want["capability"] for want in scheme["wants"]}
        }, name
        ever = {
            scheme["name"]
            for scheme in schemes
            for wants in (scheme["wants"], *(change["wants"] for change in scheme["wants_with"]))
            if name in {want["capability"] for want in wants}
        }
        assert set(of_scheme) == ever, name
        exactly = {s for s, condition in of_scheme.items() if condition.startswith("exactly")}
        strict = [want for s in schemes for change in s["wants_with"] for want in change["wants"]]
        strict += [want for s in schemes for want in s["wants"]]
        assert bool(exactly) == any(w["exactly"] for w in strict if w["capability"] == name), name


@pytest.mark.parametrize(
    ("capability", "scheme", "condition"),
    [
        ("Departures", "xcp", 'with `feedback_at = "departure"`'),
        ("Departures", "xcp-b", 'with `feedback_at = "departure"`'),
        ("Backlogs", "diffq", 'with `sizes_by = "broadcast"`'),
        ("HeardHeaders", "diffq", '(not with `sizes_by = "broadcast"`)'),
        ("LinkTimes", "lbm", "at access points (not with `adapt = false`)"),
        ("SetUp", "nred", "with `set_up = true`"),
        ("DeliveryRatios", "more", 'exactly (not with `ratios = "probes"`)'),
        (
            "Received",
            "qfcp",
            (
                "at access points "
                '(not with `both_directions = "none"`, at every radio with `both_directions = "all"`)'
            ),
        ),
        ("NavTime", "nred", ""),
    ],
)
def test_parameters_on_which_wants_depend(capability: str, scheme: str, condition: str) -> None:
    """As `Scheme::wants` of each scheme has it, read by hand."""
    assert wanted_by(entries()[capability])[scheme] == condition


def test_schemes_on_a_typical_driver() -> None:
    listed = PAGE.partition("## Schemes on a typical driver")[2]
    found = re.findall(r"^- \*\*`([\w-]+)`\*\*: (.*?)(?=^- |\Z)", listed, re.MULTILINE | re.DOTALL)
    rows = {name: " ".join(text.split()) for name, text in found}
    assert list(rows) == [scheme["name"] for scheme in json_of("schemes")]
    assert rows["c3l"] == "yes"
    assert rows["diffq"] == "yes, but not with `levels = 8`"
    assert rows["diffq-exor"].startswith('with `ratios = "probes"` and `levels = 4`; else lacks')
    assert rows["nred"] == "no: lacks times reserved by the NAV (`NavTime`)"
    # A capability that a row lacks is absent on the page, or there are too few priorities.
    for row in rows.values():
        for name in re.findall(r"\(`(\w+)`", row):
            assert "On a typical driver **absent**" in entries()[name] or name == "Priorities"


def test_wants_of_a_scheme_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    for scheme in json_of("schemes"):
        told = " ".join(airfair("schemes", scheme["name"]).stdout.split())
        assert capabilities.sentence(scheme) in told
        for want in scheme["wants"]:
            assert want["words"] in told, scheme["name"]
    monkeypatch.setenv("COLUMNS", "80")
    lines = airfair("schemes", "lbm").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    told = " ".join(lines)
    assert "Wants of an access point's radio: samples of counters" in " ".join(told.split())
    assert "of a wire: flows that use ECN. Its wants differ with lbm.adapt = false or" in told
    assert "Wants nothing that a network may lack." in airfair("schemes", "red").stdout


def test_wants_of_a_scheme_in_a_file() -> None:
    flood = ROOT / "examples" / "schemes" / "flood.py"
    schemes = json.loads(airfair("schemes", "--json", "--schemes-from", str(flood)).stdout)
    (of_file,) = schemes[len(json_of("schemes")) :]
    wants = {want["capability"]: want["at"] for want in of_file["wants"]}
    assert wants["LoneRadio"] == ["radio", "radio of an access point"]
