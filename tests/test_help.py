"""Help: every command has an example, and the examples work. The shell completes commands and schemes."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from airfair import cli, reference

from tests.support import ROOT, SHORT, airfair


def commands(group: click.Group = cli.cli, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, groups within groups too."""
    yield names
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, (*names, name))
        else:
            yield (*names, name)


def command_of(names: tuple[str, ...]) -> click.Command:
    """The command of these words."""
    command: click.Command = cli.cli
    for name in names:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    return command


def examples() -> list[str]:
    """The examples of all commands."""
    return [line for names in commands() for line in reference.example_of(command_of(names))]


def parsed(example: str) -> tuple[click.Command, dict[str, object]]:
    """The command of an example and the values that its options and arguments get. Wrong ones raise."""
    program, *words = shlex.split(example, comments=True)
    assert program == "airfair"
    command: click.Command = cli.cli
    context = click.Context(command, info_name=program, **command.context_settings)
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)  # type: ignore[assignment]
        assert command is not None, example
        context = click.Context(command, context, name, **command.context_settings)
    return command, command.make_context(context.info_name, list(words), context.parent).params


@pytest.mark.parametrize("names", list(commands()), ids=" ".join)
def test_the_help_of_a_command_has_an_example_of_it(
    names: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = reference.example_of(command_of(names))
    assert lines
    assert all(line.startswith(" ".join(("airfair", *names))) for line in lines)
    monkeypatch.setenv("COLUMNS", "80")
    help_text = airfair(*names, "--help").stdout
    assert "Example:\n" in help_text
    assert max(map(len, help_text.splitlines())) <= 80
    whole = re.sub(r"\s*\\\n\s*", " ", help_text)
    assert all(f"  {line}\n" in whole for line in lines)


def test_the_list_of_commands_has_whole_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = airfair("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(listed) == len(cli.cli.commands)
    assert [line for line in listed if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("example", examples())
def test_an_example_has_options_that_exist(example: str) -> None:
    parsed(example)


def short() -> list[str]:
    """Examples that a changed duration makes short, of files that are here."""
    found = []
    for example in examples():
        command, values = parsed(example)
        takes_set = any("--set" in parameter.opts for parameter in command.params)
        # A study sets its durations itself, a suite has many scenes, an emulation takes programs and rights
        # that may be missing: their own tests run one of each.
        if (
            command.name not in ("sweep", "suite", "emulate")
            and takes_set
            and (ROOT / str(values.get("file"))).is_file()
        ):
            found.append(example)
    return found


@pytest.mark.parametrize("example", short())
def test_an_example_runs(example: str, tmp_path: Path) -> None:
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    done = airfair(*shlex.split(example)[1:], *SHORT, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_most_examples_are_run() -> None:
    assert {line.split()[1] for line in short()} >= {"run", "compare", "trace", "check"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["airfair", "ch"], "plain,check"),
        (["airfair", "run", "x.toml", "--scheme", "cod"], "plain,codel"),
        (["airfair", "compare", "--se"], "plain,--seeds"),
    ],
)
def test_the_shell_completes(words: list[str], expected: str) -> None:
    """The request of bash, see `docs/install.md`."""
    program = Path(sys.executable).parent / "airfair"
    asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [program],
        env={**os.environ, **asked, "_AIRFAIR_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert expected in done.stdout.splitlines()
