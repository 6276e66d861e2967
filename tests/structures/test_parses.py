"""Heads and relations as users write them."""

import itertools

import numpy as np
import pytest

from kernelfields.arrays import offsets_of
from kernelfields.errors import InputError
from kernelfields.structures import Dependency
from tests._listed_trees import trees


def offsets(*words):
    return offsets_of([n * (n + 1) for n in words])


def round_trip(structure, y, *words):
    outputs = structure.encode(y, offsets(*words), None)
    return structure.decode(outputs, structure.on(offsets(*words), None, len(structure.alphabet)))


def test_heads_come_back():
    y = [[2, 0, 2], [], [0]]
    assert round_trip(Dependency(), y, 3, 0, 1) == y
    assert round_trip(Dependency(), [np.array(heads, np.int32) for heads in y], 3, 0, 1) == y


def test_relations_come_back():
    y = [([2, 0, 2], ["det", "root", "obj"]), ([0], ["root"])]
    structure = Dependency(labels=True).settled(y)
    assert structure.labels == ("det", "obj", "root")
    assert round_trip(structure, y, 3, 1) == y
    assert Dependency(labels=["det", "obj", "root"]) == structure


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_trees_and_nothing_else_are_read(n, projective, single):
    listed = {tuple(heads) for heads in trees(n, projective, single).tolist()}
    structure, accepted = Dependency(projective, single), set()
    for heads in itertools.product(range(n + 1), repeat=n):
        try:
            structure.encode([list(heads)], offsets(n), None)
        except InputError:
            continue
        accepted.add(heads)
    assert accepted == listed


@pytest.mark.parametrize(
    ("heads", "message"),
    [
        ([0, 3], r"Sentence 1 of y: word 2 has the head 3, expected 0 \(the root\) to 2\."),
        ([-1, 0], r"word 1 has the head -1, expected"),
        ([2**40, 0], r"word 1 has the head 1099511627776, expected"),
        ([1, 0], r"Sentence 1 of y: word 1 is its own head\."),
        ([2, 1], r"Sentence 1 of y: word 1 is its own ancestor\."),
        ([0, 0], r"Sentence 1 of y: word 2 is a second one with the root as its head; single_root=False"),
        ([0], r"Sentence 1 has 2 words in X, but 1 heads in y\."),
        ([0.0, 1.0], r"Sentence 1 of y is not a list of heads, which are whole numbers\."),
        ("01", r"Sentence 1 of y is not a list of heads"),
        ([[0], [1, 1]], r"Sentence 1 of y is not a list of heads"),
    ],
)
def test_bad_heads_are_named(heads, message):
    with pytest.raises(InputError, match=message):
        Dependency().encode([[0], heads], offsets(1, 2), None)


def test_crossing_arcs_are_named():
    crossing = [3, 4, 0, 3]
    with pytest.raises(InputError, match=r"word 1 has an arc that crosses another; projective=False"):
        Dependency().encode([crossing], offsets(4), None)
    assert round_trip(Dependency(projective=False), [crossing], 4) == [crossing]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[0]], r"Sentence 0 of y is not a pair \(heads, relations\)\."),
        ([([0], ["a", "b"])], r"Sentence 0 has 1 words in X, but 2 relations in y\."),
        ([([0], [None])], r"Sentence 0 of y: word 1 has the relation None, expected a name\."),
        ([([0], [["a"]])], r"word 1 has the relation \['a'\], expected a name"),
        ([([0], "a")], r"Sentence 0 of y is not a pair"),
    ],
)
def test_bad_relations_are_named(y, message):
    with pytest.raises(InputError, match=message):
        Dependency(labels=["a", "b"]).encode(y, offsets(1), None)
    with pytest.raises(InputError):
        Dependency(labels=True).settled(y).encode(y, offsets(1), None)


@pytest.mark.parametrize("labels", ["abc", 3, [], ["a", "a"], 1.5])
def test_odd_labels_are_refused(labels):
    with pytest.raises(InputError, match="labels"):
        Dependency(labels=labels)


def test_sentences_that_are_no_lists_of_arcs_are_named():
    with pytest.raises(InputError, match=r"Sentence 1 of X has 7 rows, expected n\(n \+ 1\) for n words"):
        Dependency().on(np.array([0, 6, 13]), None, 1)
    with pytest.raises(InputError, match="X has 1 sentences, but y has 2"):
        Dependency().encode([[0], [0]], offsets(1), None)
    with pytest.raises(InputError, match="y must be a list"):
        Dependency().encode("00", offsets(1, 1), None)
