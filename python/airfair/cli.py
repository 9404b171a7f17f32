"""The command line.

Exit status: 0 done, 2 bad input, 1 a failure, 130 interrupted, 143 terminated (128 and the number of the
signal). Errors and progress go to standard error.
"""

from __future__ import annotations

import errno
import io
import os
import sys
import warnings
from typing import NoReturn

import click

from . import _core, ending
from ._core import InputError, SchemeError
from .commands import (
    advise,
    check,
    compare,
    emulate,
    explain,
    import_map,
    load,
    optimum,
    paper,
    plot,
    reference,
    run,
    schemes,
    suite,
    sweep,
    trace,
)
from .commands.common import print_message


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(_core.__version__, prog_name="airfair")
def cli() -> None:
    """Airfair: packets over shared air, the same every time.

    \b
    Example:
      airfair compare scenarios/three-pairs.toml --schemes droptail,red,nred
    """


for command in (
    run.run,
    compare.compare,
    sweep.sweep,
    suite.suite,
    paper.run_paper,
    plot.plot,
    schemes.schemes,
    trace.trace,
    explain.explain,
    advise.advise,
    emulate.emulate,
    emulate.execute,
    emulate.shell,
    load.load,
    optimum.optimum,
    check.check,
    import_map.import_map,
    reference.show_reference,
):
    cli.add_command(command)


def main() -> NoReturn:
    """Run the command line and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="surrogateescape")  # names of files need not be UTF-8
    # A letter that matplotlib's font lacks: a viewer of SVG draws it with another font, other formats show
    # a box.
    warnings.filterwarnings("ignore", message="Glyph .* missing from")
    status = 0
    try:
        ending.raise_signals()
        status = cli.main(standalone_mode=False) or 0
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except InputError as error:
        print_message(str(error))
        status = 2
    except SchemeError as error:
        print_message(_mistake(error) or f"airfair: {error}")
        status = 1
    except (KeyboardInterrupt, click.Abort) as error:
        ending.leave_at_once()
        status = ending.status(error)
        print(ending.word(status), file=sys.stderr)
    except BrokenPipeError:  # `airfair trace FILE | head` ends in silence
        _write_no_more()
        status = 1
    except Exception as error:
        message = _mistake(error)
        if message is None and isinstance(error, OSError | MemoryError):
            message = f"airfair: {_failure(error)}"
            _write_no_more()
        if message is None:
            raise
        print_message(message)
        status = 1
    ending.leave_at_once()
    sys.exit(status)


def _write_no_more() -> None:
    """Discard standard output, so that the interpreter does not try to write the rest when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _mistake(error: BaseException) -> str | None:
    """A mistake in the code of a user's scheme, in words."""
    from .scheme.mistakes import mistake

    return mistake(error)


def _failure(error: OSError | MemoryError) -> str:
    """The error of the operating system, with its path."""
    if isinstance(error, MemoryError):
        return str(error) or "out of memory"
    where = error.filename
    if where is None and error.errno in (errno.ENOSPC, errno.EIO):
        where = "standard output"
    reason = error.strerror or str(error)
    return reason if where is None else f"{os.fspath(where)}: {reason}"
