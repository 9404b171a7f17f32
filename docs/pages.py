"""Generated pages of the documentation.

`python docs/pages.py --write` writes them; without `--write` the program names those that have to be written
again. `first-scenario.md` is written by hand, except the output of its commands. `which-scheme.md` and what
the README takes from it are made from stored results of the suite; no run is done for them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import griffe
from airfair import capabilities, cli, reference
from airfair.output import write_atomically

DOCS = Path(__file__).resolve().parent
PACKAGE = Path(reference.__file__).resolve().parent
WRITTEN = "<!-- Written by `make pages` from the program. Do not edit. -->\n\n"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = 100
"""Longest signature on one line; width of the terminal in which commands are replayed."""


def pages() -> dict[str, Callable[[], str]]:
    """Every generated page: its path in the documentation, and the function that makes its text."""
    from docs.which_scheme.files import files

    return {
        "reference/scenario.md": lambda: WRITTEN + reference.scenario_page(),
        "reference/scenario.schema.json": reference.schema,
        "reference/capabilities.md": lambda: WRITTEN + capabilities.capability_page(),
        "reference/cli.md": lambda: WRITTEN + reference.command_page(cli.cli, "airfair"),
        "reference/python.md": lambda: WRITTEN + python_page(),
        "first-scenario.md": lambda: replayed((DOCS / "first-scenario.md").read_text()),
        **files(),
    }


def python_page() -> str:
    """The names of `import airfair`, from docstrings and types (of the compiled part: from its stub)."""
    package = griffe.load("airfair", search_paths=[PACKAGE.parent], allow_inspection=False)
    public = [package[str(name)] for name in package.exports or []]
    objects = [item.final_target if item.is_alias else item for item in public]
    results = package["results"]
    parts = [f"# Python\n\n{_docstring(package)}"]
    parts.append("## Functions\n")
    parts.extend(_function(item, f"airfair.{item.name}") for item in objects if item.is_function)
    parts.append("## Classes\n")
    classes = [item for item in objects if item.is_class and item.module is not results]
    parts.extend(_class(item) for item in classes)
    parts.append(f"## Results\n\n{_docstring(results)}")
    parts.extend(_typed_dict(item) for item in results.classes.values())
    return "\n".join(parts)


def _docstring(item: griffe.Object | griffe.Alias) -> str:
    """The docstring of an item, with indented code as a block."""
    text = item.docstring.value.strip() if item.docstring else ""
    code = re.compile(r"(?:^    .*\n?|^\n(?=    ))+", re.MULTILINE)
    return code.sub(lambda found: f"\n{_python(_dedented(found[0]))}", text + "\n")


def _dedented(text: str) -> str:
    return "\n".join(line[4:] for line in text.strip("\n").splitlines())


def _python(code: str) -> str:
    return f"```python\n{code}\n```\n"


def _function(item: griffe.Object | griffe.Alias, name: str, heading: str = "###") -> str:
    assert isinstance(item, griffe.Function)
    static = "@staticmethod\n" if "staticmethod" in item.labels else ""
    text = _docstring(item)
    return f"{heading} `{name}`\n\n{_python(f'{static}def {_wrapped(item)}')}\n{text}".rstrip() + "\n"


def _wrapped(function: griffe.Function) -> str:
    """The signature; with a line for each parameter where one line is too long."""
    whole = function.signature(return_type=True)
    if len(whole) <= WIDTH:
        return whole
    start, end = whole.index("(") + 1, whole.rindex(")")
    pieces, depth = [""], 0
    for sign in whole[start:end]:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += sign
    lines = "".join(f"    {piece.strip()},\n" for piece in pieces)
    return f"{whole[:start]}\n{lines}{whole[end:]}"


def _class(item: griffe.Object | griffe.Alias) -> str:
    assert isinstance(item, griffe.Class)
    bases = ", ".join(str(base) for base in item.bases)
    parts = [f"### `airfair.{item.name}`\n", _python(f"class {item.name}" + (f"({bases})" if bases else ""))]
    parts.append(_docstring(item))
    attributes = {name: found for name, found in item.attributes.items() if not name.startswith("_")}
    if attributes:
        parts.append(_attributes(attributes))
    for name, function in item.functions.items():
        if name == "__new__" or not name.startswith("_"):
            shown = f"{item.name}(...)" if name == "__new__" else f"{item.name}.{name}"
            parts.append(_function(function, shown, heading="####"))
    return "\n".join(parts)


def _typed_dict(item: griffe.Class) -> str:
    return f"### `{item.name}`\n\n{_docstring(item)}\n{_attributes(item.attributes)}"


def _attributes(attributes: Mapping[str, griffe.Attribute]) -> str:
    """A list of them, each with its type and its meaning."""
    return "".join(
        reference.entry(name, f"`{_type(item)}`", _docstring(item)) for name, item in attributes.items()
    )


def _type(attribute: griffe.Attribute) -> str:
    """As it is written, or as the parameter that it is set from."""
    if attribute.annotation is None and isinstance(attribute.parent, griffe.Class):
        made = attribute.parent.functions["__init__"].parameters
        return str(made[attribute.name].annotation) if attribute.name in made else "object"
    return str(attribute.annotation)


def replayed(text: str) -> str:
    """A page of instructions with the present output of its commands.

    A `toml` block is the file that the line before it names: "add" appends to it, anything else replaces it.
    A `sh` or `python` block is run; the `text` block after it is its output. A command that has to fail has
    its exit status in a comment.
    """
    with tempfile.TemporaryDirectory() as folder:
        return "".join(_replay(text, Path(folder)))


def _replay(text: str, folder: Path) -> Iterator[str]:
    end, printed = 0, ""
    for block in FENCE.finditer(text):
        before, language, body = text[end : block.start()], block[1], block[2]
        yield before
        end = block.end()
        if language == "text":
            body = printed
        elif language == "toml":
            _write(folder, before.strip().splitlines()[-1], body)
        elif language in {"sh", "python"}:
            printed = _printed(language, body, folder)
        yield f"```{language}\n{body}```"
    yield text[end:]


def _write(folder: Path, line: str, body: str) -> None:
    named = re.findall(r"`([\w.-]+)`", line)
    if not named:
        raise ValueError(f"which file is this? {line!r} names none")
    appended = re.search(r"\badd\b", line, re.IGNORECASE)
    with (folder / named[-1]).open("a" if appended else "w") as file:
        file.write(("\n" if appended else "") + body)


def _printed(language: str, body: str, folder: Path) -> str:
    command = ["bash", "-ec", body] if language == "sh" else [sys.executable, "-c", body]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "MPLBACKEND": "Agg", "COLUMNS": str(WIDTH)},
        timeout=120,
        check=False,
    )
    wanted = re.search(r"# exit status (\d+)", body)
    if done.returncode != (int(wanted[1]) if wanted else 0):
        raise RuntimeError(f"{body}ended with exit status {done.returncode}:\n{done.stdout}")
    # How long a run took differs from run to run.
    lines = [
        re.sub(r"(events in) [\d.]+ s$", r"\1 ... s", line.rstrip()) for line in done.stdout.splitlines()
    ]
    return "".join(f"{line}\n" for line in lines)


def stale() -> dict[str, str]:
    """Generated pages whose files differ, with their right text."""
    made = {name: make() for name, make in pages().items()}
    return {name: text for name, text in made.items() if not _is(DOCS / name, text)}


def _is(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text() == text


def main(arguments: list[str]) -> int:
    """Write stale pages, or name them and fail."""
    if arguments not in ([], ["--write"]):
        print("usage: pages.py [--write]", file=sys.stderr)
        return 2
    found = stale()
    for name, text in found.items():
        if arguments:
            write_atomically((DOCS / name).resolve(), text.encode())
        path = (DOCS / name).resolve().relative_to(DOCS.parent)
        print(f"{'written' if arguments else 'not up to date, see `make pages`'}: {path}")
    return 0 if arguments else int(bool(found))


if __name__ == "__main__":
    # Run as a file of this folder the program finds no package `docs`.
    sys.path.insert(0, str(DOCS.parent))
    sys.exit(main(sys.argv[1:]))
