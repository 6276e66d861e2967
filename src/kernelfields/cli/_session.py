"""What holds while a command runs: pipes are read once, signals end it like Ctrl-C, any text can be shown."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from ..io.opening import reading_once
from ._interrupts import EndedBySignal

ENDING = ("SIGTERM", "SIGHUP")
"""Names of signals by which others end a process; Windows has not all of them."""


@contextmanager
def session() -> Iterator[None]:
    """Surround a command."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # those of tests and notebooks cannot be told
            # Messages may hold characters that the terminal's encoding has not.
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with reading_once(), ExitStack() as stack:
        for name in ENDING:
            stack.enter_context(_ending(getattr(signal, name, None)))
        yield


@contextmanager
def _ending(number: Any) -> Iterator[None]:
    """Let a signal end the command, unless somebody, nohup for one, says otherwise."""
    try:
        if number is None or signal.getsignal(number) is not signal.SIG_DFL:
            yield
            return
        signal.signal(number, _end)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        signal.signal(number, signal.SIG_DFL)


def _end(number: int, _: Any) -> None:
    signal.signal(number, signal.SIG_IGN)  # while files are put away; the next one would disturb that
    raise EndedBySignal(number)
