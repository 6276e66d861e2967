"""Labels that were not observed."""

from __future__ import annotations

from typing import Any

import numpy as np

UNOBSERVED = -1
"""The number of a label that is missing, where labels are numbers."""


def is_missing(label: Any) -> bool:
    """Return whether a label marks that there is none: None, NaN, or pandas' NA and NaT.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("nan"), is_missing(0)
    (True, True, False, False)
    """
    if label is None:
        return True
    differs = label != label  # NaN and NaT differ from themselves; pandas' NA returns itself
    return bool(differs) if isinstance(differs, (bool, np.bool_)) else differs is label
