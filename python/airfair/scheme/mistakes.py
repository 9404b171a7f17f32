"""A mistake in the code of a user's scheme, told without the frames of everybody else."""

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


def _is_own(file: str) -> bool:
    path = Path(file).resolve()
    return path.is_file() and not any(path.is_relative_to(folder) for folder in _OTHERS)
