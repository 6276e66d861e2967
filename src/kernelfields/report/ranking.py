"""Sequences worth a look: the worst and the slowest."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ..arrays import Array
from .evaluation import RankedSequence, TestSequences

COUNT = 10
"""How many are named."""
BUDGET = 1.0
"""Seconds that timing sequences one by one may take."""


def confidences(sequences: TestSequences) -> list[Array]:
    """p(ŷ_t|x) of the answers, an array per sequence."""
    column = {label: k for k, label in enumerate(sequences.classes)}
    return [
        np.asarray(p)[np.arange(len(answers)), [column[label] for label in answers]]
        for p, answers in zip(sequences.marginals, sequences.answers, strict=True)
    ]


def order(sequences: TestSequences) -> list[int]:
    """Numbers of sequences: most wrong labels first, then those least certain of a label."""
    wrong = wrong_labels(sequences)
    least = [float(c.min(initial=1.0)) for c in confidences(sequences)]
    return sorted(range(len(wrong)), key=lambda s: (-wrong[s], least[s], s))


def wrong_labels(sequences: TestSequences) -> list[int]:
    """Number of wrong labels of every sequence; where the true one is not known, there is none."""
    return [
        sum(a != b and a is not None for a, b in zip(true, answers, strict=True))
        for true, answers in zip(sequences.true, sequences.answers, strict=True)
    ]


def rank_worst(sequences: TestSequences) -> list[RankedSequence]:
    """The first sequences in `order`."""
    wrong = wrong_labels(sequences)
    return [RankedSequence(s, len(sequences.true[s]), wrong[s], None) for s in order(sequences)[:COUNT]]


def rank_slowest(
    sequences: TestSequences, label: Callable[[int], object]
) -> tuple[list[RankedSequence], int]:
    """Time sequences one by one, the longest first, while the budget lasts.

    Returns
    -------
    list, int
        The slowest of them, slowest first; how many were timed.
    """
    lengths, wrong = list(map(len, sequences.true)), wrong_labels(sequences)
    seconds: dict[int, float] = {}
    started = time.perf_counter()
    for s in sorted(range(len(lengths)), key=lambda s: -lengths[s]):
        begun = time.perf_counter()
        if begun - started > BUDGET:
            break
        label(s)
        seconds[s] = time.perf_counter() - begun
    slowest = sorted(seconds, key=lambda s: -seconds[s])[:COUNT]
    return [RankedSequence(s, lengths[s], wrong[s], seconds[s]) for s in slowest], len(seconds)
