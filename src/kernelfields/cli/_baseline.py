"""Whether a model is better than always giving the most frequent label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

from ..files.items import FileData
from ..trials.tuning import wrong_labels
from ._suited import Suit

LOOKED_AT = 100
"""Training sequences that a model is tried on where nothing was held out."""


def baseline_warning(data: FileData, error: float, where: str) -> str | None:
    """Return a warning for a model that does not beat the most frequent label on some data.

    Parameters
    ----------
    data : FileData
        With true labels; None where one was not observed.
    error : float
        Share of them that the model has wrong.
    where : str
        What the data are, in words.
    """
    counts: Counter[Hashable] = Counter(data.known)
    total = counts.total()
    if len(counts) < 2 or not total:
        return None
    label, count = counts.most_common(1)[0]
    if round((1 - error) * total) > count:
        return None
    return (
        f"{where} {1 - error:.1%} of the labels are right, no more than the {count / total:.1%} that always "
        f"answering {label} gets: {_remedies(data)} may help."
    )


def _remedies(data: FileData) -> str:
    """Return what there is to try; only numbers are scaled, and seen in windows."""
    others = "other --features" if data.is_text else "other features"
    numbers = not data.is_sparse and data.structure == "chain"
    return ", ".join([others, *(["--scale", "--window"] if numbers else [])]) + " or --model auto"


def training_warning(model: Any, data: FileData) -> str | None:
    """Return the same for some of the training sequences."""
    some = data.take(range(min(len(data.items), LOOKED_AT)))
    wrong = wrong_labels(model, Suit(model, lambda _: None)(some.inputs), some.labels)
    return baseline_warning(some, sum(wrong) / max(len(some.known), 1), "In training data,")
