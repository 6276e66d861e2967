"""The exceptions that users see. All are kinds of ``ValueError``."""

from __future__ import annotations


class InputError(ValueError):
    """Input that cannot be used; the message names the sequence and the position."""


class ScoreError(ValueError):
    """Clique scores that are NaN or +inf."""


class InfeasibleError(ValueError):
    """A sequence for which every labelling is forbidden."""


class MissingDataError(ValueError):
    """A data set that does not come with the package and is not where it was sought."""


class ModelFormatError(ValueError):
    """A model file that cannot be read; the message gives the reason."""


def quoted(text: str, limit: int = 120) -> str:
    """Give text in quotes for a message; the middle of a long one is left out, a line may have megabytes."""
    if len(text) <= limit:
        return repr(text)
    return repr(text[: limit // 2] + " … " + text[-(limit // 2) :])
