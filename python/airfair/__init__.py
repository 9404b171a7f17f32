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

from ._core import InputError, Scenario, ScenarioError, SchemeError, Trace, World, __version__
from .experiment import compare, network, run, schemes, trace
from .explaining import Explanation, explain, explanation_figure
from .frames import frame
from .importing import import_network
from .optimal.model import Optimum, optimum
from .results import CompareRow, Estimate, FlowResult, ImportReport, Network, RunResult, SchemeInfo

if TYPE_CHECKING:
    from . import plots, scheme
    from .capture import Capture
    from .optimal.search import search_optimum
    from .recording import Recording, record
    from .scheme import Scheme, load_schemes, register
    from .sweeping.api import Sweep, SweepError, load_sweep, sweep
    from .sweeping.study import Study

__all__ = [
    "Capture",
    "CompareRow",
    "Estimate",
    "Explanation",
    "FlowResult",
    "ImportReport",
    "InputError",
    "Network",
    "Optimum",
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
    "compare",
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


def __dir__() -> list[str]:
    """The public names, sorted."""
    return sorted(__all__)


def __getattr__(name: str) -> object:
    """Names whose modules are slow to import are loaded on first use."""
    if name == "plots":
        return import_module(".plots", __name__)
    if name in {"Capture", "Recording", "record"}:
        from . import recording

        return getattr(recording, name)
    if name == "search_optimum":
        from .optimal.search import search_optimum

        return search_optimum
    if name in {"Study", "Sweep", "SweepError", "load_sweep", "sweep"}:
        from .sweeping import api

        return getattr(api, name)
    if name in {"Scheme", "load_schemes", "register", "scheme"}:
        scheme = import_module(".scheme", __name__)
        return scheme if name == "scheme" else getattr(scheme, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
