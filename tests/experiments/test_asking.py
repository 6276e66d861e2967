"""Parts of the experiment on active learning."""

import numpy as np

from experiments.lib.asking import asked_twice, first_labels, landmark_features, mean_curve
from kernelfields.active import LearningCurve
from kernelfields.kernels import RBF


def curve(labels, scores):
    return LearningCurve(np.array(labels), np.array(scores), np.zeros(len(labels)))


def test_features_of_all_points_are_the_kernel():
    points = np.random.default_rng(0).normal(size=(12, 3))
    features = landmark_features(RBF(0.4), points)(points)
    np.testing.assert_allclose(features @ features.T, RBF(0.4)(points), atol=1e-6)


def test_first_labels_are_whole_random_sequences():
    y = [["a"] * 3 for _ in range(10)]
    start = first_labels(y, 7, seed=1)
    assert sum(labels is not None for labels in start) == 3
    assert start == first_labels(y, 7, seed=1)
    assert start != first_labels(y, 7, seed=2)


def test_curves_are_averaged_and_counted():
    middle = mean_curve([curve([10, 20], [0.2, 0.4]), curve([12, 20], [0.4, 0.8])])
    assert middle.labels.tolist() == [11.0, 20.0]
    np.testing.assert_allclose(middle.scores, [0.3, 0.6])
    assert asked_twice(curve([5, 10, 20], [0, 0, 0]), [10, 20]) == 0
    assert asked_twice(curve([5, 10, 19], [0, 0, 0]), [10, 20]) == 1
