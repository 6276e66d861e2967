"""Intervals of differences between two models that were tested side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit


def paired_interval(differences: Sequence[float], level: float = 0.95) -> tuple[float, float]:
    """Return Student's interval of the mean difference; a single difference is its own interval.

    The trials share training and test sets between the models, so that what is hard for both cancels.
    """
    count = len(differences)
    middle = float(np.mean(differences))
    if count < 2:
        return middle, middle
    half = float(stdtrit(count - 1, (1 + level) / 2) * np.std(differences, ddof=1) / np.sqrt(count))
    return middle - half, middle + half
