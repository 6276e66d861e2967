"""One line about what goes on, on the standard error stream."""

from __future__ import annotations

import time
from typing import Any, Self

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ._console import printable

SELDOM = 10.0
"""Seconds between lines where there is no terminal whose line could be overwritten."""


class StatusLine:
    """The latest sentence, overwritten on a terminal; elsewhere a line now and then.

    Parameters
    ----------
    console : Console
        Where to.
    keep : bool
        Whether a terminal keeps the last sentence.
    """

    def __init__(self, console: Console, *, keep: bool = False) -> None:
        self.console = console
        self._live = Live(console=console, refresh_per_second=8, transient=not keep)
        self._due = time.monotonic() + SELDOM

    def __enter__(self) -> Self:
        """Start the display."""
        if self.console.is_terminal:
            self._live.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        """End the display."""
        if self.console.is_terminal:
            self._live.__exit__(*error)

    def __call__(self, sentence: str) -> None:
        """Say something."""
        if self.console.is_terminal:
            self._live.update(Text(printable(sentence), overflow="ellipsis", no_wrap=True))
        elif time.monotonic() >= self._due:
            self._due = time.monotonic() + SELDOM
            self.console.print(sentence, soft_wrap=True)
