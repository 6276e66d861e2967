"""What ``kf`` prints to."""

from __future__ import annotations

from rich.console import Console


def plain_console(*, stderr: bool = False) -> Console:
    """Return a console that prints texts as they are.

    Labels, tokens and names of files come from users: "[/x]" in them is not markup, ":+1:" not a picture.
    """
    return Console(stderr=stderr, markup=False, emoji=False)
