"""Changes of label between parents and children."""

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.metrics import transition_accuracy


def drawn(rng, count, missing=0.2):
    """Labels, guesses and parents of random forests; some labels were not observed."""
    true, guess, parents = [], [], []
    for _ in range(count):
        size = int(rng.integers(0, 7))
        order = rng.permutation(size)  # parents need not come first
        above = [int(rng.integers(-1, t)) for t in range(size)]
        own = np.full(size, -1)
        for t, parent in enumerate(above):
            own[order[t]] = -1 if parent < 0 else order[parent]
        labels = rng.integers(3, size=size).tolist()
        true.append([None if rng.random() < missing else y for y in labels])
        guess.append([y if rng.random() < 0.7 else 2 - y for y in labels])
        parents.append(own.tolist())
    return true, guess, parents


def test_by_hand(rng):
    true, guess, parents = drawn(rng, 60)
    hits = [
        labels[p] == answers[p] and labels[v] == answers[v]
        for labels, answers, above in zip(true, guess, parents, strict=True)
        for v, p in enumerate(above)
        if p >= 0 and None not in (labels[p], labels[v]) and labels[p] != labels[v]
    ]
    assert 0 < np.mean(hits) < 1
    assert transition_accuracy(true, guess, parents) == np.mean(hits)


def test_a_path_is_a_sequence(rng):
    true, guess, _ = drawn(rng, 60)
    paths = [[t - 1 for t in range(len(labels))] for labels in true]
    assert transition_accuracy(true, guess, paths) == transition_accuracy(true, guess)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([[-1, 0]], "parents has 1 trees, but y_true has 2"),
        ([[-1, 0], [-1, 1]], "Tree 1 needs a parent for each of its 1 labels"),
        ([[-1, 2], [-1]], "Tree 0 needs a parent for each of its 2 labels, from −1 to 1"),
        ([[-1, 0.5], [-1]], "Tree 0 needs a parent"),
        ([[-1, -2], [-1]], "Tree 0 needs a parent"),
        ([None, [-1]], "Tree 0 needs a parent"),
    ],
)
def test_odd_parents(parents, message):
    y = [["a", "b"], ["a"]]
    with pytest.raises(InputError, match=message):
        transition_accuracy(y, y, parents)


def test_nothing_changes():
    y = [["a", "b"]]
    with pytest.raises(InputError, match="no boundaries"):
        transition_accuracy(y, y, [[-1, -1]])
