"""`airfair sweep`: progress and messages around `airfair.sweep`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from .. import ending, terminal
from .._core import InputError
from ..commands.common import print_message, run_progress, warn
from . import dataset
from .api import folder_of, run_plan
from .drive import Progress, SweepError
from .plan import Plan
from .reading import Sweep
from .show import show_sweep
from .study import read_study


def sweep(
    file: Path,
    *,
    out: Path | None,
    jobs: int | None,
    dask: str | None,
    overrides: Sequence[str],
    flows: bool,
    as_json: bool,
) -> int:
    """Run a study and print its summary; the exit status."""
    if str(file) == "-":
        raise InputError("-: what a study names is found from its folder; expected the file of a study")
    bar = run_progress()
    done = Progress(0)
    with ExitStack() as stack:
        stack.enter_context(bar)
        checking = bar.add_task("scenarios", total=None)
        plan = Plan(
            read_study(file), overrides, lambda n, total: bar.update(checking, completed=n, total=total)
        )
        bar.remove_task(checking)
        folder = folder_of(plan, out)
        task = bar.add_task("runs", total=len(plan), completed=0)

        def on_run(progress: Progress) -> None:
            nonlocal done
            if done is not progress:
                done = progress
                # Runs that were there before say nothing about the time that the rest takes.
                bar.reset(task, total=progress.total, completed=progress.finished)
            bar.update(task, completed=progress.finished + len(progress.failed))

        try:
            result = run_plan(plan, out=folder, jobs=jobs, dask=dask, on_run=on_run)
        except KeyboardInterrupt as error:
            stack.close()
            status = ending.status(error)
            print_message(f"{ending.word(status)}; {_kept(done, folder)}")
            return status
        except (OSError, SweepError) as error:
            stack.close()
            what = f"{folder}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
            print_message(f"airfair: {what}; {_kept(done, folder)}")
            return 1
    if as_json:
        _print_json(result)
    else:
        show_sweep(result, terminal.console(), flows=flows)
        print(f"\n{folder / 'runs'}, {folder / 'flows'}: the tables, as Parquet")
    warn(plan.warnings)
    for failure in done.failed:
        print_message(
            f"airfair: failed: {failure.cell}, {failure.scheme}, seed {failure.seed}: {failure.error}"
        )
    return 1 if done.failed else 0


def _kept(done: Progress, folder: Path) -> str:
    """The rest of a sweep that was interrupted."""
    if not done.total:
        return "nothing was run"
    kept = f"{done.finished} of {done.total} runs are finished and kept in {folder}"
    return f"{kept}; the same command does the rest"


def _print_json(result: Sweep) -> None:
    """One object, a case a line: a sweep of many cases need not fit into memory as text."""
    study = result.about["study"]
    head = {
        "format": dataset.FORMAT,
        "study": study["name"],
        "folder": str(result.folder),
        "schemes": study["schemes"],
        "seeds": study["seeds"],
        "runs": result.total,
        "finished": result.arrow("runs").num_rows,
        "failed": [failure._asdict() for failure in result.failed],
    }
    print(json.dumps(head)[:-1] + ', "cases": [', end="")
    for i, case in enumerate(result.summary()):
        print("," if i else "", json.dumps(case), sep="\n", end="")
    print("\n]}")
