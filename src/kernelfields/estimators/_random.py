"""Seeds, as scikit-learn reads them."""

from __future__ import annotations

from typing import Any


def random_state(seed: Any) -> Any:
    """Give a RandomState for a seed, a RandomState, or None."""
    from sklearn.utils import check_random_state

    return check_random_state(seed)
