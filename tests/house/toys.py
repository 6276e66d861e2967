"""The two fits whose ways through the package are counted."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from kernelfields import CRF, KernelCRF


def kernel_fit() -> Callable[[], object]:
    """Return the fit of a default kernel CRF to vectors."""
    X = [[[0.1, 1.0], [0.9, 0.0], [0.8, 0.5]], [[0.9, 0.3], [0.2, 0.7]]]
    y = [["low", "high", "high"], ["high", "low"]]
    return partial(KernelCRF().fit, X, y)


def linear_fit() -> Callable[[], object]:
    """Return the fit of a CRF to words and their parts of speech, with the features for names."""
    X = [[("Anna", "N"), ("met", "V"), ("Bob", "N")], [("Rain", "N"), ("in", "P"), ("Paris", "N")]]
    y = [["B-PER", "O", "B-PER"], ["O", "O", "B-LOC"]]
    return partial(CRF(features="ner").fit, X, y)
