"""The runs that are wanted of every scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BASELINE = "droptail"
"""The scheme with which all others are compared: no scheme at all."""


@dataclass(frozen=True)
class Settings:
    """Schemes, seeds, and values that differ from those of the files."""

    schemes: Sequence[str]
    seeds: Sequence[int]
    common: Sequence[str] = field(default_factory=list)
    """Values that replace those of all scenes, as of `--set`."""
    own: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The same for the runs of single schemes, the common ones included."""

    @property
    def rows(self) -> list[str]:
        """The schemes of the table, drop-tail first."""
        return [BASELINE, *(scheme for scheme in self.schemes if scheme != BASELINE)]
