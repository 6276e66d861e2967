"""Online rules on dependency trees, whose features are sparse, against the textbook."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields.objective import Term
from kernelfields.online import (
    ArowRule,
    Descent,
    InstanceSweep,
    PassiveAggressiveRule,
    PerceptronRule,
    Variant,
)
from kernelfields.online.descent import calibrated_step
from kernelfields.spaces import Free, LinearFeatures
from kernelfields.testing.online import EnumeratedSequence, arow, descend, passive_aggressive, perceptron
from tests._listed_trees import ListedTrees

WORDS = [2, 1, 3, 0, 2, 3]
ORDER = np.array([3, 0, 5, 1, 2, 5, 4, 0, 3, 3, 1, 4, 5, 2, 0, 5, 3, 2, 2, 4])
PENALTIES = (0.7, 0.2)


class Tiny:
    """Trees with relations, features of arcs, and start weights that leave no ties."""

    def __init__(self, rng, dtype, binary):
        self.batch = ListedTrees(WORDS, 2)
        N, D = int(self.batch.offsets[-1]), 12
        X = (rng.random((N, D)) < 0.5) * (1.0 if binary else rng.normal(size=(N, D)))
        features = LinearFeatures(self.batch, "arc", sparse.csr_matrix(X.astype(dtype)), np.arange(N))
        self.terms = [
            Term("features", features, PENALTIES[0]),
            Term("bias", Free(self.batch, "arc"), PENALTIES[1]),
        ]
        self.weights = rng.uniform(0.5, 2.0, len(WORDS))
        outputs, self.sequences = [], []
        for s, n in enumerate(WORDS):
            one = self.batch.take([s])
            every = one.every_output() if n else np.zeros((1, 0), np.int64)
            right = int(rng.integers(len(every)))
            rows = X[self.batch.offsets[s] : self.batch.offsets[s + 1]]
            joint = np.array([self._joint(one, rows, y) for y in every])
            self.sequences.append(EnumeratedSequence(every, joint, np.zeros(len(every)), right))
            outputs.append(every[right])
        self.outputs = np.concatenate(outputs).astype(np.int32)
        self.start = rng.normal(size=D * 2 + 2)

    @staticmethod
    def _joint(one, rows, y):
        parts = np.zeros(one.shapes["arc"])
        one.subtract_parts({"arc": parts}, y, np.array([-1.0]))
        return np.concatenate([(rows.T @ parts).ravel(), parts.sum(axis=0)])

    def sweep(self, weights=None):
        sweep = InstanceSweep(self.batch, self.terms, self.outputs, weights)
        sweep.load(self.start)
        return sweep


RULES = {
    "perceptron": (PerceptronRule(), lambda s, w, _: perceptron(s, w)),
    "PA": (PassiveAggressiveRule(Variant.HARD), lambda s, w, _: passive_aggressive(s, w, 0, 1.0, True)),
    "PA-I": (
        PassiveAggressiveRule(Variant.BOUNDED, 0.2, error_sensitive=False),
        lambda s, w, _: passive_aggressive(s, w, 1, 0.2, False),
    ),
    "PA-II": (
        PassiveAggressiveRule(Variant.SQUARED, 0.3),
        lambda s, w, _: passive_aggressive(s, w, 2, 0.3, True),
    ),
    "AROW": (ArowRule(0.5, 2.0), lambda s, w, _: arow(s, w, 0.5, 2.0)),
    "descent": (Descent(0.3, 0.0), lambda s, w, decay: descend(s, w, 0.3, decay)),
    "long steps": (Descent(8.0, 0.0), lambda s, w, decay: descend(s, w, 8.0, decay)),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-11), (np.float32, 2e-4)])
def test_weights_and_average_are_the_textbooks(rng, rule, binary, dtype, tolerance):
    """Long steps shrink weights so much that they are multiplied out in between."""
    tiny = Tiny(rng, dtype, binary)
    online, textbook = RULES[rule]
    decay = np.repeat(np.array(PENALTIES) / len(WORDS), [24, 2])
    path = list(textbook([tiny.sequences[s] for s in ORDER], tiny.start, decay))
    sweep = tiny.sweep()
    sweep.begin_average()
    for piece in np.array_split(ORDER, 3):
        sweep.learn(online, piece)
    np.testing.assert_allclose(sweep.element(), path[-1], rtol=0, atol=tolerance)
    np.testing.assert_allclose(sweep.average(), np.mean([tiny.start, *path], axis=0), rtol=0, atol=tolerance)
    assert np.abs(path[-1] - tiny.start).max() > 0.1


def test_weights_of_instances_multiply_their_steps(rng):
    tiny = Tiny(rng, np.float64, binary=False)
    decay = np.repeat(np.array(PENALTIES) / len(WORDS), [24, 2])
    given = [tiny.sequences[s] for s in ORDER]
    *_, wanted = descend(given, tiny.start, 0.3, decay, tiny.weights[ORDER])
    sweep = tiny.sweep(tiny.weights)
    sweep.learn(Descent(0.3, 0.0), ORDER)
    np.testing.assert_allclose(sweep.element(), wanted, atol=1e-12)


def test_a_search_for_the_step_leaves_weights_as_they_are(rng):
    tiny = Tiny(rng, np.float64, binary=True)
    sweep = tiny.sweep()
    assert 1e-3 < calibrated_step(sweep, np.random.default_rng(0)) < 100
    np.testing.assert_array_equal(sweep.element(), tiny.start)


def test_small_changes_are_passed_over(rng):
    """A threshold changes weights by at most as much as it leaves out."""
    tiny = Tiny(rng, np.float64, binary=True)
    exact, rough = tiny.sweep(), tiny.sweep()
    exact.learn(Descent(0.3, 0.0), ORDER)
    rough.learn(Descent(0.3, 1e-4), ORDER)
    np.testing.assert_allclose(rough.element(), exact.element(), atol=1e-2)
