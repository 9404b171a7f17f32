"""Code blocks of the documentation: run, compared with a file, or marked with the reason why not.

The line that opens a block has its language, then one of these:

- nothing: the block is run. `toml` is a study, or a scenario that is stored under the name before it; `sh`
  and `python` run in a folder of the page, where earlier blocks have left their files. A `python` block that
  does not import Airfair continues the block before it.
- `file=PATH`: a part of that file, word for word.
- `after=PATH`: what follows that scenario; together they are read.
- `not-run: REASON`. Commands of Airfair in such a block are parsed all the same, and `make` targets exist.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import airfair
import click
import pytest
from airfair.cli import cli
from airfair.emulating.programs import read_script
from airfair.sweeping.study import read_study

from docs import pages
from tests.support import ROOT, THREE_PAIRS
from tests.test_docs import markdown

FENCE = re.compile(r"^( *)```(\w*) ?(.*)\n((?:.*\n)*?)\1```$", re.MULTILINE)
GENERATED = {ROOT / "docs" / name for name in pages.pages()}
"""Their blocks are made or replayed by `docs/pages.py`, their examples run in the tests of the commands."""

FEWER = ((r"--seeds \d+", "--seeds 2"), (r"seeds=range\(1, \d+\)", "seeds=range(1, 3)"))
"""Pages compare with enough seeds; to see that the commands work two are enough."""


@dataclass(frozen=True)
class Block:
    """A code block: its page, line, language, the rest of its first line, and its text."""

    page: Path
    line: int
    language: str
    rest: str
    text: str
    before: str
    """The last line of text before it."""

    @property
    def runs(self) -> bool:
        return not self.rest


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        before = text[: found.start()].strip().rpartition("\n")[2]
        line = text.count("\n", 0, found.start()) + 1
        yield Block(page, line, found[2], found[3], re.sub(f"^{found[1]}", "", found[4], flags=re.M), before)


PAGES = [page for page in markdown() if page not in GENERATED and next(blocks(page), None)]
BLOCKS = [block for page in PAGES for block in blocks(page)]


def test_every_block_is_run_or_marked() -> None:
    unmarked = [
        f"{block.page.relative_to(ROOT)}:{block.line}: ```{block.language} {block.rest}"
        for block in BLOCKS
        if not (block.runs and block.language in ("sh", "python", "toml"))
        and not re.fullmatch(r"file=\S+|after=\S+|not-run: .+", block.rest)
    ]
    assert unmarked == []
    assert sum(block.runs for block in BLOCKS) > 20


def commands(block: Block) -> Iterator[list[str]]:
    """The commands of a block, each as its words."""
    for line in block.text.replace("\\\n", " ").splitlines():
        if words := shlex.split(line, comments=True):
            yield words


def test_commands_of_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    parsed = 0
    for block in BLOCKS:
        if block.language != "sh":
            continue
        for words in commands(block):
            if words[0] == "airfair":
                parse(words[1:], f"{block.page.name}: {shlex.join(words)}")
                parsed += 1
            elif words[0] == "make" and words[1] != "-C":
                assert targets >= set(words[1:]), f"{block.page.name}: {words}"
    assert parsed > 20


def parse(words: list[str], where: str) -> None:
    """Compare a command with the options and arguments that exist, without running it."""
    group: click.Command = cli
    context = click.Context(cli, info_name="airfair", **cli.context_settings)
    while isinstance(group, click.Group) and words and not words[0].startswith("-"):
        found = group.get_command(context, words[0])
        assert found is not None, where
        group, words = found, words[1:]
        context = click.Context(group, context, **group.context_settings)
    try:
        group.make_parser(context).parse_args(list(words))
    except click.UsageError as error:
        pytest.fail(f"{where}: {error.format_message()}")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_parts_of_files_are_as_in_the_files(page: Path) -> None:
    for block in blocks(page):
        key, _, path = block.rest.partition("=")
        if key == "file":
            assert block.text in (ROOT / path).read_text(), path
        elif key == "after":
            text = (ROOT / path).read_text() + "\n" + block.text
            airfair.Scenario.from_dict(tomllib.loads(text))


RUN = [page for page in PAGES if any(block.runs for block in blocks(page))]


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    for name in ("scenarios", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "out").mkdir()
    python = ""
    for block in blocks(page):
        if block.language == "toml":
            tomllib.loads(block.text)
        if not block.runs:
            continue
        text = block.text
        for pattern, fewer in FEWER:
            text = re.sub(pattern, fewer, text)
        if block.language == "toml":
            if "[parameters]" in text:
                (tmp_path / "studies").mkdir()
                (tmp_path / "three-pairs.toml").symlink_to(THREE_PAIRS)
                (tmp_path / "studies" / "study.toml").write_text(text)
                assert read_study(tmp_path / "studies" / "study.toml").errors == []
                continue
            if "[[program]]" in text:
                (tmp_path / "script.toml").write_text(text)
                assert read_script(tmp_path / "script.toml")
                continue
            named = re.findall(r"`([\w.-]+\.toml)`", block.before)
            file = tmp_path / (named[-1] if named else "scenario.toml")
            file.write_text(text)
            airfair.Scenario.read(file)
        elif block.language == "sh":
            run(["bash", "-ec", text], tmp_path, f"line {block.line}")
        else:
            python = text if "import airfair" in text or "from airfair" in text else python + text
            (tmp_path / "page.py").write_text(python)
            run([sys.executable, "page.py"], tmp_path, f"line {block.line}")


def run(command: list[str], folder: Path, where: str) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, f"{where}:\n{done.stdout}{done.stderr}"
