"""Scores of segments by hand, by sets of positions, and what is refused."""

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.metrics import entity_scores, segment_scores, segments_of

TRUE = [list("aaaabbbbcc")]
PRED = [list("aaabbbbbbc")]


@pytest.mark.parametrize(
    ("overlap", "correct"), [(0.1, 3), (0.5, 3), (0.6, 2), (0.7, 1), (0.75, 1), (0.8, 0)]
)
def test_by_hand(overlap, correct):
    # a: 3 of 4, b: 4 of 6, c: 1 of 2.
    scores = segment_scores(TRUE, PRED, overlap)
    assert scores == (correct / 3, correct / 3, correct / 3, 3, 3, correct)


def test_segments_and_labels_are_the_same():
    triples = [[[tuple(one) for one in segments_of(y)] for y in side] for side in (TRUE, PRED)]
    assert triples[0] == [[(0, 4, "a"), (4, 8, "b"), (8, 10, "c")]]
    assert segment_scores(*triples) == segment_scores(TRUE, PRED)


def test_a_true_segment_is_found_once():
    scores = segment_scores([[(0, 10, "a")]], [[(0, 6, "a"), (6, 10, "a")]], 0.3)
    assert scores == (0.5, 1.0, pytest.approx(2 / 3), 1, 2, 1)
    assert segment_scores([[(0, 10, "a")]], [[(0, 6, "b")]], 0.3).n_correct == 0


def test_labels_that_do_not_count():
    scores = segment_scores([["o", "a", "o"]], [["o", "a", "a"]], ignore=["o"])
    assert (scores.n_true, scores.n_predicted, scores.n_correct) == (1, 1, 1)


def test_unobserved_labels_and_abstaining():
    true, predicted = [["a", "a", None, "a", "a"]], [["a", "a", "b", "a", None]]
    scores = segment_scores(true, predicted)
    assert (scores.n_true, scores.n_predicted, scores.n_correct) == (2, 2, 2)


def test_exact_segments_are_entities():
    rng = np.random.default_rng(0)
    sides = [[rng.choice(["x", "y", "z"], size=n).tolist() for n in (0, 1, 7, 30)] for _ in range(2)]

    def iob(labels):
        before = [None, *labels[:-1]]
        return [f"{'B' if a != b else 'I'}-{b}" for a, b in zip(before, labels, strict=False)]

    found = entity_scores(*([iob(labels) for labels in side] for side in sides)).overall
    assert segment_scores(*sides, 1.0) == tuple(found)


def test_random_segments_by_sets_of_positions():
    rng = np.random.default_rng(3)
    for overlap in (0.1, 0.25, 0.5, 0.9):
        sides = [np.repeat(rng.integers(0, 3, size=12), rng.integers(1, 5, size=12)).tolist() for _ in "ab"]
        length = min(map(len, sides))
        true, predicted = (segments_of(side[:length]) for side in sides)
        taken, correct = set(), 0
        for start, end, label in predicted:
            mine = set(range(start, end))
            shares = [
                len(mine & set(range(a, b))) / len(mine | set(range(a, b))) * (name == label)
                for a, b, name in true
            ]
            best = int(np.argmax(shares))
            if shares[best] >= overlap and best not in taken:
                taken.add(best)
                correct += 1
        scores = segment_scores([sides[0][:length]], [sides[1][:length]], overlap)
        assert scores[3:] == (len(true), len(predicted), correct)


def test_nothing_to_find():
    assert segment_scores([[]], [[]]) == (0.0, 0.0, 0.0, 0, 0, 0)
    assert segment_scores([[(0, 1, "a")]], [[]]) == (0.0, 0.0, 0.0, 1, 0, 0)
    assert segments_of([]) == []


@pytest.mark.parametrize(
    ("true", "predicted", "options", "message"),
    [
        (3, TRUE, {}, "y_true must be a list of label sequences, or of lists of segments"),
        (TRUE, PRED * 2, {}, "y_true has 1 sequences, but y_pred has 2"),
        ([["a"]], [["a", "b"]], {}, "Sequence 0 has 1 labels in y_true, but 2 in y_pred"),
        (
            [[(0, 1, "a")]],
            [["a"]],
            {},
            r"y_true has segments \(start, end, label\), but the other",
        ),
        (["ab"], ["ab"], {}, "Sequence 0 of y_true is 'ab'"),
        ([[(0, 1, "a"), "b"]], [[(0, 1, "a")]], {}, "has 'b', expected a segment"),
        (
            [[(1, 1, "a")]],
            [[(0, 1, "a")]],
            {},
            "Sequence 0 of y_true has a segment from 1 to 1, expected",
        ),
        ([[(0, 1, "a")]], [[(-1, 1, "a")]], {}, "Sequence 0 of y_pred has a segment from -1 to 1"),
        ([[(0, 1, [])]], [[]], {}, r"has the label \[\], which is not hashable"),
        ([[(0, 1, "a")]], [[], []], {}, "y_true has 1 sequences, but y_pred has 2"),
        (TRUE, PRED, {"overlap": 0}, "overlap is 0"),
        (TRUE, PRED, {"overlap": 1.5}, "overlap is 1.5"),
        (TRUE, PRED, {"ignore": "o"}, "ignore is 'o'"),
    ],
)
def test_what_is_refused(true, predicted, options, message):
    with pytest.raises(InputError, match=message):
        segment_scores(true, predicted, **options)
