"""Seeds, as scikit-learn reads them; to import it for that alone would take a second of every first fit."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from ..checks import shown
from ..errors import InputError


def random_state(seed: object) -> np.random.RandomState:
    """Return a RandomState for a seed, a RandomState, or None, which stands for NumPy's own."""
    if seed is None or seed is np.random:
        return np.random.mtrand._rand
    if isinstance(seed, np.random.RandomState):
        return seed
    if isinstance(seed, Integral) and 0 <= int(seed) < 2**32:
        return np.random.RandomState(int(seed))
    wanted = "None, a whole number from 0 to 2**32 − 1, or a RandomState"
    raise InputError(f"random_state is {shown(seed)}; it must be {wanted}.")
