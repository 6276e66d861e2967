"""Phrase trees as users write them."""

import numpy as np
import pytest

from kernelfields.arrays import offsets_of
from kernelfields.errors import InputError
from kernelfields.structures import Constituency, ConstituencyBatch, binary_spans, tree_of, with_leaves
from tests._listed_parses import ListedParses

TREE = (
    "S",
    ("NP", ("DT", "the"), ("JJ", "old"), ("JJ", "grey"), ("NN", "dog")),
    ("VP", ("VBZ", "wants"), ("S", ("VP", ("TO", "to"), ("VP", ("VB", "sleep"))))),
    (".", "."),
)


def offsets(*words):
    return offsets_of([n * (n + 1) // 2 for n in words])


def round_trip(structure, y, *words):
    outputs = structure.encode(y, offsets(*words), None)
    return structure.decode(outputs, structure.on(offsets(*words), None, len(structure.alphabet)))


def test_spans_of_a_tree():
    assert sorted(binary_spans(TREE)) == sorted(
        [
            (0, 8, "S"),
            (4, 8, ""),
            (0, 4, "NP"),
            (1, 4, ""),
            (2, 4, ""),
            (4, 7, "VP"),
            (5, 7, "S+VP"),
            (6, 7, "VP"),
            *((k, k + 1, "") for k in (0, 1, 2, 3, 4, 5, 7)),
        ]
    )


def test_trees_come_back():
    assert with_leaves(TREE, binary_words(TREE)) == TREE
    numbered = ("S", ("NP", 0, 1, 2, 3), ("VP", 4, ("S", ("VP", 5, ("VP", 6)))), 7)
    y = [TREE, (), ("NN", "dog"), ("NP", ("NN", "dog")), ("FRAG", ("NP", 0), 1)]
    structure = Constituency().settled(y)
    assert structure.labels == ("FRAG", "NP", "S", "S+VP", "VP")
    assert round_trip(structure, y, 8, 0, 1, 1, 2) == [numbered, (), 0, ("NP", 0), ("FRAG", ("NP", 0), 1)]
    assert round_trip(structure, round_trip(structure, y, 8, 0, 1, 1, 2), 8, 0, 1, 1, 2)[0] == numbered


def binary_words(tree):
    """The leaves of a tree."""
    return (
        [tree] if isinstance(tree[1], str) else [leaf for child in tree[1:] for leaf in binary_words(child)]
    )


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_output_is_another_tree(n):
    """Trees with any number of children and binary ones with empty spans are the same, one by one."""
    structure, batch = Constituency(["A", "B+C"]), ListedParses([n], 3, empty=True)
    every = batch.every_output()
    trees = [structure.decode(y, batch)[0] for y in every]
    assert len(set(trees)) == len(trees)
    again = structure.encode(trees, offsets(*[n] * len(trees)), None)
    np.testing.assert_array_equal(again.reshape(every.shape), every)


def test_deep_trees_need_no_stack():
    deep = 0
    for _ in range(5000):
        deep = ("X", deep)
    assert binary_spans(deep) == [(0, 1, "+".join(["X"] * 5000))]
    assert len(with_leaves(deep, [("T", "w")])) == 2
    right: object = 2999
    for k in range(2998, -1, -1):
        right = ("X", k, right)
    assert len(binary_spans(right)) == 2 * 3000 - 1
    assert tree_of(binary_spans(right))[1] == 0


def test_labels_that_training_did_not_have():
    outputs = Constituency(["NP"]).encode([("S", ("NP", 0), 1)], offsets(2), None)
    assert outputs.tolist() == [1, -2, 4]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (("S",), r"Sentence 1 of y has \"\('S',\)\" in the place of a phrase"),
        (["S", 0, 1], "in the place of a phrase"),
        (("S", 0, None), "has 'None' in the place of a phrase"),
        (("S", "the", "dog"), "has 'the' in the place of a phrase"),
        (("", 0, 1), "has the label '', expected a name"),
        (("A+B", 0, 1), r"has the label 'A\+B', expected a name without '\+'"),
        ((3, 0, 1), "has the label '3'"),
        (("S", 1, 0), "Sentence 1 of y has the word 1 where word 0 is expected"),
        (("S", 0, 1, 2), "Sentence 1 has 2 words in X, but 3 in y"),
        ((), "Sentence 1 has 2 words in X, but 0 in y"),
        (("S", 0, True), "has 'True' in the place"),
    ],
)
def test_bad_trees_are_named(tree, message):
    with pytest.raises(InputError, match=message):
        Constituency(["S"]).encode([0, tree], offsets(1, 2), None)


@pytest.mark.parametrize("labels", ["abc", 3, ["a", "a"], ["a", ""], [1]])
def test_odd_labels_are_refused(labels):
    with pytest.raises(InputError, match="labels"):
        Constituency(labels=labels)


def test_sentences_that_are_no_lists_of_spans_are_named():
    with pytest.raises(InputError, match=r"Sentence 1 of X has 7 rows, expected n\(n \+ 1\)/2 for n words"):
        Constituency().on(np.array([0, 6, 13]), None, 1)
    with pytest.raises(InputError, match="X has 1 sentences, but y has 2"):
        Constituency().encode([0, 0], offsets(1), None)
    with pytest.raises(InputError, match="y must be a list"):
        Constituency().encode(("S", 0, 1), offsets(2), None)
    with pytest.raises(InputError, match="The tree has 2 words, but there are 1 leaves"):
        with_leaves(("S", 0, 1), ["a"])


def test_the_place_of_a_tree_that_does_not_exist():
    """What stands for the second best of a sentence that has only one."""
    batch = ConstituencyBatch([2, 1], 2, empty=True)
    assert Constituency(["A"]).decode(np.zeros(4, np.int32), batch) == [(), 0]
