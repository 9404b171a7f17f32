"""The advice of `airfair explain` as options of a race, and put in order by what the race has measured."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence

from .. import selections
from .._core import InputError, Scenario
from ..experiment import schemes as all_schemes
from ..explaining.result import Explanation
from ..quantities import number_of
from ..results import Advice, Estimate
from .candidate import Candidate, Option
from .engine import BUDGET_S, Order, advise
from .options import RETRIES, RTS

DIAGNOSTIC = re.compile(r"^flow\..*\.stop=|eifs_on_energy=|\.carrier_sense=")
"""Changes that show a cause, and that no operator can make."""

SHORT = (
    (re.compile(r'^tcp\.window_limit="(\d+) segments"$'), "window", "window={}"),
    (re.compile(r"^radio\.queue_packets=(\d+)$"), "queue", "queue={}"),
)
"""Changes with a short form: the part of a set that they are."""

EXACT = {
    ('radio.rts_threshold="0 B"',): RTS,
    ("radio.short_retry_limit=50", "radio.long_retry_limit=50"): RETRIES,
}
"""Changes that are an option of every race."""


def try_advice(
    explanation: Explanation,
    scenario: Scenario,
    *,
    budget_s: float | None = BUDGET_S,
    runs: int | None = None,
    on_run: Callable[[], object] | None = None,
) -> Advice:
    """Race the advice of an explanation, and all else that is tried, in the scenario of the explained run.
    The explanation gets the result (`tried`), and its advice in the order of what was measured."""
    scheme = explanation["scheme"]
    named = [option for piece in explanation["advice"] for option in options_of(piece, scheme)]
    more = possible(list(dict.fromkeys(named)), scenario, selections.read(scenario.scheme).name)
    found = advise(scenario, Order(budget_s=budget_s, runs=runs, more=more, on_run=on_run))
    explanation["advice"] = in_order(explanation["advice"], scheme, found)
    explanation["tried"] = found
    return found


def options_of(piece: str, scheme: str) -> list[Option]:
    """The options that the commands below a piece of advice are: each line of `--set` one, each scheme of
    `airfair compare` another than that of the run one."""
    found: list[Option] = []
    for line in piece.splitlines()[1:]:
        words = shlex.split(line)
        if words[:2] == ["airfair", "compare"]:
            names = selections.read_all(words[words.index("--schemes") + 1])
            found += [_of_scheme(name.name) for name in names if name.name != scheme]
        elif words and words[0] == "--set":
            changes = [word for word in words if word != "--set"]
            if not any(map(DIAGNOSTIC.search, changes)):
                found.append(_of_changes(changes))
    return list(dict.fromkeys(found))


def _of_scheme(name: str) -> Option:
    places = next(set(scheme["places"]) for scheme in all_schemes() if scheme["name"] == name)
    part = "law" if places == {"source"} else "discipline" if places <= {"queue", "aqm"} else "system"
    return Option(part, name)


def _of_changes(changes: Sequence[str]) -> Option:
    if tuple(changes) in EXACT:
        return EXACT[tuple(changes)]
    if len(changes) == 1:
        for pattern, part, short in SHORT:
            if match := pattern.match(changes[0]):
                return Option(part, changes=(short.format(match[1]),))
    return Option("other", changes=tuple(changes))


def possible(options: Sequence[Option], scenario: Scenario, own: str) -> list[Option]:
    """Those that make a selection that can be read; a path may have what brackets cannot hold."""
    found = []
    for option in options:
        try:
            scenario.selected(Candidate(own).having(option).text)
        except InputError:
            continue
        found.append(option)
    return found


def in_order(pieces: Sequence[str], scheme: str, advice: Advice) -> list[str]:
    """Pieces of advice with what the race has measured of them: those that help first, the best of them
    first; then those that were not measured, or not clearly; then those that do not help."""
    changes: Mapping[str, Estimate] = {row["selection"]: row["change"] for row in advice["tried"]}
    changes |= {row["selection"]: row["change"] for row in advice["advised"]}  # type: ignore[operator]
    broken = {row["selection"] for row in advice["tried"] if row["state"] in ("total", "least share")}
    ordered: list[tuple[int, float, str]] = []
    for piece in pieces:
        texts = [Candidate(advice["today"]).having(option).text for option in options_of(piece, scheme)]
        known = [(text, changes[text]) for text in texts if text in changes]
        if not known:
            ordered.append((1, 0.0, piece))
            continue
        text, best = max(known, key=lambda pair: (pair[0] not in broken, pair[1]["mean"]))
        width = best["ci95"] or 0.0
        if best["mean"] - width > 0 and best["ci95"] is not None and text not in broken:
            rank, verdict = 0, f"measured: {text} helps, {_change(best, advice)}"
        elif best["mean"] <= 0 or text in broken:
            rank, verdict = 2, f"measured: {text} does not help, {_change(best, advice)}"
        else:
            rank, verdict = 1, f"measured: {text}, not clear, {_change(best, advice)}"
        first, *commands = piece.splitlines()
        ordered.append((rank, -best["mean"], "\n".join([f"{first} ({verdict}.)", *commands])))
    return [piece for _, _, piece in sorted(ordered, key=lambda row: row[:2])]


def _change(by: Estimate, advice: Advice) -> str:
    what = "least share" if advice["goal"] == "fair" else advice["goal"]
    return f"{what} {number_of(by, 3, sign=True)}"
