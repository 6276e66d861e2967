"""Ctrl-C and other signals that end a command; nothing is imported that takes a moment."""

from __future__ import annotations

import sys
from typing import NoReturn

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
