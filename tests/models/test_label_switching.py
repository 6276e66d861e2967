"""Label switching, against all labellings there are."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from kernelfields.kernels import RBF
from kernelfields.models.binary_margin import BinaryMargin
from kernelfields.models.label_switching import LabelSwitching, Stage, _pairs

KNOWN, UNKNOWN, POSITIVE = 2, 7, 3


def problem(seed, unknown=UNKNOWN):
    """Two clusters, and labelled rows that do not lie in them."""
    rng = np.random.default_rng(seed)
    truth = np.where(np.arange(KNOWN + unknown) % 2, 1.0, -1.0)
    X = rng.normal(size=(len(truth), 2))
    X[KNOWN:] += 1.5 * truth[KNOWN:, None]
    return BinaryMargin(RBF(0.2)(X), 0.1, 1e-8, 10_000), truth[:KNOWN]


def value_of(margin, labels, unknown, weight=1.0):
    weights = np.r_[np.ones(KNOWN), np.full(UNKNOWN, weight)]
    return margin.fit(np.r_[labels, unknown], weights).certificate.value


def best_of_all(margin, labels, weight=1.0):
    def labelling(positive):
        unknown = np.full(UNKNOWN, -1.0)
        unknown[list(positive)] = 1.0
        return unknown

    every = combinations(range(UNKNOWN), POSITIVE)
    return min(value_of(margin, labels, labelling(positive), weight) for positive in every)


def test_is_never_below_the_best_labelling_and_mostly_there():
    hits = 0
    for seed in range(25):
        margin, labels = problem(seed)
        found = LabelSwitching(0.7, 1e-5).run(margin, labels, np.ones(KNOWN), POSITIVE, 1)
        assert (found.labels[KNOWN:] > 0).sum() == POSITIVE
        np.testing.assert_array_equal(found.labels[:KNOWN], labels)
        value, best = found.function.certificate.value, best_of_all(margin, labels, 0.7)
        assert value == pytest.approx(value_of(margin, labels, found.labels[KNOWN:], 0.7), rel=1e-7)
        assert value >= best * (1 - 1e-7)
        hits += value <= best * (1 + 1e-7)
    assert hits > 15


def test_every_switch_lowers_the_objective_until_no_pair_is_left():
    switches = 0
    for seed in range(12):
        margin, labels = problem(seed, unknown=40)
        found = LabelSwitching(1.0, 1e-5).run(margin, labels, np.ones(KNOWN), 20, 1)
        for before, after in pairwise(found.steps):
            if after.switched:
                assert after[1:3] == before[1:3]
                assert after.value < before.value
                switches += 1
        slacks, unknown = found.function.slacks(found.labels)[KNOWN:], found.labels[KNOWN:]
        left, right = slacks[unknown > 0], slacks[unknown < 0]
        assert (left[left > 0][:, None] + right[right > 0] <= 2 + 1e-5).all()
    assert switches > 10


def test_pairs_are_the_worst_with_the_worst():
    labels = np.array([1.0, 1, 1, -1, -1, -1])
    slacks = np.array([9.0, 0.5, 2.5, 1.0, 1.6, 0.0])
    assert _pairs(slacks, labels, 1).tolist() == [[2, 4]]  # the first row has a label
    assert _pairs(slacks, labels, 0).tolist() == [[0, 4], [2, 3]]


def test_weights_double_up_to_the_last():
    stages = LabelSwitching(2.0, 0.25).stages(6, 2)
    assert stages == [Stage(0.5, 0.25), Stage(1.0, 0.5), Stage(2.0, 1.0), Stage(2.0, 2.0)]
    assert LabelSwitching(2.0, 1.0).stages(6, 0) == [Stage(2.0, 2.0)]
    assert LabelSwitching(0.0, 0.25).stages(6, 2) == LabelSwitching(1.0, 0.25).stages(0, 0) == []


@pytest.mark.parametrize("positive", [0, UNKNOWN])
def test_labels_of_one_kind_stay(positive):
    margin, labels = problem(0)
    found = LabelSwitching(1.0, 1e-2).run(margin, labels, np.ones(KNOWN), positive, 1)
    assert (found.labels[KNOWN:] == (1.0 if positive else -1.0)).all()
    assert all(step.switched == 0 for step in found.steps)
