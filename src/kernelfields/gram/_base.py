"""What a Gram matrix can do: be multiplied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Gram(ABC):
    """K_ij = k(x_i, x_j) over n observations, however it is kept."""

    size: int
    """n."""
    dtype: np.dtype[Any]
    """Precision of its entries: float32 or float64."""
    diagonal: Array
    """k(x_i, x_i), (n,)."""

    @abstractmethod
    def times(self, columns: Array) -> Array:
        """K·A for A of shape (n, m), float64 or float32; the result in the type of A."""
