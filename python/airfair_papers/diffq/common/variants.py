"""DiffQ in the scenes of figures 2 and 10 as it is and with a change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from airfair_papers.diffq.common import three
from airfair_papers.diffq.common.testbed import DIFFQ_TCP, DIFFQ_UDP, OURS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airfair.claims import Measured
    from airfair.paper import Series
    from matplotlib.figure import Figure

FOLDER = Path(__file__).parent.parent
SCENES = {"fig2": FOLDER / "fig2.toml", "fig10": FOLDER / "fig10.toml"}
FIRST = SCENES["fig2"]
READING = OURS[0]
READINGS = (READING,)


class Change(NamedTuple):
    """The differences of a variant: values, and the scheme if it is another."""

    overrides: tuple[str, ...]
    scheme: str | None = None

    def of(self, one: Series, change: str) -> Series:
        """A series with it."""
        return replace(
            one,
            name=f"{one.name}, {change}",
            scheme=self.scheme or one.scheme,
            overrides=(*one.overrides, *self.overrides),
        )


def name(scene: str, reading: str, change: str = "", *, tcp: bool = False) -> str:
    """The name of a series."""
    protocol = DIFFQ_TCP if tcp else DIFFQ_UDP
    return f"{three.name(protocol, reading, scene)}{f', {change}' if change else ''}"


def series(changes: Mapping[str, Change], *, tcp: bool = False) -> tuple[Series, ...]:
    """As it is, and with each change."""
    plain = three.series([DIFFQ_TCP if tcp else DIFFQ_UDP], READINGS, SCENES)
    return (*plain, *(change.of(one, told) for told, change in changes.items() for one in plain))


def draw(rows: Measured, figure: Figure, changes: Sequence[str], *, tcp: bool = False) -> None:
    """Goodputs of the three flows while all are there, static routes."""
    for axes, scene in zip(figure.subplots(1, len(SCENES)), SCENES, strict=True):
        series = {kind or "as it is": name(scene, READING, kind, tcp=tcp) for kind in ("", *changes)}
        three.goodputs(axes, rows, series)
        axes.set_title(f"{scene}, static routes")
