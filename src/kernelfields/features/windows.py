"""Frames in their neighbourhood."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import InputError

Array = npt.NDArray[Any]


def stack_windows(sequences: Sequence[Array], width: int) -> list[Array]:
    """Give every position the frames around it: (x_{t−h}, …, x_t, …, x_{t+h}) with h = (width − 1)/2.

    Beyond either end of a sequence there are zeros.

    Parameters
    ----------
    sequences : list of (T, D) arrays
        Frames.
    width : int
        Odd.

    Returns
    -------
    list of (T, width·D) arrays
        In the type of the frames.

    Examples
    --------
    >>> stack_windows([np.array([[1.0], [2.0], [3.0]])], 3)[0]
    array([[0., 1., 2.],
           [1., 2., 3.],
           [2., 3., 0.]])
    """
    if width < 1 or width % 2 == 0:
        raise InputError(f"The width of windows is {width}; it must be odd and positive.")
    return [_windows(np.asarray(frames), width) for frames in sequences]


def _windows(frames: Array, width: int) -> Array:
    T, D = frames.shape
    result = np.zeros((T, width, D), dtype=frames.dtype)
    for k in range(width):
        ahead = k - width // 2  # the frame at t + ahead goes to place k
        first, last = max(0, -ahead), min(T, T - ahead)
        if first < last:
            result[first:last, k] = frames[first + ahead : last + ahead]
    return result.reshape(T, width * D)
