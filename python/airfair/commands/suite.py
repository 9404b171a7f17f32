"""`airfair suite`: schemes judged on scenes."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from .. import selections
from .._core import InputError
from ..options import SEED, json_option, schemes_from_option, set_option
from ..suite.settings import Settings
from .common import subcommand

SUITE = Path("scenarios/suite/suite.toml")
"""The suite that is run without a name."""

SCHEMES = "droptail,fq-codel,nred,diffq,c3l,qfcp,lbm"
"""Schemes that are judged without a name."""


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


@subcommand()
@click.argument("file", metavar="[SUITE]", type=click.Path(path_type=Path), default=SUITE)
@click.option(
    "--schemes",
    metavar="A,B",
    default=SCHEMES,
    show_default=True,
    help="Schemes, with commas; drop-tail, with which they are compared, is always there.",
)
@schemes_from_option
@click.option("--scenes", metavar="A,B", help="Scenes, with commas; by default all of the suite.")
@click.option("--seeds", type=click.IntRange(2), default=20, show_default=True, help="Number of seeds.")
@click.option("--seed-from", type=SEED, default=1, show_default=True, help="The first seed.")
@set_option
@click.option(
    "--heldout", is_flag=True, help="Thirty worlds drawn at random, on which nobody tunes, and no SUITE."
)
@click.option("--check", is_flag=True, help="Print what breaks the rule; the exit status is 1 then.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Folder of the results, by default out/suite/NAME. Runs that are finished there are not repeated.",
)
@click.option("--jobs", type=click.IntRange(1), help="Number of processes; by default the number of cores.")
@json_option
def suite(
    file: Path,
    schemes: str,
    scenes: str | None,
    seeds: int,
    seed_from: int,
    overrides: tuple[str, ...],
    heldout: bool,
    check: bool,
    out: Path | None,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Judge schemes on the scenes of a SUITE.

    Without SUITE these are the scenes of scenarios/suite/suite.toml. One table: for each scene and scheme the
    least flow and the total as shares of what the air allows, delay, control traffic, flows that win and lose
    against drop-tail, and whether the scheme helps or harms. The results are a folder of sweeps. The same
    command continues after any interruption.

    \b
    Example:
      airfair suite --schemes nred,c3l --scenes three-pairs,gateway --seeds 5
      airfair suite --check
    """
    from ..suite import command  # brings pyarrow
    from ..suite.scenes import held_out, read_suite

    context = click.get_current_context()
    if heldout and context.get_parameter_source("file") == ParameterSource.COMMANDLINE:
        raise click.UsageError("--heldout has worlds of its own: expected no SUITE with it")
    if file == SUITE and not heldout and not file.is_file():
        raise InputError(
            f"{SUITE}: no such file; expected to be in Airfair's source, which has the scenes, or the file "
            "of a suite, or --heldout"
        )
    chosen = held_out() if heldout else read_suite(file)
    if scenes is not None:
        chosen = chosen.only(_names(scenes))
    settings = Settings(
        [selection.name for selection in selections.read_all(schemes)],
        list(range(seed_from, seed_from + seeds)),
        list(overrides),
    )
    folder = Path("out") / "suite" / chosen.name if out is None else out
    context.exit(command.suite(chosen, settings, folder, jobs=jobs, check=check, as_json=as_json))
