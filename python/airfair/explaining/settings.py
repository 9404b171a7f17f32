"""Settings of the scenario that advice needs, and a check that the scenario accepts what is advised."""

from __future__ import annotations

import itertools
import re
import shlex
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from .._core import InputError, Scenario
from .result import Explanation, Hop, HopRadio

RATES = (("54", "48", "36", "24", "18", "12", "9", "6"), ("11", "5.5", "2", "1"))
"""Rates of OFDM, and of DSSS and CCK, Mbit/s: each needs less power than the one before."""

MATRIX = "matrix"
"""The model of propagation with listed gains: who is not listed is not heard."""

LARGER = 4
"""Factor of an advised contention window, and 2 of a range of carrier sensing: large enough to show."""


def add_radios(explanation: Explanation, scenario: Scenario) -> None:
    """Add `radio` to each hop by radio."""
    written, resolved = scenario.to_dict(), tomllib.loads(scenario.resolved)
    listed = _listed(written)
    slower: dict[tuple[str, str], str | None] = {}
    for hop in explanation["hops"]:
        if hop["wired"]:
            continue
        table = hop["queue"]["settings"]
        radio, before = _radio(resolved, table), _radio(written, table)
        rate = radio["data_rate"]
        if (table, rate) not in slower:
            slower[table, rate] = _slower(scenario, table, rate)
        lower, window = slower[table, rate], (radio.get("cw_min", 0) + 1) * LARGER - 1
        takes_window = radio["categories"] == "dcf" and _has({f"{path(table)}.cw_min": window}, scenario)
        of_hop: HopRadio = {
            "propagation": before["propagation"]["model"],
            "data_rate": rate,
            "slower": lower,
            "own": None if lower is None else _own(scenario, written, hop, lower),
            "cw_min": window if takes_window else None,
            "carrier_sense": _doubled(before["propagation"].get("carrier_sense")),
            "unlisted": [],
        }
        if of_hop["propagation"] == MATRIX:
            causes = hop["attempts"]["causes"] if hop["attempts"] else []
            hidden = {cause["by"] for cause in causes if cause["hidden"] and cause["by"] is not None}
            of_hop["unlisted"] = sorted(node for node in hidden if (node, hop["src"]) not in listed)
        hop["radio"] = of_hop


def accepted(pieces: Iterable[str], scenario: Scenario) -> list[str]:
    """Pieces of advice without the lines that the scenario refuses; those that lose all their lines are left
    out."""
    kept = []
    for piece in pieces:
        words, *lines = piece.split("\n")
        fit = [line for line in lines if _fits(line, scenario)]
        if fit or not lines:
            kept.append("\n".join([words, *fit]))
    return kept


def part(name: str) -> str:
    """A name as a part of a key path: in quotes if it would read as more than one, or as none."""
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else f'"{name}"'


def path(table: str) -> str:
    """A table with a name behind its first point, such as "radios.NAME", as a key path."""
    return ".".join(part(name) for name in table.split(".", 1))


def changes(line: str) -> list[str]:
    """The overrides of a line to copy: `KEY=VALUE` of each `--set`."""
    parts = shlex.split(line)
    return [after for option, after in itertools.pairwise(parts) if option == "--set"]


def _fits(line: str, scenario: Scenario) -> bool:
    overrides = changes(line)
    if not overrides:
        return True
    try:
        scenario.edited(dict(_change(override) for override in overrides))
    except InputError:
        return False
    return True


def _change(override: str) -> tuple[str, Any]:
    """The key and the value of `KEY=VALUE`: a value of TOML, or a text without quotes. The first "=" ends the
    key, as for `--set`: a name with one cannot be written there."""
    key, _, text = override.partition("=")
    try:
        return key, tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return key, text


def _radio(tables: Mapping[str, Any], table: str) -> dict[str, Any]:
    """The keys of a kind of radio, with those of `[radio]` that it does not write."""
    first: dict[str, Any] = tables.get("radio") or {}
    kind, _, name = table.partition(".")
    own: dict[str, Any] = (tables.get(kind) or {}).get(name) or {} if name else {}
    return {"propagation": {"model": ""}, **first, **own}


def _slower(scenario: Scenario, table: str, rate: str) -> str | None:
    """The next lower rate of data frames that the radio has; None if it has the lowest."""
    bps = _number(rate)
    if bps is None:
        return None
    ofdm, dsss = RATES
    rates = dsss if bps in [1e6 * float(each) for each in dsss] else ofdm
    lower = [f"{each} Mbit/s" for each in rates if 1e6 * float(each) < bps]
    return next((each for each in lower if _has({f"{path(table)}.data_rate": each}, scenario)), None)


def _own(scenario: Scenario, written: Mapping[str, Any], hop: Hop, rate: str) -> str | None:
    """A name for a kind of radio of the hop's sender alone; None where the file cannot give it one by
    `--set`: a generated node, one with several radios, or with a name that cannot be written there."""
    if hop["queue"]["settings"] != "radio" or "=" in hop["src"]:
        return None
    taken = written.get("radios") or {}
    name = next(name for name in ("slow", *(f"slow-{i}" for i in range(2, 99))) if name not in taken)
    node = next((node for node in written.get("node") or [] if node["id"] == hop["src"]), None)
    if node is None or node.get("radios", ["default"]) != ["default"]:
        return None
    fits = _has({f"radios.{name}.data_rate": rate, f"node.{part(hop['src'])}.radios": [name]}, scenario)
    return name if fits else None


def _has(edits: Mapping[str, Any], scenario: Scenario) -> bool:
    try:
        scenario.edited(edits)
    except InputError:
        return False
    return True


def _number(rate: str) -> float | None:
    """A rate in bits per second."""
    found = re.fullmatch(r"([\d.]+) ?([kMG]?)bit/s", rate)
    return float(found[1]) * {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[found[2]] if found else None


def _doubled(length: str | None) -> str | None:
    """Twice a length, in its unit."""
    found = re.fullmatch(r"([\d.]+) ?(\w+)", length or "")
    return f"{2 * float(found[1]):g} {found[2]}" if found else None


def _listed(written: Mapping[str, Any]) -> set[tuple[str, str]]:
    """The pairs of nodes with a gain: who transmits, and who hears."""
    pairs = set()
    for gain in written.get("gain") or []:
        pairs.add((gain["from"], gain["to"]))
        if gain.get("both"):
            pairs.add((gain["to"], gain["from"]))
    return pairs
