"""`airfair schemes`: the schemes and their parameters."""

from __future__ import annotations

import json

import click

from .. import experiment, tables, terminal
from .._core import InputError
from ..arguments import hint
from ..options import (
    json_option,
    schemes_from_option,
)
from .common import subcommand


@subcommand()
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--readings",
    is_flag=True,
    help="Only readings (how an open text of the scheme's source is read) and additions of ours.",
)
@schemes_from_option
@json_option
def schemes(names: tuple[str, ...], readings: bool, as_json: bool) -> None:
    """List the schemes, or print the parameters of some.

    Without NAME the command prints a line for each scheme. With NAME it prints the parameters of the paper
    and of the operator; with --readings those that choose how an open text of the paper is read. With --json
    it prints all that is known of the schemes.

    \b
    Example:
      airfair schemes
      airfair schemes red nred
      airfair schemes c3l --readings
    """
    known = experiment.schemes()
    known_names = [scheme["name"] for scheme in known]
    unknown = [name for name in names if name not in known_names]
    if unknown:
        raise InputError(
            "\n".join(f'there is no scheme "{name}"{hint(name, known_names)}' for name in unknown)
        )
    shown = [scheme for scheme in known if not names or scheme["name"] in names]
    if as_json:
        print(json.dumps(shown, separators=(",", ":"), ensure_ascii=False))
    elif names or readings:
        tables.show_schemes(shown, terminal.console(), readings=readings)
    else:
        tables.list_schemes(shown, terminal.console())
