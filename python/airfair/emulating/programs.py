"""Programs in nodes, and scripts of them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from .. import _core
from .._core import InputError, ScenarioError
from ..arguments import as_flag, as_texts, as_type, hint
from ..placed import Placed, Value

KEYS = ("name", "node", "command", "at", "until", "ends_run")

NAME = "expected a name of at most 100 printable characters, without / and with no dot at the front"


def is_file_name(name: str) -> bool:
    """True of a name that can be that of an output in the run's folder."""
    return 0 < len(name) <= 100 and name.isprintable() and "/" not in name and not name.startswith(".")


@dataclass(frozen=True)
class Program:
    """A program in a node of an emulation."""

    node: str
    """The node."""
    command: str | Sequence[str]
    """A text as a shell reads it, or words."""
    ends_run: bool = False
    """True: the run ends when it and all others of which this is true have ended. Others end with it."""
    at: str = "0 s"
    """The time of its start since the start of the run."""
    until: str | None = None
    """The time at which it is asked to end."""
    name: str | None = None
    """Name of its output in the run's folder, `programs/NAME.txt`; without a name it writes where the caller
    does."""

    def words(self) -> list[str]:
        """The program and its arguments. Raises `InputError`."""
        if not isinstance(self.command, str):
            return as_texts("command", self.command)
        try:
            return shlex.split(self.command)
        except ValueError as error:
            raise InputError(f"command: {self.command}: {error}") from None

    def request(self, folder: Path | None) -> dict[str, object]:
        """As `_core.Scenario.emulate` takes it. Raises `InputError`."""
        as_type("node", self.node, str, "the id of a node as a text")
        as_flag("ends_run", self.ends_run)
        words = self.words()
        if not words:
            raise InputError(f"node {self.node}: command: empty; expected a program")
        if self.name is not None and not is_file_name(as_type("name", self.name, str, "a text")):
            raise InputError(f"node {self.node}: name: {self.name!r}; {NAME}")
        start = _core.parse_time(self.at, "at")
        end = None if self.until is None else _core.parse_time(self.until, "until")
        if end is not None and end <= start:
            raise InputError(f"node {self.node}: until: {self.until}; expected a time after {self.at}")
        output = None if folder is None or self.name is None else str(folder.absolute() / f"{self.name}.txt")
        return {
            "node": self.node,
            "command": words,
            "ends_run": self.ends_run,
            "at_s": start / 1e9,
            "until_s": None if end is None else end / 1e9,
            "output": output,
        }


def read_script(file: Path) -> list[Program]:
    """Read a script: `[[program]]` blocks with the fields of `Program`; a name that is missing is the number
    and the program's. Raises `InputError` with everything that is wrong, a line each."""
    try:
        document = _core.read_toml(file)
    except ScenarioError as error:
        raise InputError(str(error)) from None
    return _Reader(file).read(document)


class _Reader(Placed):
    def read(self, document: Mapping[str, Value]) -> list[Program]:
        for key, (line, _) in document.items():
            if key != "program":
                self.error(line, key, f"unknown key{hint(key, ['program'])}; expected [[program]] blocks")
        line, blocks = document.get("program", (1, None))
        programs: list[Program] = []
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for _, block in blocks):
            self.error(line, "program", "expected [[program]] blocks, each with node and command")
        else:
            for number, (at, block) in enumerate(blocks, 1):
                found = self.program(at, block, number)
                if found is not None and found.name in [other.name for other in programs]:
                    self.error(
                        at, f"program.{number}.name", f'"{found.name}" stands twice; expected each once'
                    )
                programs.extend([] if found is None else [found])
        self.finish()
        return programs

    def program(self, at: int, block: Mapping[str, Value], number: int) -> Program | None:
        above = f"program.{number}."
        before = len(self.errors)
        self.unknown(block, KEYS, above)
        values = {key: value for key, (_, value) in block.items() if key in KEYS}
        if isinstance(values.get("command"), list):
            values["command"] = [word for _, word in values["command"]]  # type: ignore[attr-defined]
        for key in ("node", "command"):
            if key not in values:
                self.error(at, above + key, "missing; expected a text")
        for key, value in values.items():
            line = block[key][0]
            words = isinstance(value, list) and value != [] and all(isinstance(word, str) for word in value)
            if key == "ends_run":
                if not isinstance(value, bool):
                    self.error(line, above + key, "expected true or false")
            elif not (isinstance(value, str) and value) and not (key == "command" and words):
                self.error(line, above + key, "expected a text" + (", or words" if key == "command" else ""))
        name = values.get("name")
        if isinstance(name, str) and name and not is_file_name(name):
            self.error(block["name"][0], above + "name", NAME)
        if len(self.errors) > before:
            return None
        program = Program(**values)  # type: ignore[arg-type]
        try:
            program.request(None)
        except InputError as error:
            self.error(at, f"program.{number}", str(error))
            return None
        if program.name is None:
            program = replace(program, name=f"{number}-{Path(program.words()[0]).name}")
        return program
