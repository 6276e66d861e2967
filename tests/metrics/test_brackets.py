"""Brackets by hand, as evalb counts them, and by another way of counting."""

import sys
from itertools import pairwise

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.metrics import bracket_scores


def tree(text):
    """Read one tree; small enough for a recursion."""
    pieces = text.replace("(", " ( ").replace(")", " ) ").split()

    def node(at):
        label, at, children = pieces[at + 1], at + 2, []
        while pieces[at] != ")":
            child, at = node(at) if pieces[at] == "(" else (pieces[at], at + 1)
            children.append(child)
        return (label, *children), at + 1

    return node(0)[0]


def counts(true, predicted, **options):
    scores = bracket_scores([tree(true)], [tree(predicted)], **options)
    return scores.n_true, scores.n_predicted, scores.n_correct


GOLD = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (NP (DT a) (NN cat)) (PP (IN in) (NP (NN town))))) (. .))"


def test_by_hand():
    # S, NP(0,2), VP(2,7), NP(3,7), NP(3,5), PP(5,7), NP(6,7); the full stop is taken out.
    flat = "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN in) (NP (NN town)))) (. .))"
    assert counts(GOLD, flat) == (7, 6, 6)
    scores = bracket_scores([tree(GOLD)] * 2, [tree(flat), tree(GOLD)])
    assert scores == (1.0, 13 / 14, pytest.approx(26 / 27), 0.5, 14, 13, 13)


@pytest.mark.parametrize(
    ("true", "predicted", "expected"),
    [
        ("(S (A a))", "(S (A a))", (1, 1, 1)),
        # Words with their tags are no brackets, and tags may differ.
        ("(S (A a) (B b))", "(S (B a) (A b))", (1, 1, 1)),
        # The bracket around a sentence does not count.
        ("(TOP (S (A a)))", "(ROOT (S (A a)))", (1, 1, 1)),
        ("(TOP (S (A a)))", "(S (A a))", (1, 1, 1)),
        ("(S1 (S (A a)))", "(X (A a))", (1, 1, 0)),
        # Function tags and indices do not count.
        ("(S (NP-SBJ-1 (A a)) (NP=2 (B b)))", "(S (NP (A a)) (NP (B b)))", (3, 3, 3)),
        # The same bracket twice counts twice, as often as both have it.
        ("(S (NP (NP (A a))) (B b))", "(S (NP (A a)) (B b))", (3, 2, 2)),
        ("(NP (NP (NP (A a))))", "(NP (NP (A a)))", (3, 2, 2)),
        ("(S (X (S (A a))))", "(S (S (S (A a))))", (3, 3, 2)),
        # Punctuation moves no brackets: (NP a ,) is (NP a).
        ("(S (NP (A a) (, ,)) (B b))", "(S (NP (A a)) (, ,) (B b))", (2, 2, 2)),
        ("(S (`` ``) (NP (A a)) ('' ''))", "(S (NP (`` ``) (A a) ('' '')))", (2, 2, 2)),
        # Traces go, and what is empty then.
        ("(S (NP (-NONE- *)) (VP (A a)))", "(S (VP (A a)))", (2, 2, 2)),
        ("(S (NP (: --)) (VP (A a)))", "(S (VP (: --) (A a)))", (2, 2, 2)),
        # Particles are adverbs.
        ("(VP (A a) (PRT (B b)))", "(VP (A a) (ADVP (B b)))", (2, 2, 2)),
        # Right span, wrong label; right label, wrong span.
        ("(S (NP (A a)) (B b))", "(S (VP (A a)) (B b))", (2, 2, 1)),
        ("(S (NP (A a) (B b)) (C c))", "(S (A a) (NP (B b) (C c)))", (2, 2, 1)),
    ],
)
def test_rules(true, predicted, expected):
    assert counts(true, predicted) == expected


def test_options():
    true, predicted = "(TOP (S (A a) (. .)))", "(TOP (S (A a)) (. .))"
    assert counts(true, predicted) == (1, 1, 1)
    assert counts(true, predicted, deleted_tags=()) == (1, 1, 0)
    assert counts(true, predicted, ignored_labels=()) == (2, 2, 2)
    assert counts("(S (PRT (A a)))", "(S (ADVP (A a)))", equal_labels={}) == (2, 2, 1)
    assert counts("(S (X (A a)))", "(S (Y (A a)))", equal_labels={"X": "Y"}) == (2, 2, 2)


def test_sentences_without_words_are_not_counted():
    scores = bracket_scores([tree("(S (. .))"), tree("(S (A a))")], [tree("(X (. .))"), tree("(X (A a))")])
    assert scores == (0.0, 0.0, 0.0, 0.0, 1, 1, 0)
    assert bracket_scores([("A", "a")], [("A", "a")]) == (0.0, 0.0, 0.0, 1.0, 0, 0, 0)


