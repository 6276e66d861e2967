"""The exceptions and warnings that users see. All that are about input are kinds of ``ValueError``."""

from __future__ import annotations

import sys
import warnings


class InputError(ValueError):
    """Input that cannot be used; the message names the sequence and the position."""


class TableSizeError(InputError):
    """A graph whose exact sums would take too large a table."""


class UnsupportedError(InputError, TypeError):
    """A loss, solver or decoder that needs what a structure or another setting does not offer."""


class ScoreError(ValueError):
    """Clique scores that are NaN or +inf."""


class InfeasibleError(ValueError):
    """A sequence for which every labelling is forbidden."""


class MissingDataError(ValueError):
    """A data set that does not come with the package and is not where it was sought."""


class DistributedError(RuntimeError):
    """Workers that were lost too often; the message says what to do."""


class ModelFormatError(ValueError):
    """A model file that cannot be read; the message gives the reason."""


class LargeFitWarning(UserWarning):
    """A fit that will take long, or much memory; the message says how much, and which setting takes less."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package that the call came from."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(__package__ + "."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def quoted(text: str, limit: int = 120) -> str:
    """Return text in quotes for a message; the middle of a long one is left out: lines can be long."""
    if len(text) <= limit:
        return repr(text)
    return repr(text[: limit // 2] + " … " + text[-(limit // 2) :])
