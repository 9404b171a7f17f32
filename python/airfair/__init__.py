"""Airfair: packets over shared air, the same every time.

    import airfair

    scenario = airfair.Scenario.read("scenarios/three-pairs.toml")
    result = airfair.run(scenario, scheme="droptail", seed=1)
    rows = airfair.compare(scenario, schemes=["droptail"], seeds=range(1, 11))

Results are plain dicts of the contract of `airfair run --json` and `airfair compare --json`; units stand in
the names of the keys.
"""

from ._core import InputError, Scenario, ScenarioError, Trace, World, __version__, trace
from .experiment import compare, run, schemes
from .results import CompareRow, Estimate, FlowResult, RunResult, SchemeInfo

__all__ = [
    "CompareRow",
    "Estimate",
    "FlowResult",
    "InputError",
    "RunResult",
    "Scenario",
    "ScenarioError",
    "SchemeInfo",
    "Trace",
    "World",
    "__version__",
    "compare",
    "run",
    "schemes",
    "trace",
]