def spans(node, start=0):
    """All brackets and the number of words, by recursion, deletion by walking over the words."""
    if isinstance(node[1], str):
        return [], int(node[0] not in (",", "-NONE-"))
    found, size = [], 0
    for child in node[1:]:
        inner, words = spans(child, start + size)
        found, size = found + inner, size + words
    mine = [(node[0], start, start + size)] if size and node[0] != "TOP" else []
    return mine + found, size


def random_tree(rng, words, label="TOP"):
    if len(words) == 1 and rng.random() < 0.6:
        return words[0]
    cuts = sorted(set(rng.integers(1, len(words), size=2).tolist())) if len(words) > 1 else []
    ends = [0, *cuts, len(words)]
    parts = [words[a:b] for a, b in pairwise(ends)]
    return (label, *(random_tree(rng, part, "ABC"[rng.integers(3)]) for part in parts))


def test_random_trees_by_another_count():
    rng = np.random.default_rng(1)
    true, predicted, expected = [], [], np.zeros(3, dtype=int)
    for _ in range(60):
        words = [(["N", "N", ",", "-NONE-"][rng.integers(4)], f"w{k}") for k in range(rng.integers(2, 9))]
        words[0] = ("N", "w")
        pair = [random_tree(rng, words) for _ in range(2)]
        lists = [spans(one)[0] for one in pair]
        rest, correct = list(lists[1]), 0
        for one in lists[0]:
            if one in rest:
                rest.remove(one)
                correct += 1
        expected += (len(lists[0]), len(lists[1]), correct)
        true.append(pair[0])
        predicted.append(pair[1])
    scores = bracket_scores(true, predicted)
    assert [scores.n_true, scores.n_predicted, scores.n_correct] == expected.tolist()
    assert 0 < scores.n_correct < scores.n_true
    assert scores.precision == expected[2] / expected[1]
    assert scores.recall == expected[2] / expected[0]


def test_trees_deeper_than_the_stack():
    deep = ("A", "a")
    for _ in range(2 * sys.getrecursionlimit()):
        deep = ("X", deep)
    assert bracket_scores([deep], [deep]).f1 == 1.0


def test_lists_are_trees_too():
    assert bracket_scores([["S", ["A", "a"]]], [("S", ("A", "a"))]).f1 == 1.0


def test_numbers_of_words_as_leaves():
    true = tree("(S (NP (A a) (, ,)) (VP (B b)))")
    assert bracket_scores([true], [("S", ("NP", 0), 1, ("VP", 2))]).f1 == 1.0
    assert bracket_scores([("S", ("NP", 0, np.int64(1)), 2)], [true])[4:] == (2, 3, 2)
    assert bracket_scores([("S", ("NP", 0, 1), 2)], [("S", 0, ("NP", 1, 2))])[4:] == (2, 2, 1)


GOOD = ("S", ("A", "a"))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("S", "Tree 0 of y_pred has 'S' in the place of a subtree"),
        (None, "has None in the place of a subtree"),
        (("S", ("A", "a"), "b"), "has 'b' in the place of a subtree"),
        (("S",), "has 'S' without a word or a subtree below it"),
        ((), "Tree 0 has 1 words that count in y_true, but 0 in y_pred"),
        (("S", ()), r"has a subtree without a label: \(\)"),
        (("S", 1), "has the word 1, expected word 0"),
        (("S", True), "has True in the place of a subtree"),
        (("S", 0, 1), "Tree 0 has 1 words in y_true, but 2 in y_pred"),
        ((3, ("A", "a")), "has a subtree without a label"),
        (("S", ("A", 3)), "has the word 3, expected word 0"),
        (("S", ("A", 0.5)), "has 0.5 in the place of a subtree"),
        (("S", ("A", "b")), "Tree 0 has 'a' as word 0 in y_true, but 'b' in y_pred"),
        (("S", ("A", "a"), ("B", "b")), "Tree 0 has 1 words that count in y_true, but 2 in y_pred"),
        (("S", (".", "a")), "Tree 0 has 1 words that count in y_true, but 0 in y_pred"),
    ],
)
def test_what_is_no_tree(bad, message):
    with pytest.raises(InputError, match=message):
        bracket_scores([GOOD], [bad])


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((3, [GOOD]), {}, "y_true must be a list of trees"),
        (([GOOD], [GOOD, GOOD]), {}, "y_true has 1 trees, but y_pred has 2"),
        (([], []), {}, "nothing to score"),
        (([("S", (".", "."))],) * 2, {}, "nothing to score"),
        (([GOOD], [GOOD]), {"deleted_tags": "."}, "deleted_tags is '.'"),
        (([GOOD], [GOOD]), {"ignored_labels": 3}, "ignored_labels is 3"),
        (([GOOD], [GOOD]), {"equal_labels": ["A"]}, r"equal_labels is \['A'\]"),
    ],
)
def test_what_is_refused(arguments, options, message):
    with pytest.raises(InputError, match=message):
        bracket_scores(*arguments, **options)
