"""Descriptions of folders of results: the format version, then the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from ._core import InputError
from .inputs import read_regular


def read_versioned(path: Path, what: str, newest: int, needed: set[str]) -> dict[str, Any]:
    """The JSON object in `path`, of the folder of a `what`, with its `needed` keys.

    Raises `InputError` for one that is not there, has a version above `newest`, or is incomplete.
    """
    try:
        about = json.loads(read_regular(path))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}; expected the folder of a {what}") from error
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from error
    version = about.get("format") if isinstance(about, dict) else None
    if not isinstance(version, int):
        raise InputError(f"{path}: no format version; expected the folder of a {what}")
    if version > newest:
        raise InputError(f"{path}: format {version}, from a newer Airfair; expected at most {newest}")
    if not needed <= set(about):
        raise InputError(f"{path}: incomplete")
    return cast(dict[str, Any], about)
