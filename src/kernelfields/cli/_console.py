"""What ``kf`` prints to."""

from __future__ import annotations

import re
from typing import Any

from rich.console import Console
from rich.text import Text

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Characters that make a terminal do something, or show letters in another order; not tabs and line ends."""


def printable(text: str) -> str:
    """Return a text with such characters as Python writes them: labels and names in files may hold any."""
    return CONTROLS.sub(lambda found: ascii(found[0])[1:-1], text)


class PlainConsole(Console):
    """A console that shows texts as they are.

    Labels, tokens and names of files come from users: "[/x]" in them is not markup, ":+1:" not a picture, and
    an escape sequence is shown rather than obeyed. All texts, also those in tables, pass through
    `render_str` before they are measured; Rich has no other place for that.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text that can be printed."""
        return super().render_str(printable(text), **options)


def plain_console(*, stderr: bool = False) -> Console:
    """Return a console that shows texts as they are."""
    return PlainConsole(stderr=stderr)
