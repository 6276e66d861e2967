"""Arrays of numbers from users."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_unmasked
from ..errors import InputError


def read_numbers(values: Any, what: str) -> Array:
    """Read an array of real numbers, called ``what`` in messages, as float64."""
    require_unmasked(values, what)
    try:
        array = np.asarray(values)
        if np.iscomplexobj(array):
            raise InputError(f"{what} has complex numbers, expected real ones.")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} is not an array of numbers: {error}.") from error
