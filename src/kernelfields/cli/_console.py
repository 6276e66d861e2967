"""What ``kf`` prints to."""

from __future__ import annotations

from rich.console import Console


def plain_console(*, stderr: bool = False) -> Console:
    """Return a console that prints texts as they are.

    Labels, tokens and names of files come from users: in one of them "[/x]" is no markup, ":+1:" no picture.
    """
    return Console(stderr=stderr, markup=False, emoji=False)
