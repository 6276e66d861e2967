"""Sure, possible and predicted links between two sentences."""

from __future__ import annotations

from collections.abc import Iterable, Set
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ..checks import is_list, shown
from ..errors import InputError
from .pairs import ratio


class AlignmentScores(NamedTuple):
    """Scores over the links of all sentence pairs [och2003]; a quotient 0/0 is 0."""

    error_rate: float
    """AER = 1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|); 0 where there are no links at all."""
    precision: float
    """|A ∩ P| / |A|."""
    recall: float
    """|A ∩ S| / |S|."""


def alignment_scores(sure: Any, possible: Any, predicted: Any) -> AlignmentScores:
    """Return alignment error rate, precision and recall.

    With S the sure links, A those predicted, and P the possible ones, among which are the sure ones.

    Parameters
    ----------
    sure, possible, predicted : list of collections of pairs (i, j)
        The links of every pair of sentences: word i of one with word j of the other, both counted alike in
        all three. Links that occur twice count once. ``possible`` may hold the sure links or leave them out;
        None where every link is sure.

    Examples
    --------
    >>> scores = alignment_scores([[(0, 0)]], [[(1, 1), (1, 2)]], [[(0, 0), (1, 2), (2, 2)]])
    >>> scores.error_rate, round(scores.precision, 2), scores.recall
    (0.25, 0.67, 1.0)
    """
    certain, answers = read_links(sure, "sure"), read_links(predicted, "predicted")
    allowed = certain if possible is None else read_links(possible, "possible")
    for name, links in (("possible", allowed), ("predicted", answers)):
        if len(links) != len(certain):
            raise InputError(f"sure has {len(certain)} sentence pairs, but {name} has {len(links)}.")
    if not certain:
        raise InputError("There is nothing to score: sure has no sentence pairs.")
    counts = [
        (len(a & s), len(a & (p | s)), len(a), len(s))
        for s, p, a in zip(certain, allowed, answers, strict=True)
    ]
    in_sure, in_possible, n_predicted, n_sure = np.array(counts).sum(axis=0).tolist()
    right, of = ratio(np.array([in_possible, in_sure]), np.array([n_predicted, n_sure])).tolist()
    total = n_predicted + n_sure
    return AlignmentScores(1.0 - (in_sure + in_possible) / total if total else 0.0, right, of)


def alignment_error_rate(sure: Any, possible: Any, predicted: Any) -> float:
    """Return the alignment error rate; see `alignment_scores`."""
    return alignment_scores(sure, possible, predicted).error_rate


Link = tuple[int, int]


def read_links(given: Any, name: str) -> list[set[Link]]:
    """Read the links of every pair of sentences."""
    if not is_list(given):
        raise InputError(f"{name} must be a list with the links of every pair of sentences.")
    return [_links(links, f"Sentence pair {s} of {name}") for s, links in enumerate(given)]


def _links(links: Any, what: str) -> set[Link]:
    if not isinstance(links, Set) and not is_list(links):
        raise InputError(f"{what} is {shown(links)}, not a collection of pairs.")
    return {_link(link, what) for link in links}


def _link(link: Any, what: str) -> Link:
    ends = tuple(link) if isinstance(link, Iterable) and not isinstance(link, str | bytes) else ()
    if len(ends) != 2 or not all(isinstance(i, Integral) and not isinstance(i, bool) for i in ends):
        raise InputError(f"{what} has the link {shown(link)}, expected a pair of whole numbers.")
    if min(ends) < 0:
        raise InputError(f"{what} has the link {shown(link)}, but words are counted from 0 or 1.")
    return int(ends[0]), int(ends[1])
