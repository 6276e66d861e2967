"""How learning that goes through a training set again and again comes to an end."""

from __future__ import annotations

from ..errors import warn_user

DONE = "All epochs were done."
FLAWLESS = "Every training sequence was labelled right throughout an epoch."


def warn_of_interruption(epochs: int) -> None:
    """Say, as a warning, that Ctrl-C ended the learning after so many epochs."""
    from sklearn.exceptions import ConvergenceWarning

    warn_user(f"Interrupted after {epochs} epochs; what was learnt so far was kept.", ConvergenceWarning)
