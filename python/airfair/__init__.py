"""Airfair: packets over shared air, the same every time.

    import airfair

    scenario = airfair.Scenario.read("scenarios/three-pairs.toml")
    scenario = scenario.edited({"radio.queue_packets": 20})
    result = airfair.run(scenario, scheme="droptail", seed=1)
    rows = airfair.compare(scenario, schemes=["droptail"], seeds=range(1, 11))
    table = airfair.frame(rows, flows=True)
    why = airfair.explain(scenario, flow="middle")["verdict"]
    over_time = airfair.record(scenario, interval="100 ms").pandas("flow_series")
    runs = airfair.sweep("scenarios/studies/queue.toml", out="out/queue").runs

Schemes written in Python: `airfair.scheme`.

Results are plain dicts, those of `airfair run --json` and `airfair compare --json`; units are in the names
of the keys. Times that functions take are texts with their units, such as "100 ms". An argument that cannot
be used raises `InputError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import plots, scheme
    from ._core import InputError, LimitError, Scenario, ScenarioError, SchemeError, Trace, World, __version__
    from .advising import Advice, advise
    from .capture import Capture
    from .dataframes import frame
    from .emulating.api import emulate
    from .emulating.programs import Program
    from .experiment import compare, network, run, schemes, trace
    from .explaining import Explanation, explain, explanation_figure
    from .importing import import_network
    from .optimal.model import Optimum, optimum
    from .optimal.search import search_optimum
    from .recording import Recording, record
    from .results import CompareRow, Estimate, FlowResult, ImportReport, Network, RunResult, SchemeInfo
    from .scheme import Scheme, load_schemes
    from .scheme.register import register
    from .sweeping.api import Sweep, SweepError, load_sweep, sweep
    from .sweeping.study import Study

__all__ = [
    "Advice",
    "Capture",
    "CompareRow",
    "Estimate",
    "Explanation",
    "FlowResult",
    "ImportReport",
    "InputError",
    "LimitError",
    "Network",
    "Optimum",
    "Program",
    "Recording",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "Scheme",
    "SchemeError",
    "SchemeInfo",
    "Study",
    "Sweep",
    "SweepError",
    "Trace",
    "World",
    "__version__",
    "advise",
    "compare",
    "emulate",
    "explain",
    "explanation_figure",
    "frame",
    "import_network",
    "load_schemes",
    "load_sweep",
    "network",
    "optimum",
    "plots",
    "record",
    "register",
    "run",
    "scheme",
    "schemes",
    "search_optimum",
    "sweep",
    "trace",
]


_MODULES = {
    "._core": (
        "InputError",
        "LimitError",
        "Scenario",
        "ScenarioError",
        "SchemeError",
        "Trace",
        "World",
        "__version__",
    ),
    ".advising": ("Advice", "advise"),
    ".capture": ("Capture",),
    ".experiment": ("compare", "network", "run", "schemes", "trace"),
    ".explaining": ("Explanation", "explain", "explanation_figure"),
    ".dataframes": ("frame",),
    ".emulating.api": ("emulate",),
    ".emulating.programs": ("Program",),
    ".importing": ("import_network",),
    ".optimal.model": ("Optimum", "optimum"),
    ".optimal.search": ("search_optimum",),
    ".recording": ("Recording", "record"),
    ".results": (
        "CompareRow",
        "Estimate",
        "FlowResult",
        "ImportReport",
        "Network",
        "RunResult",
        "SchemeInfo",
    ),
    ".scheme": ("Scheme", "load_schemes", "register"),
    ".sweeping.api": ("Sweep", "SweepError", "load_sweep", "sweep"),
    ".sweeping.study": ("Study",),
}
"""The module of each public name. It is loaded with the first use of a name: the command line puts
signals and streams in order before it loads anything, and plots, tables and sweeps take long to load."""

_PLACES = {name: module for module, names in _MODULES.items() for name in names}


def __dir__() -> list[str]:
    """The public names, sorted."""
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """Load a public name with its module."""
    if name in {"plots", "scheme"}:
        return import_module(f".{name}", __name__)
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_PLACES[name], __name__), name)
    globals()[name] = found
    return found
