"""The runs of a suite: a sweep for each scene, in a folder of its own. So finished runs are kept, and the
same command does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .._core import InputError
from ..sweeping.api import run_plan
from ..sweeping.drive import Failure, Progress
from ..sweeping.plan import Plan
from ..sweeping.reading import Sweep
from ..sweeping.study import Study
from .scenes import Scene, Suite
from .settings import Settings


class Task(NamedTuple):
    """A checked part of a suite: the schemes of a scene that have the same settings."""

    scene: Scene
    folder: str
    plan: Plan


class Control(NamedTuple):
    """The messages of a scheme, in the mean over its runs."""

    bps: float
    """Those that are counted by kind, on the air, with MAC headers."""
    messages_per_s: float
    """Those of agents, all nodes together."""


class Runs(NamedTuple):
    """The runs of a scene."""

    results: dict[str, dict[int, str]]
    """Results (JSON) by scheme and seed."""
    control: dict[str, Control]
    """Messages by scheme."""


def tasks(suite: Suite, settings: Settings) -> list[Task]:
    """Every part of the suite, checked. Raises `InputError` with everything that is wrong."""
    own = settings.own
    errors: dict[str, None] = {}
    for scheme in own:
        if scheme not in settings.rows:
            errors[f'--set "{scheme}:" is for no scheme of the suite'] = None
    found: list[Task] = []
    alike = [scheme for scheme in settings.rows if scheme not in own]
    groups = [(alike, list(settings.common)), *(([scheme], list(own[scheme])) for scheme in own)]
    for scene in suite.scenes:
        for schemes, overrides in groups:
            if not schemes:
                continue
            name = scene.identity if schemes is alike else f"{scene.identity}, {schemes[0]}"
            source = scene.source if isinstance(scene.source, Path) else scene.scenario()
            try:
                study = Study(name=name, scenario=source, schemes=schemes, seeds=settings.seeds)
                found.append(Task(scene, name, Plan(study, overrides)))
            except InputError as error:
                errors.update((f"{scene.identity}: {line}", None) for line in str(error).splitlines())
    if errors:
        raise InputError("\n".join(errors))
    return found


def work(
    parts: Sequence[Task], folder: Path, jobs: int | None, on_run: Callable[[int], object]
) -> tuple[dict[str, Runs], list[Failure]]:
    """Do the runs that are missing. The result: the runs of each scene, and those that failed. `on_run` gets
    the number of finished runs. Raises as `airfair.sweep` does."""
    done = 0

    def report(progress: Progress) -> None:
        on_run(done + progress.finished + len(progress.failed))

    found: dict[str, Runs] = {}
    failed: list[Failure] = []
    for task in parts:
        sweep = run_plan(task.plan, out=folder / task.folder, jobs=jobs, on_run=report)
        done += len(task.plan)
        failed += (f._replace(cell=task.scene.identity) for f in sweep.failed)
        runs = found.setdefault(task.scene.identity, Runs({}, {}))
        for by_scheme in sweep.results().values():
            runs.results.update(by_scheme)
        runs.control.update(_control(sweep))
    return found, failed


def _control(sweep: Sweep) -> Iterator[tuple[str, Control]]:
    """Each scheme with its messages."""
    rows = sweep.arrow("runs").select(["scheme", "control_bps", "messages", "duration_s"]).to_pylist()
    for scheme in dict.fromkeys(row["scheme"] for row in rows):
        of_scheme = [row for row in rows if row["scheme"] == scheme]
        rates = [row["control_bps"] or 0.0 for row in of_scheme]
        messages = [(row["messages"] or 0) / row["duration_s"] for row in of_scheme]
        yield scheme, Control(sum(rates) / len(rates), sum(messages) / len(messages))
