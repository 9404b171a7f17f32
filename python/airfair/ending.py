"""Signals that end the program, and streams that its caller has closed.

This module loads nothing that takes time: `start` puts both in order before it loads the rest. Ctrl-C
(SIGINT), SIGTERM (systemd, batch systems, `timeout`) and SIGHUP (a terminal that closes) end a command in
the same way: what is being written is removed, and the exit status is 128 and the number of the signal. A
signal that the caller ignores, as `nohup` does, stays ignored.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import NoReturn

ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that end a command."""


class Terminated(KeyboardInterrupt):
    """A signal other than Ctrl-C that ends the program. What cleans up after Ctrl-C cleans up after it."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def status(error: BaseException | None) -> int:
    """The exit status after this interruption, or after one that is the cause of this error."""
    while error is not None:
        if isinstance(error, Terminated):
            return 128 + error.number
        error = error.__cause__
    return 128 + signal.SIGINT


def word(number: int) -> str:
    """The last line of a command that a signal ended, by its exit status."""
    return "airfair: interrupted" if number == 128 + signal.SIGINT else "airfair: terminated"


def leave_at_once() -> None:
    """From now on a signal ends the program at once: there is nothing to clean up."""
    _handle(_leave)


def raise_signals() -> None:
    """From now on a signal raises `KeyboardInterrupt`, or `Terminated`, in the main thread."""
    _handle(_raise)


@contextmanager
def deferred() -> Iterator[None]:
    """Lets no signal interrupt what must not be done by half; one that comes is raised afterwards."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in ENDS}
    replaced = [number for number, handler in before.items() if callable(handler)]
    for number in replaced:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number in replaced:
            signal.signal(number, before[number])
        if came:
            signal.raise_signal(came[0])


def open_streams() -> None:
    """Open what the caller has closed (`>&-`, some daemons): what is written there is lost, what is read
    there is empty. Else the next file that is opened would take its place."""
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            os.set_inheritable(descriptor, True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _handle(handler: object) -> None:
    """Set the handler of the signals that are not ignored, and whose handler is not the caller's own."""
    replaceable = (signal.SIG_DFL, signal.default_int_handler, _leave, _raise)
    for number in ENDS:
        if signal.getsignal(number) in replaceable:
            signal.signal(number, handler)  # type: ignore[arg-type]


def _leave(number: int, _frame: FrameType | None) -> NoReturn:
    code = 128 + number
    with suppress(OSError):
        os.write(2, f"{word(code)}\n".encode())
    os._exit(code)


def _raise(number: int, _frame: FrameType | None) -> NoReturn:
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    raise Terminated(number)
