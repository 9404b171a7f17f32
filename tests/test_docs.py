"""The documentation: made from the program, whole, its links right, its instructions followed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import airfair
import pytest
from airfair import reference
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docs import pages, pictures
from tests.support import ROOT, THREE_PAIRS

SKIPPED = {".venv", "target", "out", "node_modules"}


def markdown() -> list[Path]:
    """Every page of the repository."""
    found = ROOT.rglob("*.md")
    return sorted(file for file in found if not SKIPPED & set(file.relative_to(ROOT).parts))


@pytest.mark.parametrize("name", pages.pages())
def test_a_page_is_what_the_program_says_now(name: str) -> None:
    made = pages.pages()[name]()
    assert (ROOT / "docs" / name).read_text() == made, "see `make pages`"


def test_the_licences_are_those_of_the_linked_crates() -> None:
    done = subprocess.run(
        [sys.executable, "python/third_party.py"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_the_site_is_made_without_a_warning(tmp_path: Path) -> None:
    """A broken link or anchor, or a page that is in no contents, is one.

    Pictures need not have been drawn: another test compares their names with those that `make docs` draws.
    """
    command = ["-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--nitpicky"]
    command += ["-D", "suppress_warnings=image.not_readable"]
    places = ["--doctree-dir", str(tmp_path / "trees"), "docs", str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, *command, *places],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    contents = (tmp_path / "site" / "README.html").read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").with_suffix(".html").as_posix()
        assert (tmp_path / "site" / name).is_file()
        assert name == "README.html" or f'href="{name}"' in contents, f"{name} is not in the contents"


@pytest.mark.parametrize("file", markdown(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_links_lead_somewhere_where_the_page_lies(file: Path) -> None:
    """As a forge shows the page: relative paths in the checkout, anchors of headings."""
    drawn = {ROOT / "docs" / name for name in pictures.names()}
    for link in links(file.read_text()):
        if re.match(r"[a-z]+:", link):
            continue
        place, _, anchor = link.partition("#")
        target = (file.parent / place).resolve() if place else file
        assert target.exists() or target in drawn, link
        if anchor and target.suffix == ".md":
            assert anchor in anchors(target), link


def test_drawn_pictures_are_shown_and_stored_only_for_the_first_hour() -> None:
    shown = {
        (file.parent / link).resolve().relative_to(ROOT / "docs").as_posix()
        for file in markdown()
        if file.is_relative_to(ROOT / "docs")
        for link in links(file.read_text())
        if link.endswith(".svg")
    }
    assert set(pictures.names()) <= shown
    command = ["git", "ls-files", "--cached", "docs/*.svg"]
    stored = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert {file.removeprefix("docs/") for file in stored} & set(pictures.names()) == pictures.STORED


LONGEST_LINE = 120
LONGEST_PAGE = 250
GENERATED = {
    "docs/reference",
    "docs/validation.md",
    "docs/which-scheme.md",
    "docs/first-scenario.md",
    "CHANGES.md",
}
"""Pages that programs write, a page with the output of ten commands, and the list of changes: these may have
any number of lines."""


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a page outside code blocks, each with its number."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r" *(```+)", line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1] == fence:
            fence = ""
        elif not fence:
            yield number, line


@pytest.mark.parametrize("file", markdown(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_lines_of_a_page_are_short(file: Path) -> None:
    """Table rows included; a line may be longer only if nothing in it can be broken."""
    long = [
        f"line {number} has {len(line)} characters: {line[:60]}..."
        for number, line in prose(file.read_text())
        if len(line) > LONGEST_LINE
        and (line.startswith("|") or max(map(len, reference.wrapped(line).splitlines())) < len(line))
    ]
    assert long == []


@pytest.mark.parametrize("file", markdown(), ids=lambda file: file.relative_to(ROOT).as_posix())
def test_pages_are_short(file: Path) -> None:
    name = file.relative_to(ROOT)
    if not GENERATED & {name.as_posix(), name.parent.as_posix()}:
        assert len(file.read_text().splitlines()) <= LONGEST_PAGE


def tokens(text: str) -> Iterator[Token]:
    """Every token of a page, those within lines too."""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        yield token
        yield from token.children or []


ITEM = r"\b(?:struct|enum|trait|type|const|static|mod|fn)\s+"
"""The words before the name of an item where Rust declares it."""


@cache
def rust() -> dict[str, str]:
    """The Rust files of the crates that are tracked, by path."""
    command = ["git", "ls-files", "crates/*.rs"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return {name: (ROOT / name).read_text() for name in names if (ROOT / name).is_file()}


def exists(code: str) -> bool:
    """True if the tree has what a page names in code font.

    That is a path, whole or the end of one; an item or a field of Rust; a member of a type or of a module
    (`Type::method`, `Type.field`), looked up in the files of the crate that declare or implement the owner.
    """
    if re.fullmatch(r"[\w./-]+\.(?:rs|py|md|txt)|[\w-]+(?:/[\w-]+)+", code):
        return (ROOT / code).exists() or any(f"/{name}".endswith(f"/{code}") for name in rust())
    owner, _, member = re.sub(r"\(\)$", "", code).replace("::", ".").rpartition(".")
    end = "[,({]" if member[:1].isupper() else ":"
    declared = rf"{ITEM}{member}\b|^ *(?:pub(?:\([\w ]+\))? )?{member}\b ?{end}"
    owns = rf"{ITEM}{owner}\b|\bimpl\b[^{{]*\b{owner}\b"
    return (ROOT / "crates" / code).is_dir() or any(
        re.search(declared, text, re.MULTILINE)
        for name, text in rust().items()
        if not owner or Path(name).stem == owner or re.search(owns, text, re.MULTILINE)
    )


def test_the_next_stages_name_what_exists() -> None:
    page = (ROOT / "docs" / "next-stages.md").read_text()
    names = {token.content for token in tokens(page) if token.type == "code_inline"}
    assert len(names) > 50
    assert [name for name in sorted(names) if not exists(name)] == []
    for invented in [
        "crates/hwsim",
        "aggregate.rs",
        "Aggregator",
        "Frame.aggregate",
        "Frame.held",
        "ip::coupled",
    ]:
        assert not exists(invented), invented


def links(text: str) -> Iterator[str]:
    """Where the links and images of a page lead."""
    for token in tokens(text):
        for key in ("href", "src"):
            if key in token.attrs:
                yield str(token.attrs[key])


SOURCE_FILE = re.compile(r"`((?:\w+/)+\w+\.(?:rs|py))`")
"""A file as pages name it: with a folder, and without what all of them have in common."""


@pytest.mark.parametrize("file", sorted((ROOT / "docs").glob("*.md")), ids=lambda file: file.name)
def test_files_that_a_page_names_exist(file: Path) -> None:
    crates = sorted((ROOT / "crates").iterdir())
    folders = [ROOT, ROOT / "python", ROOT / "crates", *crates]
    named = set(SOURCE_FILE.findall(file.read_text(encoding="utf-8")))
    gone = {name for name in named if not any((folder / name).is_file() for folder in folders)}
    assert {name for name in gone if "NAME" not in name} == set()


@cache
def anchors(file: Path) -> set[str]:
    """The anchors of a page: its headings as forges make them, and those that are written."""
    text = file.read_text()
    found = set(re.findall(r'<a id="([^"]+)">', text))
    parsed = MarkdownIt("commonmark").enable("table").parse(text)
    for opening, content in pairwise(parsed):
        if opening.type == "heading_open":
            plain = "".join(token.content for token in content.children or [])
            found.add(re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-"))
    return found


def test_every_entry_of_the_python_page_has_a_meaning() -> None:
    entries = re.findall(r"^- \*\*`.*(?:\n  .*)*", pages.python_page(), re.MULTILINE)
    assert entries
    assert [text for text in entries if not re.match(r"- \*\*`\w+`\*\*\s\(`[^`]+`\):\s\S", text)] == []


def test_the_page_of_results_explains_each_counter_of_stations_queues_and_ends() -> None:
    result = airfair.run(airfair.Scenario.read(THREE_PAIRS, {"duration": "1 s", "warmup": "0 s"}))
    text = (ROOT / "docs" / "how-to" / "results.md").read_text()
    causes = set(
        re.findall(r"^- \*\*`([\w-]+)`\*\*: ", text.partition("## Why a frame is lost")[2], re.MULTILINE)
    )
    assert causes == set(result["stations"][0]["lost"])
    named = set(re.findall(r"`([\w-]+)`", text))
    counters = {key for key, value in result["stations"][0].items() if isinstance(value, int)}
    numbers = counters | set(result["ends"]) | {"mean_packets", "mean_wait_s", "packets"}
    assert numbers <= named


def test_every_direct_dependency_has_its_reason() -> None:
    text = (ROOT / "docs" / "dependencies.md").read_text()
    listed = set(re.findall(r"^- \*\*([\w.-]+)\*\*", text, re.MULTILINE))
    missing = sorted(name for name in direct() if name not in listed)
    assert not missing, f"no entry in docs/dependencies.md: {', '.join(missing)}"


def direct() -> set[str]:
    """Names of direct dependencies."""
    names = set()
    for file in [ROOT / "Cargo.toml", *ROOT.glob("crates/*/Cargo.toml"), *ROOT.glob("benches/**/Cargo.toml")]:
        names |= crates(tomllib.loads(file.read_text()))
    names |= crates(tomllib.loads((ROOT / "fuzz" / "Cargo.toml").read_text()))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return names | {re.split(r"[^\w.-]", requirement)[0] for group in groups for requirement in group}


def crates(manifest: dict[str, object]) -> set[str]:
    """Crates from elsewhere that a manifest names."""
    workspace = manifest.get("workspace", {})
    names = set()
    for owner in (manifest, workspace):
        assert isinstance(owner, dict)
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            names |= set(owner.get(kind, {}))
    return {name for name in names if not name.startswith("airfair-")}
