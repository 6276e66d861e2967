"""Alignment error rates by hand, and what is refused."""

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.metrics import alignment_error_rate, alignment_scores

SURE = [[(0, 0), (1, 1)], [(0, 1)]]
POSSIBLE = [[(1, 2), (2, 2)], []]
FOUND = [[(0, 0), (1, 2), (3, 3)], [(0, 1), (0, 0)]]


def test_by_hand():
    # A ∩ S: (0, 0), (0, 1); A ∩ P: these and (1, 2); |A| = 5, |S| = 3.
    scores = alignment_scores(SURE, POSSIBLE, FOUND)
    assert scores == (pytest.approx(1 - 5 / 8), 3 / 5, 2 / 3)
    assert alignment_error_rate(SURE, POSSIBLE, FOUND) == scores.error_rate


def test_sure_links_are_possible():
    both = [[*s, *p] for s, p in zip(SURE, POSSIBLE, strict=True)]
    assert alignment_scores(SURE, both, FOUND) == alignment_scores(SURE, POSSIBLE, FOUND)


def test_without_possible_links_it_is_one_minus_f1():
    scores = alignment_scores(SURE, None, FOUND)
    assert scores.precision == 2 / 5
    f1 = 2 * scores.precision * scores.recall / (scores.precision + scores.recall)
    assert scores.error_rate == pytest.approx(1 - f1)


def test_all_or_nothing():
    assert alignment_scores(SURE, POSSIBLE, SURE) == (0.0, 1.0, 1.0)
    assert alignment_scores(SURE, POSSIBLE, [[], []]) == (1.0, 0.0, 0.0)
    assert alignment_scores([[]], None, [[]]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "kind",
    [set, tuple, frozenset, lambda links: np.array(links).reshape(-1, 2), lambda links: [*links, *links]],
)
def test_kinds_of_collections(kind):
    sides = [[kind(links) for links in side] for side in (SURE, POSSIBLE, FOUND)]
    assert alignment_scores(*sides) == alignment_scores(SURE, POSSIBLE, FOUND)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, None, FOUND), "sure must be a list with the links of every pair"),
        ((SURE, None, "ab"), "predicted must be a list with the links"),
        ((SURE, None, FOUND[:1]), "sure has 2 sentence pairs, but predicted has 1"),
        ((SURE, POSSIBLE * 2, FOUND), "sure has 2 sentence pairs, but possible has 4"),
        (([], None, []), "There is nothing to score"),
        (([3], None, [[]]), "Sentence pair 0 of sure is 3, not a collection of pairs"),
        (([[(0, 0, 0)]], None, [[]]), r"has the link \(0, 0, 0\), expected a pair of whole numbers"),
        (([["01"]], None, [[]]), "has the link '01', expected a pair"),
        (([[(0, 1.0)]], None, [[]]), r"has the link \(0, 1.0\), expected a pair"),
        (([[(True, 1)]], None, [[]]), "expected a pair of whole numbers"),
        (([[(0, -1)]], None, [[]]), r"has the link \(0, -1\), but words are counted from 0 or 1"),
        (([[0, 1]], None, [[]]), "has the link 0, expected a pair"),
        (([{0: 1}], None, [[]]), "not a collection of pairs"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        alignment_scores(*arguments)
