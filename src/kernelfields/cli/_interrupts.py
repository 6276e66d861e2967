"""Ctrl-C and other signals that end a command; nothing is imported that takes a moment."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NoReturn

ENDING = ("SIGTERM", "SIGHUP")
"""Names of signals by which others end a process; Windows has not all of them."""
INTERRUPTED = 130
"""Exit code: Ctrl-C before there was anything to keep; 128 and the number of another signal."""
NOTHING_WRITTEN = "Interrupted; nothing was written."


class EndedBySignal(KeyboardInterrupt):
    """A signal other than Ctrl-C that ends a command: the model reached is kept, and files are put away."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def code_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code of a command that a signal ended: 128 and its number."""
    return 128 + interrupt.number if isinstance(interrupt, EndedBySignal) else INTERRUPTED


def give_up(interrupt: KeyboardInterrupt) -> NoReturn:
    """Exit before a command has begun."""
    print(NOTHING_WRITTEN, file=sys.stderr)
    sys.exit(code_of(interrupt))


@contextmanager
def ending() -> Iterator[None]:
    """Let signals by which others end a process end what runs within, as Ctrl-C does."""
    with ExitStack() as stack:
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
