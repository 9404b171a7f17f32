"""Schemes in a file or module of their own, which any process can load."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from .._core import InputError, SchemeError
from ..arguments import as_path
from .register import registered

_loaded: list[str] = []


def load_schemes(where: str | os.PathLike[str]) -> None:
    """Import a file (`schemes/mine.py`) or a module (`mine.schemes`) whose classes register themselves.

    A second call with the same file or module does nothing. Schemes are known in one process only: another,
    such as a worker of a pool, has to load them itself, for instance as `initializer=airfair.load_schemes`.
    Raises `InputError` if there is no such file or module, or if it registers nothing; exceptions of its
    code are not caught.
    """
    name = as_path("where", where, "the path of a file, or the name of a module")
    is_file = name.endswith(".py") or os.sep in name
    if is_file:
        name = str(Path(name).resolve())
    if name in _loaded:
        return
    before = len(registered)
    if is_file:
        _import_file(Path(name))
    else:
        _import_module(name)
    # A module that was imported earlier has registered its schemes then.
    if len(registered) == before and not any(_package(of.__module__) == _package(name) for of in registered):
        raise InputError(f"{where}: it registers no scheme; expected classes with @airfair.register")
    _loaded.append(name)


def loaded() -> tuple[str, ...]:
    """Files and modules that were loaded, for `load_schemes` in another process: whole paths, names of
    modules."""
    return tuple(_loaded)


def _package(module: str) -> str:
    """The outermost package of a module."""
    return module.partition(".")[0]


def _import_file(path: Path) -> None:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; expected Python code that registers schemes")
    # A name of its own, that other processes find too, hides no module and lets its objects be pickled.
    name = f"airfair_schemes_{path.stem}_{sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path}: not Python code")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _not_ending(path):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _import_module(name: str) -> None:
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise InputError(f"{name}: there is no such module; a file is named with its ending, ./{name}.py")
    with _not_ending(name):
        importlib.import_module(name)


@contextmanager
def _not_ending(where: object) -> Iterator[None]:
    """Code that calls `sys.exit` must not end the program without a word. Raises `SchemeError` instead."""
    try:
        yield
    except SystemExit as error:
        told = f"{where}: sys.exit({error.code!r}) in a file of schemes; expected that it only registers them"
        raise SchemeError(told).with_traceback(error.__traceback__) from None
