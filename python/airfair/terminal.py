"""Standard output, and tables that lose nothing however narrow it is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import rich.console
from rich.text import Text

PIPE_WIDTH = 160
"""Columns where there is no terminal and COLUMNS does not say how many."""

GAP = "  "
"""Between two columns."""


class Console(rich.console.Console):
    """Standard output. A line that is wider than the terminal is not cut."""

    folds = True
    """True if a text that is wider than the terminal goes on in the next line."""

    def print(self, *objects: object, **options: object) -> None:
        """Print, whole."""
        usual = {"crop": False, "soft_wrap": not self.folds}
        super().print(*objects, **(usual | options))  # type: ignore[arg-type]


def console() -> Console:
    """Standard output; wide where there is no terminal, unless COLUMNS says how wide, and then no text is
    folded."""
    plain = Console(highlight=False, emoji=False)
    if plain.is_terminal or os.environ.get("COLUMNS", "").isdecimal():
        return plain
    piped = Console(highlight=False, emoji=False, width=PIPE_WIDTH)
    piped.folds = False
    return piped


class Table:
    """Columns that lose nothing, however narrow the terminal is.

    Identifiers and numbers are neither folded nor cut. Columns that do not fit beside the others follow
    below, in a further table that begins with the same `keys`; a line that is still too wide runs on. Prose
    is folded at its spaces; where there is no room for that, each row becomes a paragraph.
    """

    def __init__(self, left: Sequence[str], right: Sequence[str], prose: Sequence[str], keys: int) -> None:
        self._heads = [*left, *right]
        self._right = set(right)
        self._prose = [head in prose for head in self._heads]
        self._keys = keys
        self._rows: list[list[Text]] = []

    def add_row(self, *cells: str) -> None:
        """A row, with markup; a cell for each column."""
        self._rows.append([Text.from_markup(cell) for cell in cells])

    def __rich_console__(
        self, console: rich.console.Console, options: rich.console.ConsoleOptions
    ) -> rich.console.RenderResult:
        room = options.max_width
        widths = [max(cell.cell_len for cell in column) for column in self._columns()]
        if any(self._prose):
            fitting = self._fit(widths, room)
            yield from (
                self._paragraphs() if fitting is None else self._lines(range(len(widths)), fitting, console)
            )
            return
        for number, places in enumerate(self._groups(widths, room)):
            if number:
                yield Text()
            yield from self._lines(places, widths, console)

    @property
    def cells(self) -> list[list[str]]:
        """The heads, then each row, as plain texts."""
        return [self._heads, *([cell.plain for cell in row] for row in self._rows)]

    def parts(self, room: int) -> int:
        """The number of tables, one below the other, for a width of `room` columns."""
        return len(self._groups([max(cell.cell_len for cell in column) for column in self._columns()], room))

    def _columns(self) -> list[list[Text]]:
        heads = [Text(head) for head in self._heads]
        return [[head, *(row[k] for row in self._rows)] for k, head in enumerate(heads)]

    def _groups(self, widths: Sequence[int], room: int) -> list[list[int]]:
        """The columns of each table: the keys and as many others as there is room for, at least one."""
        keys = list(range(self._keys))

        def fits(others: Sequence[int]) -> bool:
            places = [*keys, *others]
            return sum(widths[k] for k in places) + len(GAP) * (len(places) - 1) <= room

        groups: list[list[int]] = [[]]
        for place in range(self._keys, len(widths)):
            if groups[-1] and not fits([*groups[-1], place]):
                groups.append([])
            groups[-1].append(place)
        # A table with one column below a full one says less than two halves.
        while len(groups) > 1 and len(groups[-2]) > len(groups[-1]) + 1:
            if not fits([groups[-2][-1], *groups[-1]]):
                break
            groups[-1].insert(0, groups[-2].pop())
        return [[*keys, *others] for others in groups]

    def _fit(self, widths: Sequence[int], room: int) -> list[int] | None:
        """Widths with which a table with prose fits, the widest prose folded first; None if none do."""
        words = [
            max((Text(word).cell_len for cell in column for word in cell.plain.split()), default=1)
            for column in self._columns()
        ]
        least = [
            max(word, min(width, 16)) if prose else width
            for word, width, prose in zip(words, widths, self._prose, strict=True)
        ]
        room -= len(GAP) * (len(widths) - 1)
        if sum(least) > room:
            return None
        fitting = list(widths)
        while sum(fitting) > room:
            spare = [width - smallest for width, smallest in zip(fitting, least, strict=True)]
            widest = max(
                (k for k, prose in enumerate(self._prose) if prose and spare[k]), key=fitting.__getitem__
            )
            fitting[widest] -= 1
        return fitting

    def _lines(
        self, places: Sequence[int], widths: Sequence[int], console: rich.console.Console
    ) -> Iterable[Text]:
        head = [Text(self._heads[k], style="bold") for k in places]
        yield self._line(head, places, widths)
        length = sum(widths[k] for k in places) + len(GAP) * (len(places) - 1)
        yield Text("\u2500" * length, no_wrap=True, overflow="ignore")
        for row in self._rows:
            folded = [list(row[k].wrap(console, widths[k])) if self._prose[k] else [row[k]] for k in places]
            for number in range(max(map(len, folded))):
                cells = [cell[number] if number < len(cell) else Text() for cell in folded]
                yield self._line(cells, places, widths)

    def _line(self, cells: Sequence[Text], places: Sequence[int], widths: Sequence[int]) -> Text:
        line = Text(no_wrap=True, overflow="ignore")
        for number, (place, cell) in enumerate(zip(places, cells, strict=True)):
            spaces = " " * (widths[place] - cell.cell_len)
            line.append(GAP if number else "")
            if self._heads[place] in self._right:
                line.append(spaces).append_text(cell)
            else:
                line.append_text(cell).append("" if number == len(places) - 1 else spaces)
        return line

    def _paragraphs(self) -> Iterable[Text]:
        for number, row in enumerate(self._rows):
            if number:
                yield Text()
            for head, cell in zip(self._heads, row, strict=True):
                if cell.plain:
                    yield Text(f"{head}: ", style="bold").append_text(Text().append_text(cell))


def plain_table(
    *left: str, right: Sequence[str] = (), prose: Sequence[str] = (), keys: int | None = None
) -> Table:
    """A table with columns of text at the left and of numbers at the right.

    The first `keys` columns tell rows apart: those at the left, unless said otherwise. `prose` are columns
    that may be folded.
    """
    return Table(left, right, prose, len(left) if keys is None else keys)
