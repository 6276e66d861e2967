"""Label sequences from users."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..arrays import listed_labels
from ..checks import is_list, shown
from ..errors import InputError
from ..missing import is_missing


def read_sequences(y: Any, name: str) -> list[list[Hashable]]:
    """Read a list of label sequences; missing labels become None."""
    if not is_list(y):
        raise InputError(f"{name} must be a list of label sequences.")
    return [read_row(labels, f"Sequence {s} of {name}") for s, labels in enumerate(y)]


def read_row(labels: Any, what: str) -> list[Hashable]:
    """Read a list of labels, called ``what`` in messages; missing labels become None."""
    # A string would be read as a sequence of characters: most likely y is flat.
    if not is_list(labels):
        raise InputError(f"{what} is {shown(labels)}, not a list of labels.")
    # Iterating over an array makes an object of NumPy for every entry, this plain ones.
    result = listed_labels(labels)
    try:
        distinct = dict.fromkeys(result)
    except TypeError as error:
        raise InputError(f"{what} has a label that is not hashable: {error}.") from error
    missing = {label for label in distinct if is_missing(label)}
    return [None if label in missing else label for label in result] if missing - {None} else result
