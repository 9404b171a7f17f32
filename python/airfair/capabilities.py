"""The page of the capabilities of networks: what schemes want, and what a host on real interfaces has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict, cast

from . import _core
from .quantities import plural
from .reference import entry, wrapped
from .results import ChangedWants, SchemeInfo, WantInfo

RADIO, WIRE = "radio", "wire"
AT_ACCESS_POINTS = {"radio of an access point", "wire of an access point"}
RADIOS = {RADIO, "radio of an access point"}


class Capability(TypedDict):
    """A capability of a network that a scheme may want."""

    name: str
    words: str
    doc: str
    wire: bool
    origin: str
    driver: str
    source: str


class With(TypedDict):
    """A parameter with another value than its default."""

    param: str
    value: str


class Lack(TypedDict):
    """A capability that a typical driver lacks, and the changes after which a scheme does not want it."""

    capability: str
    unless: list[With]


class OfScheme(TypedDict):
    """The wants of a scheme, and how it fits a typical driver."""

    name: str
    wants: list[WantInfo]
    wants_with: list[ChangedWants]
    lacks: list[Lack]
    runs_with: list[With]
    refused_with: list[With]


class Page(TypedDict):
    """All that the page is made of."""

    origins: list[str]
    capabilities: list[Capability]
    schemes: list[OfScheme]


INTRODUCTION = (
    """\
