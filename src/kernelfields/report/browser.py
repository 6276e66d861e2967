"""The sequences that a report shows, and the counts its slider needs."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..structures._base import Array
from .evaluation import Evaluation, Sequences
from .ranking import confidences, order, wrong_labels

LONGEST = 300
"""Positions shown of one sequence."""
LETTERS = 60
"""Letters shown of one token."""
RIVALS = 4
"""Labels whose probabilities are shown, the true one and the answer besides."""
FILTERS = 200
"""Labels that can be filtered by, the most frequent ones."""
WRONG_SHARE = 0.75
"""Share of the places for sequences with wrong labels, as long as there are others."""


class Limits(NamedTuple):
    """How much a report shows."""

    sequences: int
    positions: int


def browse(evaluation: Evaluation, limits: Limits) -> dict[str, Any]:
    """Give what the page's script reads."""
    sequences = evaluation.sequences
    names = _names(sequences)
    index = {name: k for k, name in enumerate(names)}
    true, answers = (
        [[index[name] for name in row] for row in y] for y in (sequences.true, sequences.answers)
    )
    # A label is answered at threshold number k if its level is above k.
    levels = [
        np.searchsorted(evaluation.answered.thresholds, c, side="right") for c in confidences(sequences)
    ]
    shown, filters = choose(sequences, limits), _frequent(true, len(names))
    return {
        "labels": [str(name) for name in names],
        "filters": filters,
        "all": counts(np.concatenate(levels), _wrong(true, answers)),
        "byLabel": _by_label(true, answers, levels, filters),
        "sequences": [_sequence(s, sequences, true[s], answers[s], levels[s]) for s in shown],
    }


def choose(sequences: Sequences, limits: Limits) -> list[int]:
    """Numbers of the sequences shown: wrong ones first, then right ones, the least certain first."""
    wrong = wrong_labels(sequences)
    ranked = [s for s in order(sequences) if sequences.true[s]]
    bad, good = [s for s in ranked if wrong[s]], [s for s in ranked if not wrong[s]]
    places = max(round(limits.sequences * WRONG_SHARE), limits.sequences - len(good))
    chosen = [*bad[:places], *good][: limits.sequences]
    sizes = np.cumsum([min(len(sequences.true[s]), LONGEST) for s in chosen])
    return chosen[: max(int(np.searchsorted(sizes, limits.positions, side="right")), 1)]


def counts(levels: Array, wrong: Array) -> list[list[int]]:
    """For every threshold, how many labels are answered and how many of those are wrong."""
    return [_above(levels), _above(levels[wrong])]


def _above(levels: Array) -> list[int]:
    """How many levels are above 0, 1, …, 100."""
    present = np.bincount(levels, minlength=102)
    return (len(levels) - np.cumsum(present)[:101]).tolist()


def _by_label(
    true: list[Any], answers: list[Any], levels: list[Array], labels: list[int]
) -> list[list[list[int]]]:
    """The same of those positions where a label is true or answered, for some labels."""
    level, wrong = np.concatenate(levels), _wrong(true, answers)
    right, given = np.concatenate([*map(_ints, true)]), np.concatenate([*map(_ints, answers)])
    with_label = ((right == k) | (given == k) for k in labels)
    return [counts(level[chosen], wrong[chosen]) for chosen in with_label]


def _wrong(true: list[Any], answers: list[Any]) -> Array:
    return np.concatenate([_ints(a) != _ints(b) for a, b in zip(true, answers, strict=True)])


def _ints(row: Any) -> Array:
    return np.array(row, dtype=np.int64)


def _names(sequences: Sequences) -> list[Hashable]:
    """The model's labels, then those that only the test has."""
    return list(dict.fromkeys([*sequences.classes, *(name for row in sequences.true for name in row)]))


def _frequent(true: list[Any], size: int) -> list[int]:
    seen = np.bincount(np.concatenate([*map(_ints, true)]), minlength=size)
    return sorted(np.argsort(-seen, kind="stable")[:FILTERS].tolist())


def _sequence(
    s: int, sequences: Sequences, true: list[int], answers: list[int], levels: Array
) -> dict[str, Any]:
    """One sequence; a long one from some positions before its first error on."""
    wrong = [t for t, (a, b) in enumerate(zip(true, answers, strict=True)) if a != b]
    start = max(min(wrong[0] - 10, len(true) - LONGEST), 0) if wrong else 0
    p = np.asarray(sequences.marginals[s])
    positions = range(start, min(start + LONGEST, len(true)))
    tokens = [
        [
            _clipped(sequences.tokens[s][t]),
            true[t],
            answers[t],
            int(levels[t]),
            _rivals(p[t], true[t], answers[t]),
        ]
        for t in positions
    ]
    return {"number": s, "length": len(true), "start": start, "tokens": tokens}


def _rivals(p: Array, true: int, answer: int) -> list[int]:
    """Labels and their probabilities in thousandths, in turn, the most probable ones first."""
    best = [k for k in np.argsort(-p, kind="stable")[:RIVALS].tolist() if p[k] >= 0.005]
    kept = dict.fromkeys([*best, answer, *([true] if true < len(p) else [])])
    ranked = sorted(kept, key=lambda k: -p[k])
    return [number for k in ranked for number in (k, round(1000 * float(p[k])))]


def _clipped(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
