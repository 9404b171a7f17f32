"""The page: every number and every scene in it is taken from the results."""

from __future__ import annotations

import re
from collections.abc import Sequence

from airfair.quantities import plural
from airfair.reference import wrapped

from .columns import COLUMNS, HEADINGS, KINDS, SECTIONS, Section
from .sentences import STARVING, best, first, starving, verdicts
from .table import Table, baseline, cells, mean

WRITTEN = "<!-- Written by `make which-scheme` from which-scheme.json. Do not edit. -->"

PICTURE = "![Who helps, who passes and who harms, scene by scene](which-scheme.svg)"

BEGIN = "<!-- Written by `make which-scheme`: begin -->"
END = "<!-- Written by `make which-scheme`: end -->"


def page(table: Table) -> str:
    """The page, as Markdown."""
    parts = [
        WRITTEN,
        "# What to try first where a flow starves",
        summary(table),
        wrapped(
            "Then measure your own network: `airfair advise MAP` tries all of these and more on it "
            "([how-to/advise.md](how-to/advise.md))."
        ),
        PICTURE,
        wrapped(_legend(table)),
    ]
    for section in SECTIONS:
        parts += _section(table, section)
    parts += ["## The scenes", _scenes(table), "## How this page is made", wrapped(_how(table))]
    return "\n\n".join(parts) + "\n"


def summary(table: Table, folder: str = "") -> str:
    """A sentence and three items on what to try first. `folder` leads from the page to the pages."""
    mesh, cell = starving(table, "mesh"), starving(table, "cell")
    sentence = (
        f"With drop-tail a flow gets less than {STARVING:g} of its fair rate, its [max-min "
        f"rate]({folder}how-to/optimum.md), in {len(mesh)} "
        f"{plural(len(mesh), 'mesh').replace('meshs', 'meshes')} and {len(cell)} "
        f"{plural(len(cell), 'cell')} of the [suite]({folder}how-to/suite.md). What to try first "
        "there:"
    )
    return f"{wrapped(sentence)}\n\n{_items(first(table))}"


def inserted(text: str, table: Table) -> str:
    """A page of the folder above with what to try first between its two marks."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"expected {BEGIN} and {END} once")
    return pattern.sub(lambda _: f"{BEGIN}\n\n{summary(table, 'docs/')}\n\n{END}", text)


def _items(lines: Sequence[str]) -> str:
    return "\n".join(wrapped(f"- {line}", "  ") for line in lines)


def _legend(table: Table) -> str:
    seeds = len(table["seeds"])
    return (
        "Each row is a [scene](#the-scenes), each column a selection beside drop-tail, whose own least "
        "share stands first: the part of its fair rate that the flow with the least gets. A number is the "
        "rise of this share. *Helps*, *passes* and *harms* are those of "
        "[the rule of the suite](how-to/suite.md#the-rule): a selection that harms may take from the "
        "least flow, or costs more of the total than its help is worth, or delays a call. It is *unclear* "
        "where only the end of an interval breaks a limit. In the lists "
        "below (*a* → *b*) is the least share with drop-tail and with the selection, *perhaps* is the "
        "lower end of the interval of its change, and a *total* is a part of drop-tail's. "
        f"Means over {seeds} {plural(seeds, 'seed')}."
    )


def _section(table: Table, section: Section) -> list[str]:
    parts = [f"## {section.title}", wrapped(section.about)]
    for column in section.columns:
        if len(section.columns) > 1:
            parts.append(f"### `{column.selection}`")
        parts.append(_items(verdicts(table, column)))
    return parts


def _scenes(table: Table) -> str:
    """A list of the scenes, with the best selection of each that does not harm there."""
    by_name = {scene["scene"]: scene for scene in table["scenes"]}
    parts = []
    for kind, names in KINDS.items():
        lines = []
        for name in (name for name in names if name in by_name):
            scene = by_name[name]
            before = mean(baseline(scene), "least")
            column = best(table, COLUMNS, [name])
            (cell,) = cells(table, column.selection, [name])
            found = f"best of what does not harm is `{column.selection}` with {cell.least[1]:.2f}"
            ending = found if cell.verdict == "help" else "nothing helps"
            lines.append(f"`{name}`: {_begun(scene['about'])}. Least with drop-tail {before:.2f}; {ending}.")
        heading = HEADINGS[kind]
        parts.append(f"{heading[0].upper()}{heading[1:]}:\n\n{_items(lines)}")
    return "\n\n".join(parts)


def _begun(text: str) -> str:
    return text.rstrip(".")


def _how(table: Table) -> str:
    selections = ", ".join(f"`{name}`" for name in table["schemes"])
    seeds = table["seeds"]
    return (
        "`make which-scheme` runs [`airfair suite`](how-to/suite.md) with these selections: "
        f"{selections}; and writes this page, its picture, and [which-scheme.json](which-scheme.json), "
        f"the results from which both are made (seeds {seeds[0]} to {seeds[-1]}). The schemes have "
        "their default parameters; in brackets stand changes of a row's scenario "
        "([how-to/compare.md](how-to/compare.md))."
    )
