"""Seeds, as scikit-learn reads them."""

from __future__ import annotations

from typing import Any

from ..checks import shown
from ..errors import InputError


def random_state(seed: Any) -> Any:
    """Return a RandomState for a seed, a RandomState, or None."""
    from sklearn.utils import check_random_state

    try:
        return check_random_state(seed)
    except ValueError:
        raise InputError(
            f"random_state is {shown(seed)}; it must be None, a whole number from 0 to 2**32 − 1, "
            "or a RandomState."
        ) from None
