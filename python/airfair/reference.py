"""The reference of scenario files and of the command line, from the definitions that the program uses."""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from typing import TypedDict, cast

import click

from . import _core

WIDTH = 120
"""Longest line of a page, characters."""

UNBROKEN = re.compile(r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)| (?=(?:[-+*#>|]|\d+[.)]|=+)(?: |$))")
"""Parts of Markdown in which no line may end: code, links, and the space before what would begin a block."""

UNBOUNDED = 2**31 - 1
"""Ranges that end here or later end where the type does, which says nothing to a reader."""

LONGEST = '"31536000 s"'
"""The longest time, a year."""

TYPES = {
    "integer": "whole number",
    "number": "number",
    "flag": "`true` or `false`",
    "text": "text",
    "name": "name",
}

INTRODUCTION = """\
# Scenario files

A scenario is one TOML file. The order of its tables, nodes and flows does not matter. A quantity is a text
with its unit (`"2 Mbit/s"`), never a bare number. Keys that are not listed here are errors:
`airfair check FILE` reports all errors at once, and `airfair check FILE --resolved` prints the file with
every default filled in.

`--set KEY=VALUE` overrides a value of the file: `--set radio.data_rate="11 Mbit/s"`,
`--set flow.update.stop="20 s"` (a flow or node by its id), `--set red.max_p=0.1` (a parameter of a scheme).
A table that is given as a whole replaces the whole table of the file: after
`--set radio='{queue_packets = 5}'` every other key of `radio` has its default.

Editors complete and check scenarios with the [JSON Schema](scenario.schema.json), which
`airfair reference --schema` prints too. For an editor with TOML schemas (in Visual Studio Code: Even Better
TOML or Tombi), begin the file with

```toml
#:schema ./scenario.schema.json
```

and the path or address of the schema. Only `airfair check` checks what the schema cannot: names of nodes,
combinations of keys, ranges of quantities.

The examples of this page, one after the other, are a scenario. An entry is a key with its type, its default
and its meaning.
"""


EXIT_STATUS = """\
Exit status: 0 success, 2 bad input, 1 a failure, 130 interrupted (Ctrl-C), 143 terminated
(SIGTERM). Results are printed on standard output,
errors, warnings and progress on standard error.
"""


class Quantity(TypedDict):
    """A type of value with a unit."""

    name: str
    expected: str
    units: list[str]
    signed: bool


class Key(TypedDict):
    """A key. Without `default` and `default_words` it is required."""

    name: str
    kind: str
    expected: str
    choices: list[str]
    range: str | None
    default: str | None
    default_words: str | None
    doc: str


class Table(TypedDict):
    """A table of the file."""

    name: str
    about: str
    keys: list[Key]


class Section(TypedDict):
    """Tables that belong together, with an example."""

    title: str
    example: str
    tables: list[Table]


class Reference(TypedDict):
    """The whole file format."""

    quantities: list[Quantity]
    sections: list[Section]


def wrapped(text: str, indent: str = "") -> str:
    """A paragraph of Markdown in lines of at most `WIDTH` characters, the later ones after `indent`."""
    kept = UNBROKEN.sub(lambda found: found[0].replace(" ", "\0"), " ".join(text.split()))
    lines = textwrap.wrap(
        kept, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace("\0", " ")


def entry(name: str, details: str, text: str) -> str:
    """An entry of a list: a name, details in brackets, a text; either may be empty."""
    head = f"- **`{name}`**" + (f" ({details})" if details else "")
    return wrapped(f"{head}: {text}" if text else head, "  ") + "\n"


def scenario_page() -> str:
    """Every key of scenario files, as a page."""
    reference = cast(Reference, json.loads(_core.reference()))
    parts = [INTRODUCTION, _quantities(reference["quantities"])]
    with_unit = {quantity["name"] for quantity in reference["quantities"]}
    for section in reference["sections"]:
        parts.append(f"## {section['title']}\n\n```toml\n{section['example']}```\n")
        parts.extend(_table(table, with_unit) for table in section["tables"])
    return "\n".join(parts)


def schema() -> str:
    """The JSON Schema (draft 2020-12) of scenario files."""
    return _core.scenario_schema() + "\n"


def command_page(group: click.Group, name: str) -> str:
    """Every command of a command line, as a page."""
    parts = [
        "# Command line\n",
        EXIT_STATUS,
        _command(group, _context(group, name)),
    ]
    return "\n".join(parts)


def example_of(command: click.Command) -> list[str]:
    """The commands of the example in a command's help."""
    return _help(command)[1]


def _help(command: click.Command) -> tuple[str, list[str]]:
    """The text of a command's help, and the commands of its example."""
    text, _, example = inspect.cleandoc(command.help or "").partition("\b\nExample:\n")
    example = re.sub(r"\s*\\\n\s*", " ", example)  # a command over several lines
    return text.replace("\b", ""), [line.strip() for line in example.splitlines() if line.strip()]


def _quantities(quantities: list[Quantity]) -> str:
    rows = [
        [quantity["name"], ", ".join(f"`{unit}`" for unit in quantity["units"]), *_example(quantity)]
        for quantity in quantities
    ]
    table = _rows(["type", "units", "example", "may be negative"], rows)
    return (
        f"## Quantities\n\nA space before the unit and `_` between digits (`100_000`) are allowed.\n\n{table}"
    )


def _example(quantity: Quantity) -> tuple[str, str]:
    quoted = re.search(r'"[^"]+"', quantity["expected"])
    return f"`{quoted[0]}`" if quoted else "", "yes" if quantity["signed"] else "no"


def _table(table: Table, with_unit: set[str]) -> str:
    place, _, tag = table["name"].partition(" with ")
    heading = f"`{place}` with `{tag}`" if tag else place.capitalize() if " " in place else f"`{place}`"
    text = f"### {heading}\n\n{wrapped(_prose(table['about']))}\n"
    if not table["keys"]:
        return f"{text}\nNo keys.\n"
    entries = [
        entry(key["name"], f"{_type(key, with_unit)}; {_default(key)}", _prose(key["doc"]))
        for key in table["keys"]
    ]
    return f"{text}\n{''.join(entries)}"


def _type(key: Key, with_unit: set[str]) -> str:
    words = ", ".join(f'`"{word}"`' for word in key["choices"])
    if key["kind"] == "choice":
        return words
    if key["kind"] in with_unit:
        text = f"[{key['kind']}](#quantities)"
    elif key["kind"] in TYPES:
        text = TYPES[key["kind"]]
    else:
        # The option's own words name the choices.
        return _prose(key["expected"])
    if key["range"] is not None:
        least, _, most = key["range"].partition(" to ")
        text += f", from {least}" if _says_nothing(most) else f", {least} to {most}"
    return f"{words} or {text}" if words else text


def _says_nothing(most: str) -> bool:
    return most == LONGEST or (most.isdigit() and int(most) >= UNBOUNDED)


def _default(key: Key) -> str:
    if key["default"] is not None:
        return f"default `{key['default']}`"
    return "**required**" if key["default_words"] is None else f"default {_prose(key['default_words'])}"


def _prose(text: str) -> str:
    """Plain text as Markdown: code stays as it is, a star is a star."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([*\[\]<])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def _rows(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in lines)


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    return click.Context(command, parent, name, **command.context_settings)


def _command(command: click.Command, context: click.Context) -> str:
    text, example = _help(command)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    parts = [f"## {context.command_path}\n", f"```text\n{usage}\n```\n"]
    parts.extend(f"{wrapped(_prose(paragraph))}\n" for paragraph in text.split("\n\n") if paragraph.strip())
    if example:
        parts.append("```sh\n" + "\n".join(example) + "\n```\n")
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    parts.append("".join(entry(name, "", _prose(text)) for name, text in filter(None, records) if text))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            if child is not None and not child.hidden:
                parts.append(_command(child, _context(child, name, context)))
    return "\n".join(parts)
