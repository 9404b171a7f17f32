"""Options of the command line: those of several commands, groups of them, and which option needs which."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from .arguments import SEED_LIMIT, refuse_own

Command = TypeVar("Command", bound=Callable[..., Any])


class NumberRange(click.FloatRange):
    """A range of numbers; "nan" is not in it."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


SEED = click.IntRange(0, SEED_LIMIT - 1)

file_argument = click.argument("file", type=click.Path(path_type=Path))


def _of_all_schemes(
    _context: click.Context, _option: click.Parameter, overrides: tuple[str, ...]
) -> tuple[str, ...]:
    refuse_own(overrides, "--set ")
    return overrides


set_option = click.option(
    "--set",
    "overrides",
    metavar="KEY=VALUE",
    multiple=True,
    callback=_of_all_schemes,
    help='Replace a value of the file, such as radio.data_rate="2 Mbit/s"; may be given many times. A table '
    "that is given as a whole replaces the whole table of the file.",
)
window_option = click.option(
    "--window",
    "windows",
    metavar="TIME",
    multiple=True,
    help='Also measure fairness in windows of this length, such as "1 s"; may be given many times.',
)
report_option = click.option(
    "--report",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write a page with pictures, tables and the scenario: one HTML file.",
)
optimum_option = click.option(
    "--optimum",
    is_flag=True,
    help="Also show goodputs as shares of the max-min rates that the air allows: see `airfair optimum`.",
)
verdict_option = click.option(
    "--optimum",
    is_flag=True,
    help="Judge goodputs by the best rates that the air allows, also where computing these takes long; where "
    "their model does not apply, by a run with drop-tail.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")


