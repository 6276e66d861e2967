"""The sequences or trees that a report shows, and the counts its slider needs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from .evaluation import Evaluation, TestSequences
from .ranking import confidences, order, wrong_labels

LONGEST = 300
"""Positions shown of one sequence."""
LETTERS = 60
"""Letters shown of one token."""
RIVALS = 4
"""Labels whose probabilities are shown, the true one and the answer besides."""
FILTERS = 200
"""Labels that can be filtered by, the most frequent ones."""
UNKNOWN = -1
"""Number of the label of positions whose true one is not known."""
WRONG_SHARE = 0.75
"""Share of the places for sequences with wrong labels, as long as there are others."""


class ReportLimits(NamedTuple):
    """How much a report shows."""

    sequences: int
    positions: int


def browse(evaluation: Evaluation, limits: ReportLimits) -> dict[str, Any]:
    """Return what the page's script reads."""
    sequences = evaluation.sequences
    names = _names(sequences)
    index: dict[Hashable, int] = {None: UNKNOWN} | {name: k for k, name in enumerate(names)}
    true, answers = (
        [[index[name] for name in row] for row in y] for y in (sequences.true, sequences.answers)
    )
    # A label is answered at threshold number k if its level is above k.
    levels = [
        np.searchsorted(evaluation.answered.thresholds, c, side="right") for c in confidences(sequences)
    ]
    shown, flat = choose(sequences, limits), _Flat.of(true, answers, levels)
    filters = _frequent(flat.true, len(names))
    return {
        "noun": evaluation.noun,
        "labels": [str(name) for name in names],
        "filters": filters,
        "all": flat.counts(),
        "byLabel": [flat.counts((flat.true == k) | (flat.answers == k)) for k in filters],
        "sequences": [_sequence(s, sequences, true[s], answers[s], levels[s]) for s in shown],
    }


def choose(sequences: TestSequences, limits: ReportLimits) -> list[int]:
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


class _Flat(NamedTuple):
    """Positions whose true label is known, one sequence after the other."""

    true: Array
    answers: Array
    levels: Array

    @classmethod
    def of(cls, *columns: list[Any]) -> _Flat:
        flat = cls(*(np.concatenate([np.array(row, dtype=np.int64) for row in column]) for column in columns))
        known = flat.true != UNKNOWN
        return cls(*(column[known] for column in flat))

    def counts(self, chosen: Any = slice(None)) -> list[list[int]]:
        """Counts of all positions, or of those that are chosen."""
        return counts(self.levels[chosen], (self.true != self.answers)[chosen])


def _names(sequences: TestSequences) -> list[Hashable]:
    """The model's labels, then those that only the test has."""
    names = dict.fromkeys([*sequences.classes, *(name for row in sequences.true for name in row)])
    return [name for name in names if name is not None]


def _frequent(true: Array, size: int) -> list[int]:
    seen = np.bincount(true, minlength=size)
    return sorted(np.argsort(-seen, kind="stable")[:FILTERS].tolist())


def _sequence(
    s: int, sequences: TestSequences, true: list[int], answers: list[int], levels: Array
) -> dict[str, Any]:
    """One sequence; a long one from some positions before its first error on. A tree line by line."""
    lines = None if sequences.parents is None else outline(sequences.parents[s])
    ordered = list(range(len(true))) if lines is None else [line.vertex for line in lines]
    wrong = [n for n, t in enumerate(ordered) if true[t] not in (answers[t], UNKNOWN)]
    start = max(min(wrong[0] - 10, len(true) - LONGEST), 0) if wrong else 0
    p = np.asarray(sequences.marginals[s])
    positions = ordered[start : start + LONGEST]
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
    result = {"number": s, "name": sequences.name(s), "length": len(true), "start": start, "tokens": tokens}
    if lines is not None:
        result["depths"] = [line.depth for line in lines[start : start + LONGEST]]
    return result


def _rivals(p: Array, true: int, answer: int) -> list[int]:
    """Labels and their probabilities in thousandths, in turn, the most probable ones first."""
    best = [k for k in np.argsort(-p, kind="stable")[:RIVALS].tolist() if p[k] >= 0.005]
    kept = dict.fromkeys([*best, answer, *([true] if UNKNOWN < true < len(p) else [])])
    ranked = sorted(kept, key=lambda k: -p[k])
    return [number for k in ranked for number in (k, round(1000 * float(p[k])))]


def _clipped(text: str) -> str:
    return text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"


class TreePlace(NamedTuple):
    """A line of a tree."""

    vertex: int
    depth: int
    """0 at roots."""


def outline(parents: Sequence[int]) -> list[TreePlace]:
    """Return all vertices of a forest, parents before their children, children in order."""
    children: list[list[int]] = [[] for _ in parents]
    roots: list[int] = []
    for vertex, parent in enumerate(parents):
        (roots if parent < 0 else children[parent]).append(vertex)
    result, waiting = [], [TreePlace(root, 0) for root in reversed(roots)]
    while waiting:
        place = waiting.pop()
        result.append(place)
        waiting += [TreePlace(child, place.depth + 1) for child in reversed(children[place.vertex])]
    return result
