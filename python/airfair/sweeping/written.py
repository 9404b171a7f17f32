"""Schemes written in Python, as a sweep needs them: where workers find them, and what their code is."""

from __future__ import annotations

import hashlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .._core import InputError

if TYPE_CHECKING:
    from types import ModuleType

    from ..scheme import Scheme


def sources() -> tuple[str, ...]:
    """Files and modules that this process has loaded schemes from."""
    scheme = _module()
    return () if scheme is None else tuple(scheme.loaded())


def code_of(name: str) -> str:
    """Digest of the file in which a scheme is written; empty for a scheme of the simulator's own."""
    found = _find(name)
    if found is None:
        return ""
    return hashlib.sha256(Path(_file(found)).read_bytes()).hexdigest()


def check_elsewhere(names: list[str]) -> None:
    """Raise `InputError` for a scheme that another process would not find."""
    scheme = _module()
    for name in names:
        found = _find(name)
        if scheme is None or found is None:
            continue
        if (
            found.__module__ not in scheme.loaded()
            and str(Path(_file(found)).resolve()) not in scheme.loaded()
        ):
            raise InputError(
                f'scheme "{name}": is known in this process only; expected it in a file of its own, '
                "loaded with airfair.load_schemes(FILE) or --schemes-from FILE"
            )


def _module() -> ModuleType | None:
    """`airfair.scheme`, if anything has been loaded with it."""
    return sys.modules.get("airfair.scheme")


def _find(name: str) -> type[Scheme] | None:
    if _module() is None:
        return None
    from ..scheme.register import registered

    return next((found for found in reversed(registered) if found.name == name), None)


def _file(found: type[Scheme]) -> str:
    try:
        return inspect.getfile(found)
    except (OSError, TypeError) as error:
        raise InputError(
            f'scheme "{found.name}": stands in no file; expected a file that airfair.load_schemes reads'
        ) from error