def _load(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> None:
    if names:
        from .scheme import load_schemes

        for name in names:
            load_schemes(name)


schemes_from_option = click.option(
    "--schemes-from",
    metavar="FILE.py|MODULE",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_load,
    help="Schemes written in Python; may be given many times.",
)


def scheme_names(start: str) -> list[str]:
    """Names of schemes that begin with this text, for the completion of shells."""
    from .experiment import schemes

    return [scheme["name"] for scheme in schemes() if scheme["name"].startswith(start)]


def grouped(kind: type, *options: Callable[[Any], Any]) -> Callable[[Command], Any]:
    """A decorator that gives a command these options, whose values become one argument.

    The values are the fields of the dataclass `kind`; the argument has the name of the class in lower case.
    """

    def decorate(command: Command) -> Any:  # noqa: ANN401 - as click's own decorators
        @wraps(command)
        def call(**values: object) -> object:
            group = kind(**{of.name: values.pop(of.name) for of in fields(kind)})
            return command(**{kind.__name__.lower(): group}, **values)

        for option in reversed(options):
            call = option(call)
        return call

    return decorate


@dataclass(frozen=True)
class Choice:
    """One run of a scenario: the scheme, the seed, and values that replace those of the file."""

    scheme: str | None
    seed: int
    overrides: tuple[str, ...]


choice_options = grouped(
    Choice,
    click.option(
        "--scheme",
        metavar="NAME",
        shell_complete=lambda _context, _option, start: scheme_names(start),
        help="Scheme that runs; the scenario's own by default. See `airfair schemes`.",
    ),
    schemes_from_option,
    click.option("--seed", type=SEED, default=1, show_default=True, help="Seed of every random draw."),
    set_option,
)


@dataclass(frozen=True)
class Folder:
    """The folder of a run: tables over time, captures, the table of frames."""

    out: Path | None
    force: bool
    interval: str | None
    pcap: tuple[str, ...]
    snaplen: int | None
    errors: bool
    trace: bool
    start: str | None
    until: str | None
    states: bool

    def capture(self) -> dict[str, Any]:
        """The options of `airfair.Capture` that were given."""
        names = ("pcap", "snaplen", "errors", "trace", "start", "until", "states")
        return {name: value for name, value in asdict(self).items() if name in names and value is not None}


folder_options = grouped(
    Folder,
    click.option(
        "--out",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="Write run.json and tables over time (Parquet) into this new folder.",
    ),
    click.option("--force", is_flag=True, help="With --out: replace the folder of an older run."),
    click.option("--interval", metavar="TIME", help='With --out: length of a row in time, "1 s" by default.'),
    click.option(
        "--pcap",
        metavar="NODE",
        multiple=True,
        help="With --out: capture what the node's interfaces send and receive into NODE.pcapng; NODE:RADIO "
        "and NODE:NEIGHBOUR (a wire) choose one, `all` is everything. May be given many times.",
    ),
    click.option(
        "--snaplen",
        type=int,
        metavar="BYTES",
        help="With --pcap: bytes kept of a packet, 160 by default; 0: all.",
    ),
    click.option(
        "--pcap-errors", "errors", is_flag=True, help="With --pcap: frames that arrived with errors, too."
    ),
    click.option(
        "--trace",
        is_flag=True,
        help="With --out: write frames.parquet, a row for every transmission, reception, loss and drop.",
    ),
    click.option(
        "--states",
        is_flag=True,
        help="With --out: write states.parquet, a row for every back-off, NAV and EIFS of a station.",
    ),
    click.option(
        "--from", "start", metavar="TIME", help="With --pcap, --trace or --states: from this time on."
    ),
    click.option("--until", metavar="TIME", help="With --pcap, --trace or --states: before this time."),
)


@dataclass(frozen=True)
class Chart:
    """The contents of a timeline: a window of time, stations, and states of the MAC if asked for."""

    timeline: bool
    start: str | None
    until: str | None
    stations: str | None
    states: bool

    def given(self) -> dict[str, bool]:
        """By option: whether it was given."""
        values = {"--from": self.start, "--until": self.until, "--stations": self.stations}
        return {name: value is not None for name, value in values.items()} | {"--states": self.states}


chart_options = grouped(
    Chart,
    click.option(
        "--timeline",
        is_flag=True,
        help="The same as `--kind timeline`: the air as a chart by station, of a folder that was recorded "
        "with --trace.",
    ),
    click.option(
        "--from",
        "start",
        metavar="TIME",
        help="With `timeline`, `batches`: start of the window; by default the end of the warm-up, or the "
        "first frame after it.",
    ),
    click.option(
        "--until",
        metavar="TIME",
        help="With `timeline`, `batches`: end of the window, by default 30 ms after its start, or the end of "
        "the third batch.",
    ),
    click.option(
        "--stations",
        metavar="ID,...",
        help="With `timeline`: nodes, in the order of their lanes. By default all; of more than 32 those "
        "with frames in the window.",
    ),
    click.option(
        "--states",
        is_flag=True,
        help="With `timeline`: back-off, NAV and EIFS, too, of a folder that was recorded with --states.",
    ),
)


@dataclass(frozen=True)
class Pace:
    """A run that is paced by the wall clock, `speed` times as fast."""

    realtime: bool
    speed: float | None


pace_options = grouped(
    Pace,
    click.option("--realtime", is_flag=True, help="Pace the run by the wall clock, and report its lateness."),
    click.option("--speed", type=float, metavar="X", help="With --realtime: X times as fast as the clock."),
)


@dataclass(frozen=True)
class Seeds:
    """The seeds of a comparison: how many from which on, or until intervals are narrow enough."""

    seeds: int
    seed_from: int
    until_halfwidth: str | None
    statistics: tuple[str, ...]
    max_seeds: int | None


def seeds_options(statistics: Sequence[str], max_seeds: int) -> Callable[[Command], Any]:
    """The options of `Seeds`, whose help names these defaults."""
    return grouped(
        Seeds,
        click.option(
            "--seeds", type=click.IntRange(1), default=10, show_default=True, help="Number of seeds."
        ),
        click.option("--seed-from", type=SEED, default=1, show_default=True, help="The first seed."),
        click.option(
            "--until-halfwidth",
            metavar="PERCENT",
            help='Add seeds until each 95 % half-width is at most this much of its mean, such as "5%".',
        ),
        click.option(
            "--statistic",
            "statistics",
            metavar="NAME",
            multiple=True,
            help="With --until-halfwidth: statistic whose half-width is limited, a key of --json or flow.ID; "
            f"may be given many times. By default {' and '.join(statistics)}.",
        ),
        click.option(
            "--max-seeds",
            type=click.IntRange(1),
            help=f"With --until-halfwidth: largest number of seeds, by default {max_seeds}.",
        ),
    )


NEEDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "run": {
        "--speed": ("--realtime",),
        "--force": ("--out",),
        "--interval": ("--out",),
        "--pcap": ("--out",),
        "--trace": ("--out",),
        "--states": ("--out",),
        "--snaplen": ("--pcap",),
        "--pcap-errors": ("--pcap",),
        "--node": ("--trace", "--states"),
        "--from": ("--pcap", "--trace", "--states"),
        "--until": ("--pcap", "--trace", "--states"),
    },
    "compare": {"--statistic": ("--until-halfwidth",), "--max-seeds": ("--until-halfwidth",)},
    "explain": {"--budget": ("--try",), "--runs": ("--try",)},
}
"""By command: an option, and those of which it needs one."""

EXCLUDES: Mapping[str, Sequence[tuple[str, str]]] = {
    "run": (
        ("--out", "--realtime"),
        ("--window", "--realtime"),
        ("--report", "--realtime"),
        ("--out", "--wire-check"),
        ("--report", "--wire-check"),
        ("--realtime", "--wire-check"),
        ("--out", "--report"),
    ),
    "plot": (("--kind", "--timeline"),),
    "advise": (("--budget", "--runs"),),
    "explain": (("--budget", "--runs"),),
}
"""By command: two options that do not go together."""


WHY: Mapping[tuple[str, str], str] = {
    ("--out", "--report"): "a report has series of its own; two commands with one seed give the same run",
}
"""The reason where a user could expect two options to go together."""


class CheckedCommand(click.Command):
    """A command that refuses options which need others, or exclude each other."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click has it
        """Check the options that were given, then call the command."""
        given = {
            option.opts[0]
            for option in self.params
            if option.name is not None
            and ctx.get_parameter_source(option.name) is ParameterSource.COMMANDLINE
        }
        for option, others in NEEDS.get(self.name or "", {}).items():
            if option in given and given.isdisjoint(others):
                raise click.UsageError(f"{option} goes with {' or '.join(others)}", ctx)
        for one, other in EXCLUDES.get(self.name or "", ()):
            if {one, other} <= given:
                why = f" ({WHY[one, other]})" if (one, other) in WHY else ""
                raise click.UsageError(f"{one} and {other} do not go together{why}", ctx)
        return super().invoke(ctx)
