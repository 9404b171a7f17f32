"""Wrong arguments: every public function answers them with `InputError`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import airfair
import pytest
from airfair import InputError, Scenario, Study, World, plots, scheme
from airfair.optimal.search import Setting
from matplotlib.figure import Figure

from tests.support import SCENARIOS, THREE_PAIRS

WRONG: tuple[object, ...] = (None, -1, 3.5, [], [None], "", "no such", b"\xff", {}, {"a": object()}, object())
"""Values that most parameters do not have; where one is right, the call succeeds."""

SCENARIO = Scenario.read(THREE_PAIRS, ["duration=50 ms", "warmup=0 s"])
STUDY = Study(name="s", scenario=SCENARIO, schemes="droptail", seeds=1)
RUN = airfair.run(SCENARIO)
ROWS = airfair.compare(SCENARIO, schemes=["droptail", "red"], seeds=[1, 2], windows="10 ms")
RECORDING = airfair.record(SCENARIO)
ANNOUNCED = airfair.record(
    Scenario.read(SCENARIOS / "chain.toml", ["duration=1 s", "warmup=0 s", 'radio.categories="diffq"']),
    scheme="diffq",
    capture=airfair.Capture(trace=True),
)

Call = tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]
"""A function with arguments that are right."""


def calls() -> dict[str, Call]:
    """Every public function and method with what it needs; other parameters have their defaults."""
    world, random, context = World(SCENARIO), scheme.Random(), scheme.Context(5)
    found: dict[str, Call] = {
        "run": (airfair.run, (SCENARIO,), {}),
        "advise": (airfair.advise, (SCENARIO,), {"runs": 20}),
        "Capture": (airfair.Capture, (), {"trace": True}),
        "compare": (airfair.compare, (SCENARIO,), {"schemes": "droptail", "seeds": [1, 2]}),
        # Without such a node no run begins: arguments are looked at before.
        "emulate": (airfair.emulate, (SCENARIO, [airfair.Program("zz", "true", ends_run=True)]), {}),
        "explain": (airfair.explain, (SCENARIO,), {}),
        "explanation_figure": (airfair.explanation_figure, (airfair.explain(SCENARIO, flow="left"),), {}),
        "frame": (airfair.frame, (ROWS,), {}),
        "import_network": (airfair.import_network, (THREE_PAIRS,), {}),
        "load_schemes": (airfair.load_schemes, ("airfair.scheme",), {}),
        "load_sweep": (airfair.load_sweep, ("nothing",), {}),
        "network": (airfair.network, (SCENARIO,), {}),
        "optimum": (airfair.optimum, (SCENARIO,), {}),
        "search_optimum": (airfair.search_optimum, (SCENARIO,), {"setting": Setting((1,), 0.1, 0.5)}),
        "record": (airfair.record, (SCENARIO,), {}),
        "record into a folder": (
            airfair.record,
            (SCENARIO,),
            {"out": "new", "force": True, "capture": airfair.Capture(pcap="all", trace=True)},
        ),
        "register": (airfair.register, (int,), {}),
        "schemes": (airfair.schemes, (), {}),
        "sweep": (airfair.sweep, (STUDY,), {"executor": ThreadPoolExecutor(1)}),
        "trace": (airfair.trace, (SCENARIO,), {}),
        "Study": (Study, (), {"name": "s", "scenario": SCENARIO}),
        "Study.read": (Study.read, ("nothing",), {}),
        "World": (World, (SCENARIO,), {}),
        "World.advance": (world.advance, (), {}),
        "World.inject": (world.inject, ("a1", "b1", 100, 1), {}),
        "Scenario.read": (Scenario.read, (THREE_PAIRS,), {}),
        "Scenario.parse": (Scenario.parse, (SCENARIO.text,), {}),
        "Scenario.from_dict": (Scenario.from_dict, (SCENARIO.to_dict(),), {}),
        "Scenario.edited": (SCENARIO.edited, ({},), {}),
        "Scenario.save": (SCENARIO.save, ("saved.toml",), {}),
        "Scenario.check": (SCENARIO.check, (), {}),
        "Scenario.check_scheme": (SCENARIO.check_scheme, ("red",), {}),
        "Scenario.unused_settings": (SCENARIO.unused_settings, (["red"],), {}),
        "Scenario.selected": (SCENARIO.selected, ("red[rts]",), {}),
        "Scenario.settings": (SCENARIO.settings, ("red[rts]",), {}),
        "Scenario.network": (SCENARIO.network, (), {}),
        "Scenario.optimum": (SCENARIO.optimum, (), {}),
        "Scenario.run": (SCENARIO.run, (), {}),
        "Scenario.record": (SCENARIO.record, ("10 ms",), {}),
        "Scenario.explain": (SCENARIO.explain, (), {}),
        "Scenario.emulate": (
            SCENARIO.emulate,
            ('{"programs": [{"node": "zz", "command": ["true"]}]}', "10 ms"),
            {},
        ),
        "Recording.load": (airfair.Recording.load, ("nothing",), {}),
        "Recording.save": (RECORDING.save, ("recording",), {}),
        "Recording.arrow": (RECORDING.arrow, ("queues",), {}),
        "Recording.pandas": (RECORDING.pandas, ("queues",), {}),
        "Random": (scheme.Random, (), {}),
        "Random.below": (random.below, (3,), {}),
        "Context": (scheme.Context, (), {}),
        "Context.set_timer": (context.set_timer, (1, 9), {}),
        "Context.drop": (context.drop, (1, "full"), {}),
        "Context.mark": (context.mark, (1, "full"), {}),
        "Context.send": (context.send, (b"1",), {}),
        "Context.set_probability": (context.set_probability, ("outgoing", 0.5), {}),
        "Context.deliver": (context.deliver, (1, 2), {}),
        "Context.route": (context.route, (1, 2), {}),
        "Context.hold": (context.hold, (1, 2, 3, 4), {}),
        "Context.count_whole": (context.count_whole, (1, 2), {}),
        "plots.save": (plots.save, (Figure(), "figure.svg"), {}),
    }
    takes = {
        "network": SCENARIO,
        "cdf": RUN,
        "channel": RECORDING,
        "differentials": ANNOUNCED,
    } | dict.fromkeys(("queues", "throughput", "windows"), RECORDING)
    for name in plots.__all__:
        if name not in ("Plot", "save"):
            found[f"plots.{name}"] = (getattr(plots, name), (takes.get(name, ROWS),), {})
    return found


@pytest.fixture(autouse=True)
def inside(tmp_path: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(tmp_path)
    yield
    os.chdir(before)


@pytest.mark.parametrize("name", calls())
def test_every_wrong_argument_is_an_input_error(name: str) -> None:
    function, arguments, options = calls()[name]
    parameters = inspect.signature(function).parameters
    right = inspect.signature(function).bind(*arguments, **options).arguments
    problems: list[tuple[str, object, Exception]] = []
    for parameter in parameters.values():
        for wrong in WRONG:
            if parameter.name == "dask" and isinstance(wrong, str):
                continue  # an address, and nobody answers there
            one = "gateway" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
            try:
                function(**{**right, one: wrong})
            except InputError:
                pass
            except OSError as error:
                if one not in FILES or not isinstance(wrong, str):
                    problems.append((one, wrong, error))
            except Exception as error:
                problems.append((one, wrong, error))
    assert not problems


FILES = ("out", "report", "path", "folder")
"""Parameters that name a file or folder to write: a text that no file can have is an `OSError`."""


def test_every_public_function_is_walked() -> None:
    walked = {name.partition(" ")[0].partition(".")[0] for name in calls()}
    functions = {name for name in airfair.__all__ if inspect.isfunction(getattr(airfair, name))}
    assert functions <= walked
    methods = {name.partition(".")[2] for name in calls() if name.startswith("Scenario.")}
    public = {
        name for name in vars(Scenario) if not name.startswith("_") and callable(getattr(Scenario, name))
    }
    assert public - methods == {"to_dict"}  # it takes nothing
