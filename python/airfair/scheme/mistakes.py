"""Tracebacks of mistakes in a user's scheme, without the frames of other code."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

_PLACES = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")
_OTHERS = (
    Path(__file__).resolve().parents[1],
    *(Path(sysconfig.get_path(place)).resolve() for place in _PLACES),
)


def mistake(error: BaseException) -> str | None:
    """The frames in the user's files, the exception, where in a run it was raised; None if it is not theirs.

    Files of Airfair, of Python and of installed packages are not the user's.
    """
    summary = traceback.TracebackException.from_exception(error)
    own = [frame for frame in summary.stack if _is_own(frame.filename)]
    if not own and not (isinstance(error, SyntaxError) and error.filename and _is_own(error.filename)):
        return None
    frames = "".join(traceback.StackSummary.from_list(own).format())
    head = "Traceback (only your files):\n" if own else ""
    return f"{head}{frames}{''.join(summary.format_exception_only())}".rstrip()


def in_a_line(error: BaseException) -> str:
    """The exception with its notes, and the last line of the user's files that it came through, if any."""
    told = [f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())]
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    if own:
        told.append(f"{own[-1].filename}:{own[-1].lineno}, in {own[-1].name}")
    return "; ".join(" ".join(part.split()) for part in told)


def _is_own(file: str) -> bool:
    path = Path(file).resolve()
    return path.is_file() and not any(path.is_relative_to(folder) for folder in _OTHERS)
