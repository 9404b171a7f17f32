"""Worker processes: the death of one fails only its own run, and none outlives the driver."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar

from ..ending import deferred
from . import worker

P = ParamSpec("P")
T = TypeVar("T")


class Processes(Executor):
    """Worker processes, each a pool of its own.

    Where a process dies (killed, out of memory), only its run fails, with `BrokenExecutor`;
    another process takes its place. Submit no more runs at a time than there are processes.

    Processes come from a fork server: forking this one, which may have threads, would not be safe.
    """

    def __init__(self, count: int) -> None:
        """Start nothing yet: a process starts with its first run."""
        self.count = count
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([worker.__name__])
        # The workers wait at the other end: it closes when this process ends, however it ends.
        self._theirs, self._ours = self._context.Pipe(duplex=False)
        self._pools: list[ProcessPoolExecutor | None] = [None] * count
        self._free = list(range(count))
        self._lock = threading.Lock()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Submit a run to a free process."""
        with self._lock:
            if not self._free:
                raise RuntimeError("more runs than processes")
            place = self._free.pop()
        future = self._start(place, fn, *args, **kwargs)
        future.add_done_callback(lambda done: self._done(place, done))
        return future

    def _start(self, place: int, fn: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        for _ in range(2):
            _start_helpers()
            pool = self._pools[place]
            if pool is None:
                pool = ProcessPoolExecutor(1, self._context, initializer=_begin, initargs=(self._theirs,))
                self._pools[place] = pool
            try:
                # A process that has begun to start must not be forgotten: it would look in vain for what this
                # process has made for it.
                with deferred():
                    return pool.submit(fn, *args, **kwargs)
            # The worker died while it had nothing to do, or dies just now: the pool's own pipe may be closed
            # while the run is handed to it.
            except (BrokenExecutor, OSError) as error:
                self._pools[place] = None
                why = str(error) if isinstance(error, OSError) else ""
        broken = Future[T]()
        broken.set_exception(BrokenExecutor(f"a worker process cannot be started{why and f': {why}'}"))
        return broken

    def _done(self, place: int, future: Future[T]) -> None:
        if not future.cancelled() and isinstance(future.exception(), BrokenExecutor):
            self._pools[place] = None
        with self._lock:
            self._free.append(place)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes at once, whatever they do."""
        self._ours.close()
        for pool in self._pools:
            if pool is not None:
                with suppress(OSError):  # it is closing its own pipe just now, since its process has died
                    pool.shutdown(wait=wait, cancel_futures=cancel_futures)
        self._theirs.close()


def _start_helpers() -> None:
    """Start the fork server and the tracker of resources, unless they run. A terminal that closes sends
    SIGHUP to every process: to these and to the workers it stays blocked, since the driver ends them when it
    has kept what is finished."""
    with deferred():
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
        try:
            forkserver.ensure_running()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _begin(lifeline: Connection) -> None:
    """In a new worker: leave Ctrl-C to the driver, and end when the driver ends or says so."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(lifeline,), daemon=True).start()


def _end_with(lifeline: Connection) -> None:
    try:
        lifeline.recv()
    except (EOFError, OSError):
        os._exit(0)
