"""The options that are tried in a scenario, in the order of what helps most often: radio settings and
windows, which any router and host has, queues, window laws, and the schemes of the registry.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .._core import InputError, Scenario
from ..experiment import schemes as all_schemes
from .candidate import Candidate, Option, Space

RTS = Option("radio", changes=("rts",))
PATIENT = Option("radio", changes=("rts", "retries=50"))
RETRIES = Option("radio", changes=("retries=50",))
WINDOWS = tuple(Option("window", changes=(f"window={segments}",)) for segments in (4, 8, 16))
ECN = Option("ecn", changes=("ecn",))

SYSTEMS = ("c3l", "qfcp", "nred", "diffq", "lbm", "rcp", "xcp-b", "airtime", "atp", "exact")
"""Schemes of routers, some with their own sources; those that the registry has are tried."""

DISCIPLINES = ("fq-codel", "codel", "red")
"""Queues of routers, which any Linux has."""

LAWS = ("cubic", "vegas", "bbr")

ROOM = 50
"""Packets for each flow in a long queue: as many as a usual window has segments."""

LONGEST_QUEUE = 1000


VARIANT = re.compile("^(droptail|reno|newreno)$|^diffq-(rc|rc-sched|occupancy|liar)$|^c3l-(faulty|local)$")
"""Schemes that are no change of their own: what hosts have today, and variants for comparisons."""

NO_SCHEME = "droptail"

NEVER = ("data rates", "power", "channels", "places of nodes")
"""Changes of the plan of radios, which advice does not try."""


class NotTried(NamedTuple):
    """An option that cannot run here."""

    name: str
    reason: str


def space(scenario: Scenario, own: str, more: Sequence[Option] = ()) -> tuple[Space, list[NotTried]]:
    """The options that can run in the scenario alone, and those that cannot. `more` are options that are
    tried before all others."""
    possible: list[Option] = []
    refused: list[NotTried] = []
    none = [] if own == NO_SCHEME else [Option("system", NO_SCHEME)]
    for option in dict.fromkeys([*more, *none, *_all(scenario)]):
        reason = refusal(scenario, Candidate(own).having(option)) or _is_there(scenario, own, option)
        if reason is None:
            possible.append(option)
        else:
            refused.append(NotTried(option.name, reason))
    tried = (
        {option.scheme for option in possible} | {refusal.name for refusal in refused} | set(own.split("+"))
    )
    others = [name for name in _names() if name not in tried and not VARIANT.search(name)]
    refused += [NotTried(name, "a change of the plan of radios, which advice does not try") for name in NEVER]
    refused += [NotTried(name, "no scheme that advice tries") for name in others]
    known: list[Sequence[Option]] = [[option] for option in more if option in possible]
    known += [together for together in _known() if set(together) <= set(possible)]
    return Space(own, possible, known), refused


def _is_there(scenario: Scenario, own: str, option: Option) -> str | None:
    """A reason, if the scenario has what an option would change."""
    if not option.changes:
        return None
    after = scenario.selected(Candidate(own).having(option).text)
    return "the network has it" if after.resolved == scenario.selected(own).resolved else None


def refusal(scenario: Scenario, candidate: Candidate) -> str | None:
    """Why a candidate cannot run; None if it can."""
    try:
        scenario.check_scheme(candidate.text)
    except InputError as error:
        return str(error)
    return None


def _all(scenario: Scenario) -> list[Option]:
    tables = Scenario.parse(scenario.resolved).to_dict()
    radio = any(node.get("radios") for node in tables["node"])
    tcp = any(flow["transport"].startswith("tcp") for flow in tables["flow"])
    systems = {name: Option("system", name) for name in (*SYSTEMS, *DISCIPLINES, *LAWS) if name in _names()}
    found: list[Option] = []
    if radio:
        found += [PATIENT, RTS]
    if tcp:
        found += WINDOWS
    found += [systems[name]._replace(part="discipline") for name in DISCIPLINES if name in systems]
    found += [systems[name] for name in SYSTEMS if name in systems]
    if radio:
        found += [RETRIES, *_queues(tables)]
    if tcp:
        found += [systems[name]._replace(part="law") for name in LAWS if name in systems]
        found.append(ECN)
    return found + _routes(scenario, tables)


def _names() -> list[str]:
    return [scheme["name"] for scheme in all_schemes()]


def _queues(tables: Mapping[str, Any]) -> list[Option]:
    """A long queue, and a short one."""
    today = tables["radio"]["queue_packets"]
    long = min(LONGEST_QUEUE, ROOM * len(tables["flow"]))
    return [Option("queue", changes=(f"queue={n}",)) for n in (max(long, 100), 20) if n != today]


def _routes(scenario: Scenario, tables: Mapping[str, Any]) -> list[Option]:
    """Other routes, where a protocol finds them."""
    protocol = tables["routing"]["protocol"]
    if protocol == "static":
        return []
    found = []
    if protocol == "olsr" and tables.get("olsr", {}).get("metric") == "etx":
        found.append(Option("routes", changes=("olsr.metric=hops",)))
    if not scenario.links_vary:
        found.append(Option("routes", changes=("routing.protocol=static",)))
    return found


def _known() -> list[Sequence[Option]]:
    """Sets that have helped on meshes and cells (the suite's table), best first."""
    system = {name: Option("system", name) for name in SYSTEMS}
    queue = Option("discipline", "fq-codel")
    four = WINDOWS[0]
    return [
        [PATIENT],
        [PATIENT, four],
        [system["c3l"], PATIENT],
        [system["c3l"], RTS],
        [queue],
        [system["qfcp"]],
        [system["nred"], PATIENT, four],
        [four],
        [system["c3l"], PATIENT, four],
        [system["diffq"], PATIENT, four],
        [queue, PATIENT],
        [system["qfcp"], PATIENT, four],
        [system["lbm"], ECN],
        [Option("discipline", "red"), ECN],
    ]
