"""Errors as one sentence, and exit codes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from ..errors import (
    DistributedError,
    InfeasibleError,
    InputError,
    MissingDataError,
    ModelFormatError,
    ScoreError,
)

WRONG_INPUT = 2
"""Exit code: a file, an option or a model that cannot be used; nothing was changed."""
LOST = 3
"""Exit code: a cluster that went away; nothing was written."""
INTERRUPTED = 130
"""Exit code: Ctrl-C before there was anything to keep."""

OURS = (InfeasibleError, InputError, MissingDataError, ModelFormatError, ScoreError)


@contextmanager
def plain_errors(debug: bool = False) -> Iterator[None]:
    """Turn what went wrong into one sentence and an exit code; with ``debug``, leave it as it is."""
    try:
        yield
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
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        raise typer.Exit(0) from None
    except OSError as error:
        if debug:
            raise
        end(f"{error.filename or 'A file'}: {error.strerror or error}.", WRONG_INPUT)
    except MemoryError as error:
        if debug:
            raise
        end(f"Not enough memory. {error}".strip(), WRONG_INPUT)
    except KeyboardInterrupt:
        end("Interrupted; nothing was written.", INTERRUPTED)


def end(message: str, code: int) -> NoReturn:
    """Print a last message and exit with a code."""
    typer.echo(message, err=True)
    raise typer.Exit(code)
