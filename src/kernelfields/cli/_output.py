"""Where data go that a command gives: a file, which appears when it is complete, or the standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from ..errors import InputError
from ..io.replacing import replacing_text


@contextmanager
def data_output(path: Path | None) -> Iterator[TextIO]:
    """Open a file, or take the standard output; both in UTF-8, as data are read, whatever the locale says."""
    try:
        if path is not None:
            with replacing_text(path) as file:
                yield file
            return
        with suppress(AttributeError):  # a stream without an encoding
            sys.stdout.reconfigure(  # type: ignore[union-attr]
                encoding="utf-8", errors="strict", newline=""
            )
        yield sys.stdout
        sys.stdout.flush()
    except UnicodeEncodeError as error:
        bad = error.object[error.start]
        raise InputError(f"{path or 'The standard output'}: {bad!r} cannot be written as UTF-8.") from error