A scheme names what it wants of an interface beside the calls that every host makes
([scheme-places.md](../scheme-places.md#wants)), and a host that lacks it refuses the scheme before the run
starts. A host has each capability exactly, or by an estimate, or not at all. Schemes written in Rust declare
their wants in `Scheme::wants`; `airfair schemes NAME` prints them.""",
    """\
The simulator has all capabilities at radios and some at wires, exactly. "Typical driver" is a host on real
interfaces: a program beside Linux' mac80211 with a queue of its own before the radio, as the [skeleton of a
daemon](../../crates/host/tests/daemon/main.rs) (declared in
[`crates/host/driver.rs`](../../crates/host/driver.rs)). Capabilities are grouped by the part of such a host
that has them, or would have them.""",
    """\
"Wanted by" lists the schemes that want a capability with their defaults, and those whose wants depend on a
parameter. It is computed from the schemes with other values of one parameter at a time: each other word, the
other truth, and of a number half and twice its default and the ends of its range. What follows the names, up
to a semicolon, holds for all of them. "Exactly": an estimate does not do.""",
)

RUNS = """\
"Yes": with its defaults a scheme wants nothing that the radios of a typical driver lack. Forwarders (`more`,
`exor` and those made of them) start there with these parameters, but send numbers of packets and not their
bytes ([more.md](../schemes/more.md#numbers-not-bytes)).
"""


def capability_page() -> str:
    """Every capability that a scheme may want, and the schemes that a typical driver can run, as a page."""
    page = cast(Page, json.loads(_core.capabilities()))
    paragraphs = "\n\n".join(wrapped(paragraph) for paragraph in INTRODUCTION)
    parts = [f"# Capabilities of networks\n\n{paragraphs}\n"]
    for origin in page["origins"]:
        entries = [_capability(c, page["schemes"]) for c in page["capabilities"] if c["origin"] == origin]
        parts.append(f"## {origin}\n\n{''.join(entries)}")
    words = {capability["name"]: capability["words"] for capability in page["capabilities"]}
    verdicts = "".join(entry(scheme["name"], "", _verdict(scheme, words)) for scheme in page["schemes"])
    parts.append(f"## Schemes on a typical driver\n\n{wrapped(RUNS)}\n\n{verdicts}")
    return "\n".join(parts)


def _capability(capability: Capability, schemes: Iterable[OfScheme]) -> str:
    where = "radios and wires" if capability["wire"] else "radios"
    driver = f"On a typical driver **{capability['driver']}**: {capability['source']}."
    wanted = f"Wanted by {_wanting(schemes, capability['name']) or 'no scheme of the tree'}."
    details = f"{capability['words']}; at {where}"
    return entry(capability["name"], details, f"{capability['doc']} {driver} {wanted}")


def _wanting(schemes: Iterable[OfScheme], name: str) -> str:
    """The schemes that want a capability; those of one condition, which follows their names, together."""
    of_condition: dict[str, list[str]] = {}
    for scheme in schemes:
        for condition in _conditions(scheme, name):
            of_condition.setdefault(condition, []).append(f"`{scheme['name']}`")
    return "; ".join(f"{_joined(names)}{condition}" for condition, names in sorted(of_condition.items()))


def _joined(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _conditions(scheme: OfScheme, name: str) -> Iterator[str]:
    """Where and with which values of its parameters a scheme wants a capability; empty: always."""
    default = _want(scheme["wants"], name)
    changed = [(change, _want(change["wants"], name)) for change in scheme["wants_with"]]
    if default is None:
        for exactly in (False, True):
            settings = _settings(c for c, want in changed if want and want["exactly"] is exactly)
            if settings:
                yield f"{' exactly' if exactly else ''} with {settings}"
        return
    places = set(default["at"])
    wanted = [(change, want, set(want["at"])) for change, want in changed if want]
    other_exactness = "by an estimate too" if default["exactly"] else "exactly"
    notes = {
        "not": [c for c, want in changed if not want],
        other_exactness: [c for c, want, _ in wanted if want["exactly"] != default["exactly"]],
        "at every radio": [c for c, _, at in wanted if at != places and at == RADIOS],
        "at other interfaces": [c for c, _, at in wanted if at not in (places, RADIOS)],
    }
    kept = [f"{note} with {_settings(changes)}" for note, changes in notes.items() if changes]
    yield (
        (" exactly" if default["exactly"] else "")
        + (" at access points" if places <= AT_ACCESS_POINTS else "")
        + (f" ({', '.join(kept)})" if kept else "")
    )


def _want(wants: Iterable[WantInfo], name: str) -> WantInfo | None:
    return next((want for want in wants if want["capability"] == name), None)


def setting(change: With | ChangedWants) -> str:
    """A parameter with its value, as a scenario has it."""
    value = change["value"]
    plain = value in ("true", "false") or value.replace(".", "", 1).isdigit()
    return f"{change['param']} = " + (value if plain else f'"{value}"')


def _settings(changes: Iterable[With | ChangedWants]) -> str:
    return " or ".join(f"`{setting(change)}`" for change in changes)


def _verdict(scheme: OfScheme, words: dict[str, str]) -> str:
    if not scheme["lacks"]:
        refused = _settings(scheme["refused_with"])
        return f"yes, but not with {refused}" if refused else "yes"
    runs_with = " and ".join(f"`{setting(change)}`" for change in scheme["runs_with"])
    lacking = []
    for lack in scheme["lacks"]:
        unless = "" if runs_with else _settings(lack["unless"])
        note = f"; not wanted with {unless}" if unless else ""
        lacking.append(f"{words[lack['capability']]} (`{lack['capability']}`{note})")
    lacks = f"lacks {', '.join(lacking)}"
    return f"with {runs_with}; else {lacks}" if runs_with else f"no: {lacks}"


def sentence(scheme: SchemeInfo) -> str:
    """The capabilities that a scheme wants with its defaults, for each kind of interface, as a sentence."""
    lists = {kind: _words(scheme["wants"], kind) for kind in (RADIO, *sorted(AT_ACCESS_POINTS), WIRE)}
    parts = []
    for kind in (RADIO, WIRE):
        of_access_point = lists[f"{kind} of an access point"]
        if of_access_point == lists[kind]:
            parts.append((f"of a {kind}", lists[kind]))
        else:
            parts.append((f"of an access point's {kind}", of_access_point))
            parts.append((f"of another node's {kind}", lists[kind]))
    wanted = [f"{kind}: {words}" for kind, words in parts if words]
    return f"Wants {'; '.join(wanted)}." if wanted else "Wants nothing that a network may lack."


def other_wants(scheme: SchemeInfo) -> str:
    """The values of parameters with which a scheme wants others; empty if there are none."""
    settings = [f"{scheme['name']}.{setting(change)}" for change in scheme["wants_with"]]
    return f"Its wants differ with {' or '.join(settings)}: --json." if settings else ""


def _words(wants: Iterable[WantInfo], kind: str) -> str:
    return ", ".join(
        want["words"]
        + (" (exactly)" if want["exactly"] else "")
        + (f" ({want['levels']} {plural(want['levels'], 'level')})" if want["levels"] else "")
        for want in wants
        if kind in want["at"]
    )
