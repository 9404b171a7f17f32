"""Running a simulator as a child process: what it cost, and the JSON object that it prints."""

# SPDX-License-Identifier: MIT OR Apache-2.0

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class PeerError(Exception):
    """Something that the user can put right."""


@dataclass(frozen=True)
class Finished:
    """A child process that did what it should.

    `peak_mb` is never less than what this process holds itself (some 20 MB): the system counts from before
    the child's program is loaded.
    """

    cpu_s: float
    peak_mb: float
    output: str


def run(command: Sequence[str]) -> Finished:
    """A command, to its end: CPU time (user and system, children included) and peak memory."""
    with tempfile.TemporaryFile("w+") as complaints:
        try:
            child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=complaints, text=True)
        except OSError as error:
            raise PeerError(f"cannot run {command[0]}: {error.strerror}") from error
        assert child.stdout is not None
        with child.stdout:
            output = child.stdout.read()
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)  # wait4 took it, so Popen must not ask again
        if child.returncode != 0:
            complaints.seek(0)
            said = complaints.read().strip()[-500:] or "nothing on standard error"
            raise PeerError(f"exit status {child.returncode} from: {shlex.join(command)}\n{said}")
    return Finished(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def read_json(output: str, command: Sequence[str]) -> dict[str, Any]:
    """The JSON object in a program's output: all of it, or one line among others."""
    for text in (output, *reversed([line for line in output.splitlines() if line.startswith("{")])):
        try:
            found = json.loads(text)
        except json.JSONDecodeError:
            continue
        if isinstance(found, dict):
            return found
    raise PeerError(f"no JSON object on standard output of: {shlex.join(command)}")
