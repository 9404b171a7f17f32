"""Checks of arguments: a value of another type, or out of its range, raises `InputError` with its name.

The core checks its own arguments in the same way (`crates/python/arguments.rs`); this module checks the
others.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from types import UnionType
from typing import Any, TypeVar

from . import _core, selections
from ._core import InputError, Scenario

T = TypeVar("T")

SHOWN = 60
"""Most characters of a value that a message shows."""

SEED_LIMIT = 2**64
"""Upper limit of seeds, exclusive."""

Overrides = str | Sequence[str] | Mapping[str, Any]
"""Values that replace those of a file: `path=value` texts, one such text, or a dict of paths and values."""

Texts = str | Sequence[str]
"""Texts, or a single text."""


def unsuitable(name: str, value: object, expected: str) -> InputError:
    """The error of an argument whose value cannot be used."""
    return InputError(f"{name}: {repr(value)[:SHOWN]}; expected {expected}")


def hint(name: str, known: Sequence[str]) -> str:
    """`; did you mean "x"?`, or nothing."""
    meant = _core.nearest(name, known) if is_encodable(name) else None
    return "" if meant is None else f'; did you mean "{meant}"?'


def as_type(name: str, value: T, kind: type | UnionType, expected: str) -> T:
    """The value, if it is of this type. Raises `InputError`."""
    if not isinstance(value, kind):
        raise unsuitable(name, value, expected)
    return value


def as_flag(name: str, value: bool) -> None:
    """Raise `InputError` for a value that is neither True nor False."""
    as_type(name, value, bool, "True or False")


def as_scenario(scenario: Scenario | str | os.PathLike[str], overrides: Overrides = ()) -> Scenario:
    """A scenario, or the file of one with overrides. Raises `InputError`."""
    if not isinstance(scenario, Scenario):
        path = as_scenario_path(scenario)
        refuse_own(overrides)
        return Scenario.read(path, overrides)
    as_overrides(overrides)
    if overrides:
        raise InputError(
            "overrides go with a file; expected `scenario.edited({...})` for a scenario that was read"
        )
    return scenario


def as_scenario_path(scenario: object) -> str:
    """The path of a scenario's file as text. Raises `InputError`, also for the text of a scenario."""
    expected = "a Scenario or the path of a file"
    path = as_path("scenario", scenario, expected)
    if "\n" in path:
        raise unsuitable("scenario", path, f"{expected}; Scenario.parse reads the text of a scenario")
    if not path:
        raise unsuitable("scenario", path, expected)
    return path


def as_overrides(overrides: Overrides) -> Sequence[str] | Mapping[str, Any]:
    """Overrides, one text as a list of one. Raises `InputError`."""
    if isinstance(overrides, Mapping):
        return overrides
    return as_texts("overrides", overrides, 'texts such as "duration=5 s", or a dict of paths and values')


def refuse_own(overrides: Overrides, where: str = "overrides: ") -> None:
    """Raise `InputError` for an override that names a single scheme: such a value stands in brackets."""
    for text in as_overrides(overrides):
        path = text.partition("=")[0].partition(".")[0]
        scheme, colon, _ = path.partition(":")
        if colon and '"' not in scheme:  # no key of a file has a colon before its first dot
            change = text.partition(":")[2].strip()
            expected = f"{scheme.strip()}[{change}] among the schemes"
            raise InputError(
                f"{where}{text}: a value for the runs of one scheme stands in brackets; expected {expected}"
            )


def as_path(name: str, path: object, expected: str = "a path") -> str:
    """A path as text. Raises `InputError`."""
    text = os.fspath(path) if isinstance(path, str | os.PathLike) else None
    if not isinstance(text, str) or not _is_path(text):
        raise unsuitable(name, path, expected)
    return text


def _is_path(text: str) -> bool:
    """True if the system can have such a path: without NUL, and in letters that it can encode."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def is_encodable(text: str) -> bool:
    """True if a text has no halves of surrogate pairs, which no file and no message can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_texts(name: str, given: Texts, expected: str = "texts") -> list[str]:
    """Texts as a list; one text is a list of one. Raises `InputError`."""
    as_ordered(name, given)
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, Iterable):
        raise unsuitable(name, given, expected)
    texts = list(found)
    if not all(isinstance(text, str) and is_encodable(text) for text in texts):
        raise unsuitable(name, given, expected)
    return texts


def as_ordered(name: str, given: object) -> None:
    """Raise `InputError` for a set: its order differs from process to process, and results depend on it."""
    if isinstance(given, Set) and not isinstance(given, Sequence):
        raise InputError(f"{name}: a set has no order; expected a list")


def as_schemes(given: Texts) -> list[str]:
    """Selections of schemes, at least one, each once, in the form that results have. Raises `InputError`."""
    texts = as_texts("schemes", given, "names of schemes")
    if not texts:
        raise unsuitable("schemes", given, "at least one")
    names: list[str] = []
    for text in texts:
        found = selections.read_all(text)
        if len(found) > 1:
            raise several_in_one("schemes", text)
        names += [selection.name for selection in found]
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f'schemes: "{name}" stands twice; expected each scheme once')
    return names


def several_in_one(name: str, text: str) -> InputError:
    """The error of names with commas between them in one text."""
    names = [selection.name for selection in selections.read_all(text)]
    return unsuitable(name, text, f"a list: {json.dumps(names, ensure_ascii=False)}")


def as_whole(name: str, value: object, least: int, most: int | None = None) -> int:
    """A whole number from `least` to `most`. Raises `InputError`."""
    limit = f"at least {least}" if most is None else f"{least} to {most}"
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise unsuitable(name, value, f"a whole number, {limit}") from None
    if number < least or (most is not None and number > most):
        raise unsuitable(name, value, limit)
    return number


def as_seed(seed: object) -> int:
    """A seed. Raises `InputError`."""
    return as_whole("seed", seed, 0, SEED_LIMIT - 1)


def as_function(name: str, function: Callable[..., Any] | None) -> None:
    """Raise `InputError` for a value that is neither None nor a function."""
    if function is not None and not callable(function):
        raise unsuitable(name, function, "a function")
