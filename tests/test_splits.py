"""Splits of sequences: groups stay together, positions are balanced, the past comes first."""

from collections import Counter

import numpy as np
import pytest
import sklearn
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score

from kernelfields import CRF, InputError
from kernelfields.splits import SequenceKFold, TimeOrderedSplit
from kernelfields.testing.estimators import labelled_sequences


def drawn(rng, count=60, n_groups=20):
    y = [rng.choice(list("abbc"), size=n).tolist() for n in rng.integers(1, 40, size=count)]
    return [np.zeros((len(one), 2)) for one in y], y, rng.integers(0, n_groups, size=count)


def test_folds_are_a_partition_by_groups(rng):
    X, y, groups = drawn(rng)
    tests = []
    for train, test in SequenceKFold(4).split(X, y, groups):
        assert not {*groups[train]} & {*groups[test]}
        assert sorted([*train, *test]) == list(range(len(X)))
        tests.append(test)
    assert sorted(np.concatenate(tests)) == list(range(len(X)))


def test_positions_and_labels_are_balanced_better_than_by_sequences(rng):
    """Less uneven than scikit-learn's folds of as many sequences, in all of ten draws."""

    def uneven(folds, y):
        counts = [Counter(label for s in test for label in y[s]) for _, test in folds]
        return sum(np.std([one[label] for one in counts]) for label in "abc")

    for _ in range(10):
        X, y, _ = drawn(rng)
        assert uneven(SequenceKFold(4).split(X, y), y) < uneven(KFold(4).split(X), y)


def test_no_fold_is_empty(rng):
    X = [np.zeros((n, 1)) for n in (1000, 1, 1, 1)]
    assert [len(test) for _, test in SequenceKFold(4).split(X)] == [1, 1, 1, 1]
    empty = [np.zeros((0, 1))] * 4
    assert sorted(len(test) for _, test in SequenceKFold(3).split(empty)) == [1, 1, 2]


def test_shuffling_is_repeatable(rng):
    X = [np.zeros((2, 1))] * 30

    def folds(**how):
        return [test.tolist() for _, test in SequenceKFold(3, shuffle=True, **how).split(X)]

    assert folds(random_state=1) == folds(random_state=1) != folds(random_state=2)


@pytest.mark.parametrize(("count", "splits", "gap", "most"), [(12, 3, 0, None), (13, 4, 1, 2), (7, 2, 2, 1)])
def test_time_order_is_scikit_learns(count, splits, gap, most):
    X = [np.zeros((2, 1))] * count
    mine = TimeOrderedSplit(splits, gap=gap, max_train_groups=most).split(X)
    theirs = TimeSeriesSplit(splits, gap=gap, max_train_size=most).split(X)
    for (a, b), (c, d) in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_groups_are_in_the_order_of_time():
    groups = ["mon", "mon", "tue", "mon", "wed", "tue", "thu"]
    found = [(a.tolist(), b.tolist()) for a, b in TimeOrderedSplit(2).split([[0]] * 7, groups=groups)]
    assert found == [([0, 1, 2, 3, 5], [4]), ([0, 1, 2, 3, 4, 5], [6])]


@pytest.mark.parametrize("routing", [False, True])
def test_scikit_learns_tools_take_them(routing, rng):
    X, y = labelled_sequences(rng, 24)
    groups = np.arange(len(X)) % 6
    given = {"params": {"groups": groups}} if routing else {"groups": groups}
    with sklearn.config_context(enable_metadata_routing=routing):
        scores = cross_val_score(CRF(), X, y, cv=SequenceKFold(3), **given)
        parts = list(SequenceKFold(3).split(X, y, groups))
        plain = [
            CRF().fit([X[s] for s in a], [y[s] for s in a]).score([X[s] for s in b], [y[s] for s in b])
            for a, b in parts
        ]
        np.testing.assert_allclose(scores, plain)
        search = GridSearchCV(CRF(), {"penalty": [1.0, 0.1]}, cv=TimeOrderedSplit(2)).fit(X, y, groups=groups)
    assert search.n_splits_ == 2


def test_refusals():
    X = [[0]] * 4
    for words, attempt in {
        "there are 2 groups": lambda: next(SequenceKFold(3).split(X, groups=[0, 0, 1, 1])),
        "groups has 1": lambda: next(SequenceKFold(2).split(X, groups=[0])),
        "y has 1": lambda: next(SequenceKFold(2).split(X, [["a"]])),
        "n_splits": lambda: next(SequenceKFold(1).split(X)),
        "too few": lambda: next(TimeOrderedSplit(4).split(X)),
        "gap of 3": lambda: next(TimeOrderedSplit(2, gap=3).split(X)),
    }.items():
        with pytest.raises(InputError, match=words):
            attempt()
