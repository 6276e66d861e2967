"""Attachment scores by hand, by loops, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from kernelfields.errors import InputError
from kernelfields.metrics import AttachmentScores, attachment_scores

TRUE = [([2, 0, 2, 3], ["det", "root", "obj", "punct"]), ([0], ["root"])]
PRED = [([2, 0, 4, 2], ["det", "root", "obj", "punct"]), ([0], ["dep"])]
TAGS = [["DET", "VERB", "NOUN", "PUNCT"], ["VERB"]]


def test_by_hand():
    assert attachment_scores(TRUE, PRED, TAGS) == (3 / 5, 2 / 5, 3 / 4, 2 / 4)
    assert attachment_scores(TRUE, PRED) == (3 / 5, 2 / 5, None, None)
    assert attachment_scores(TRUE, TRUE, TAGS) == (1.0, 1.0, 1.0, 1.0)


def test_heads_alone_have_no_labelled_score():
    heads = [item[0] for item in TRUE]
    assert attachment_scores(heads, [item[0] for item in PRED], TAGS) == (3 / 5, None, 3 / 4, None)
    assert attachment_scores(TRUE, [item[0] for item in PRED]).las is None


def test_two_words_are_not_a_pair():
    assert attachment_scores([[2, 0]], [[0, 1]]) == (0.0, None, None, None)
    assert attachment_scores([([2, 0], ["a", "b"])], [([2, 0], ["a", "c"])]).las == 0.5


def test_punctuation_as_tags_or_as_a_mask():
    penn = [["DT", "VB", "NN", "."], ["VB"]]
    mask = [[False, False, False, True], [False]]
    expected = attachment_scores(TRUE, PRED, TAGS)
    assert attachment_scores(TRUE, PRED, penn) == attachment_scores(TRUE, PRED, mask) == expected
    assert attachment_scores(TRUE, PRED, [np.array(row) for row in mask]) == expected
    assert attachment_scores(TRUE, PRED, TAGS, punctuation=()) == (3 / 5, 2 / 5, 3 / 5, 2 / 5)
    assert attachment_scores(TRUE, PRED, TAGS, punctuation=["VERB"])[2:] == (1 / 3, 1 / 3)
    assert attachment_scores([[0]], [[0]], [["PUNCT"]]) == (1.0, None, None, None)


def test_subtypes():
    true, predicted = [([2, 0], ["nsubj:pass", "root"])], [([2, 0], ["nsubj", "root"])]
    assert attachment_scores(true, predicted).las == 0.5
    assert attachment_scores(true, predicted, subtypes=False).las == 1.0


def test_random_sentences_by_loops():
    rng = np.random.default_rng(0)
    lengths = [int(n) for n in rng.integers(0, 12, size=40)]
    sides = [
        [(rng.integers(0, n + 1, size=n), [str(r) for r in rng.integers(0, 3, size=n)]) for n in lengths]
        for _ in range(2)
    ]
    tags = [[["X", ":", "PUNCT"][k] for k in rng.integers(0, 3, size=n)] for n in lengths]
    count = dict.fromkeys(("all", "words", "uas", "las", "uas words", "las words"), 0)
    for (h, r), (g, q), row in zip(*sides, tags, strict=True):
        for m, tag in enumerate(row):
            word = tag == "X"
            count["all"] += 1
            count["words"] += word
            count["uas"] += h[m] == g[m]
            count["las"] += h[m] == g[m] and r[m] == q[m]
            count["uas words"] += word and h[m] == g[m]
            count["las words"] += word and h[m] == g[m] and r[m] == q[m]
    expected = AttachmentScores(
        count["uas"] / count["all"],
        count["las"] / count["all"],
        count["uas words"] / count["words"],
        count["las words"] / count["words"],
    )
    np.testing.assert_allclose(attachment_scores(*sides, tags), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "item", [(2, 0), np.array([2, 0]), np.array([2, 0], dtype=np.uint8), pd.Series([2, 0], index=[5, 6])]
)
def test_kinds_of_lists(item):
    assert attachment_scores([item], [[2, 0]]).uas == 1.0
    assert attachment_scores([(item, ["a", "b"])], [([2, 0], ["a", "b"])]).las == 1.0


@pytest.mark.parametrize(
    ("true", "predicted", "options", "message"),
    [
        (3, [[0]], {}, "y_true must be a list with the heads of every sentence"),
        ([[0]], "ab", {}, "y_pred must be a list with the heads"),
        ([[0], [0]], [[0]], {}, "y_true has 2 sentences, but y_pred has 1"),
        ([[0]], [[2, 0]], {}, "Sentence 0 has 1 heads in y_true, but 2 in y_pred"),
        ([[2, 0], 3], [[2, 0], [0]], {}, "Sentence 1 of y_true is 3, not a list of heads"),
        ([["a", "b"]], [[2, 0]], {}, "Sentence 0 of y_true has heads that are not whole numbers"),
        ([[0.0, 1.0]], [[2, 0]], {}, "heads that are not whole numbers"),
        ([[True, False]], [[2, 0]], {}, "heads that are not whole numbers"),
        ([[None, 0]], [[2, 0]], {}, "heads that are not whole numbers"),
        ([[[1], [1, 2], 3]], [[2, 0, 1]], {}, "heads that are not whole numbers"),
        ([[3, 0]], [[2, 0]], {}, r"the head of word 1 is 3, expected 0 \(the root\) to 2"),
        ([[2, 0]], [[2, -1]], {}, "Sentence 0 of y_pred: the head of word 2 is -1"),
        ([([2, 0], ["a"])], [[2, 0]], {}, "Sentence 0 of y_true has 2 heads, but 1 relations"),
        ([([2, 0], ["a", "b"]), [0]], [[2, 0], [0]], {}, "Sentence 1 of y_true has no relations, but others"),
        ([], [], {}, "There is nothing to score"),
        ([[]], [[]], {}, "There is nothing to score"),
        ([[0]], [[0]], {"tags": [["X", "Y"]]}, "Sentence 0 has 1 heads in y_true, but 2 tags"),
        ([[0]], [[0]], {"tags": []}, "y_true has 1 sentences, but tags has 0"),
        ([[0]], [[0]], {"tags": ["X"]}, "Sequence 0 of tags is 'X'"),
        ([[0]], [[0]], {"tags": [["X"]], "punctuation": "PUNCT"}, "punctuation is 'PUNCT'"),
        ([[0]], [[0]], {"subtypes": "no"}, "subtypes is 'no'"),
    ],
)
def test_what_is_refused(true, predicted, options, message):
    with pytest.raises(InputError, match=message):
        attachment_scores(true, predicted, **options)
