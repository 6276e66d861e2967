"""What programs import from sklearn-crfsuite's module of this name."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any


def flatten(y: Iterable[Iterable[Any]]) -> list[Any]:
    """Return the members of all sequences as one list.

    Examples
    --------
    >>> flatten([[1, 2], [3]])
    [1, 2, 3]
    """
    return list(chain.from_iterable(y))
