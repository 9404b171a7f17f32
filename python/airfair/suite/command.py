"""`airfair suite`: progress and messages around the runs of a suite."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from .. import ending, terminal
from ..commands.common import print_message, run_progress, warn
from ..sweeping.drive import SweepError
from . import judging, show
from .reference import references
from .scenes import Suite
from .settings import Settings
from .work import tasks, work

OPTIMA = "optima"
"""Folder of the references, beside those of the scenes."""


def suite(
    chosen: Suite, settings: Settings, folder: Path, *, jobs: int | None, check: bool, as_json: bool
) -> int:
    """Do what is missing, judge, and print; the exit status."""
    bar = run_progress()
    done = 0
    with ExitStack() as stack:
        stack.enter_context(bar)
        parts = tasks(chosen, settings)
        total = sum(len(part.plan) for part in parts)
        task = bar.add_task("runs", total=total)

        def on_run(finished: int) -> None:
            nonlocal done
            done = finished
            bar.update(task, completed=finished)

        try:
            optima = bar.add_task("optima", total=sum(scene.judged == "optimum" for scene in chosen.scenes))
            found = references(chosen.scenes, folder / OPTIMA, jobs, lambda: bar.advance(optima))
            bar.remove_task(optima)
            runs, failed = work(parts, folder, jobs, on_run)
        except KeyboardInterrupt as error:
            stack.close()
            status = ending.status(error)
            print_message(f"{ending.word(status)}; {_kept(done, total, folder)}")
            return status
        except (OSError, SweepError) as error:
            stack.close()
            what = f"{folder}: {error.strerror or error}" if isinstance(error, OSError) else str(error)
            print_message(f"airfair: {what}; {_kept(done, total, folder)}")
            return 1
    for failure in failed:
        print_message(
            f"airfair: failed: {failure.cell}, {failure.scheme}, seed {failure.seed}: {failure.error}"
        )
    judgements = judging.judge(chosen, settings.rows, runs, found)
    broken = judging.failures(judgements, chosen) if check else None
    if as_json:
        print(show.as_json(chosen, settings, judgements, broken))
    else:
        show.show(chosen, settings, judgements, terminal.console())
        if broken is not None:
            print("\nWhat breaks the rule:" if broken else "\nThe rule holds.")
        for line in broken or ():
            print(line)
    warn(list(dict.fromkeys(f"{part.scene.identity}: {w}" for part in parts for w in part.plan.warnings)))
    return 1 if failed or broken else 0


def _kept(done: int, total: int, folder: Path) -> str:
    """The rest of a suite that was interrupted."""
    return f"{done} of {total} runs are finished and kept in {folder}; the same command does the rest"
