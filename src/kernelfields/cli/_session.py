"""What holds while a command runs: pipes are read once, any text can be shown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ..io.opening import reading_once


@contextmanager
def session() -> Iterator[None]:
    """Surround a command."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # those of tests and notebooks cannot be told
            # Messages may hold characters that the terminal's encoding has not.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with reading_once():
        yield
