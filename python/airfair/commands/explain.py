"""`airfair explain`: the goodput of a flow, explained."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.markup import escape

from .. import _core, experiment, explaining, terminal
from .._core import InputError
from ..inputs import refuse_inputs
from ..options import (
    Choice,
    choice_options,
    file_argument,
    json_option,
)
from .common import given, read_scenario, subcommand, warn, warn_unused, written_first


@subcommand()
@file_argument
@click.option(
    "--flow",
    metavar="ID",
    help="The flow to explain; by default the flow with the smallest part of its share.",
)
@choice_options
@json_option
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("out/explain.svg"),
    show_default=True,
    help="File of the picture: .svg, .png or .pdf.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Print all of long lists: every hop, node, cause and piece of advice.",
)
@click.option(
    "--try",
    "tried",
    is_flag=True,
    help="Also try this advice and other changes, as `airfair advise` does, and print first what helps.",
)
@click.option(
    "--budget",
    metavar="TIME",
    default="60 s",
    show_default=True,
    help="With --try: wall time that the runs may take.",
)
@click.option("--runs", type=click.IntRange(8), help="With --try: runs of the race instead of a budget.")
def explain(
    file: Path,
    flow: str | None,
    everything: bool,
    tried: bool,
    budget: str,
    runs: int | None,
    choice: Choice,
    as_json: bool,
    out: Path,
) -> None:
    """Explain the goodput of a flow, in words and in a picture.

    The explanation is made of counters of the run: how the flow's senders spend their time, which nodes
    keep them waiting, why their attempts fail, what TCP waits for. Of a flow that forwarders carry by
    broadcasts (MORE, ExOR) the command tells what they have sent, without a picture. FILE may be the folder
    of an emulation: its flows are explained by the counters of that run, without a picture.

    \b
    Example:
      airfair explain scenarios/three-pairs.toml --flow middle
      airfair explain scenarios/three-pairs.toml --try --budget "20 s"
    """
    from ..explaining import forwarded, show

    if file.name == "run.json" and file.is_file():
        file = file.parent
    if file.is_dir():
        asks = {"--scheme": choice.scheme, "--set": choice.overrides, "--try": tried, "--runs": runs}
        asked = [option for option, value in asks.items() if value]
        if asked or choice.seed != 1:
            option = asked[0] if asked else "--seed"
            raise InputError(f"{option}: {file} was run already; expected a scenario, or no such option")
        explain_folder(file, flow, as_json=as_json)
        return
    show.check_format(out)
    given("--budget", budget, _core.parse_time)
    scenario = read_scenario(file, choice.overrides)
    refuse_inputs(out, scenario.files)
    try:
        explanation = explaining.explain(scenario, flow=flow, scheme=choice.scheme, seed=choice.seed)
    except InputError:
        if flow is not None and flow not in scenario.flows:
            raise
        result = experiment.run(scenario, scheme=choice.scheme, seed=choice.seed)
        carried = forwarded.chosen(result, flow)
        if carried is None:
            raise
        if tried:
            raise InputError(
                "--try: forwarders carry the flow; expected another one, or `airfair advise` for the network"
            ) from None
        if as_json:
            print(json.dumps(forwarded.facts(result, carried)), flush=True)
        else:
            for line in forwarded.words(result, carried):
                terminal.console().print(escape(line))
            print(f"\n{forwarded.commands(result, carried)}")
        warn(result["warnings"])
        warn_unused(scenario, [result["scheme"]])
        return
    measured: list[str] = []
    if tried:
        from ..advising import show as advised
        from ..advising.trying import try_advice

        own = scenario if choice.scheme is None else scenario.selected(choice.scheme)
        measured = advised.lines(
            try_advice(explanation, own, budget_s=_core.parse_time(budget) / 1e9, runs=runs)
        )
    with written_first(out, lambda path: show.save(explanation, path)):
        if as_json:
            print(json.dumps(explanation), flush=True)
        else:
            show.show(explanation, terminal.console(), everything=everything, measured=measured)
        warn(explanation["warnings"])
        warn_unused(scenario, [choice.scheme or scenario.scheme])
    if not as_json:
        print(f"\npicture: {out}")


def explain_folder(folder: Path, flow: str | None, *, as_json: bool) -> None:
    """Explain a flow of an emulation that was recorded. Raises `InputError` for another folder."""
    from ..explaining import emulated, prose
    from ..recording import Recording

    recording = Recording.load(folder)
    if "emulation" not in recording.result:
        raise InputError(
            f"{folder}: the run was simulated; expected its scenario, which is run again, or the folder of "
            "an emulation"
        )
    told = emulated.facts(recording, emulated.chosen(recording, flow))
    if as_json:
        print(json.dumps(told), flush=True)
        return
    for line in emulated.words(told):
        prose.say(line, terminal.console(), hanging=2 if line.startswith("-") else 0)
    warn(recording.result["warnings"])
