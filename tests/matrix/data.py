"""The data of all cases: 20 short sequences, one of length 1, and one of three labels is rare."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

COLUMNS = ("a", "b", "c", "d")
RARE = "I-x"


class Sample(NamedTuple):
    """Sequences of counts, and their labels."""

    counts: list[Any]
    """(T, D) arrays of whole numbers from 0 to 4."""
    labels: list[list[str]]


@cache
def training() -> Sample:
    """What cases are fitted to."""
    lengths = [1, 2, 3, 4, 2, 3, 5, 2, 3, 4, 2, 6, 3, 2, 4, 3, 5, 2, 3, 4]
    return _drawn(lengths, len(COLUMNS), seed=1, rare_in=(6, 11))


@cache
def held_out() -> Sample:
    """What early stopping looks at."""
    return _drawn([2, 1, 3, 4, 2], len(COLUMNS), seed=2, rare_in=(3,))


@cache
def asked() -> Sample:
    """What is predicted: short enough to enumerate all labellings."""
    seen, new = training(), held_out()
    return Sample(seen.counts[:5] + new.counts, seen.labels[:5] + new.labels)


@cache
def other() -> Sample:
    """Data of another width with other labels, for the fit before the one that counts."""
    sample = _drawn([3, 2, 4, 1, 3, 2, 5, 2], 3, seed=3, rare_in=(2, 6))
    names = {"O": "p", "B-x": "q", RARE: "r"}
    return Sample(sample.counts, [[names[label] for label in labels] for labels in sample.labels])


def _drawn(lengths: list[int], width: int, seed: int, rare_in: tuple[int, ...]) -> Sample:
    """Draw labels that obey IOB2, and counts that depend on them."""
    rng = np.random.default_rng(seed)
    counts, labels = [], []
    for s, length in enumerate(lengths):
        numbers = (rng.random(length) < 0.4).astype(int)
        if s in rare_in:
            numbers[:2] = 1, 2
        counts.append(rng.poisson(0.5 + 1.5 * np.eye(3, width)[numbers]).clip(0, 4))
        labels.append([("O", "B-x", RARE)[k] for k in numbers])
    return Sample(counts, labels)
