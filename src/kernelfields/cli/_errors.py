"""Errors as one sentence, and exit codes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn, TextIO

import typer

from ..errors import (
    DistributedError,
    InfeasibleError,
    InputError,
    MissingDataError,
    ModelFormatError,
    ScoreError,
)
from ._console import printable
from ._interrupts import NOTHING_WRITTEN, code_of

WRONG_INPUT = 2
"""Exit code: a file, an option or a model that cannot be used; nothing was changed, except that ``kf tag``
keeps the complete answers to other files."""
LOST = 3
"""Exit code: a cluster that went away; nothing was written."""

OURS = (InfeasibleError, InputError, MissingDataError, ModelFormatError, ScoreError)


@contextmanager
def plain_errors(debug: bool = False) -> Iterator[None]:
    """Turn what went wrong into one sentence and an exit code; with ``debug``, leave it as it is."""
    try:
        yield
        sys.stdout.flush()
    except OURS as error:
        if debug:
            raise
        end(str(error), WRONG_INPUT)
    except DistributedError as error:
        if debug:
            raise
        reason = str(error).partition(";")[0]
        end(f"{reason}; with --checkpoint FOLDER, --resume goes on from where a fit was.", LOST)
    except BrokenPipeError:  # the reader of our output has gone: nothing to say to anybody
        _give_up(sys.stdout)
        raise typer.Exit(0) from None
    except OSError as error:
        if debug:
            raise
        end(f"{error.filename or _full_stream()}: {error.strerror or error}.", WRONG_INPUT)
    except MemoryError as error:
        if debug:
            raise
        end(f"Not enough memory. {error}".strip(), WRONG_INPUT)
    except KeyboardInterrupt as error:
        end(NOTHING_WRITTEN, code_of(error))


def end(message: str, code: int) -> NoReturn:
    """Print a last message and exit with a code."""
    say(message)
    raise typer.Exit(code)


def say(message: str) -> None:
    """Print a message to the standard error stream, if anybody can hear it."""
    try:
        typer.echo(printable(message), err=True)
    except OSError:
        _give_up(sys.stderr)


def _full_stream() -> str:
    """Return what could not be written to, where an error does not say it: files are named by `naming`."""
    with suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()
    _give_up(sys.stdout)
    return "The standard output"


def _give_up(stream: TextIO) -> None:
    """Let what is still to be written go nowhere, rather than fail again at the end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
