"""Rules about neighbouring labels where lengths of runs have scores of their own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kernelfields import CRF, KernelCRF, StructuredPerceptron, StructuredSVM
from kernelfields.constraints import Constraints
from kernelfields.decoders import Posterior
from kernelfields.errors import InputError
from kernelfields.kernels import RBF
from kernelfields.structures import Segments

RNG = np.random.default_rng(4)
Y = [[0, 0, 1, 1, 2], [1, 2, 2, 0], [0, 1, 1, 1, 2, 0], [2, 0, 0]]
X = [np.eye(3)[y] + 0.7 * RNG.normal(size=(len(y), 3)) for y in Y]
RULE = Constraints([(0, 2), (1, 0)], forbidden_starts=[2])
OBEYED = Y[:3]


def learners(lengths: int):
    """Return estimators; with three lengths their scores have the shape of those of pairs."""
    structure = Segments(lengths, bins="each")
    settings = {"structure": structure, "constraints": RULE}
    return [
        CRF(penalty=0.1, **settings),
        KernelCRF(RBF(0.5), penalty=0.1, **settings),
        StructuredSVM(RBF(0.5), tol=0.3, **settings),
        StructuredPerceptron(random_state=0, **settings),
    ]


@pytest.mark.parametrize("lengths", [2, 3, 4])
def test_rules_bar_pairs_and_no_lengths(lengths) -> None:
    for model in learners(lengths):
        model.fit(X[:3], OBEYED)
        answers = [*model.predict(X), *model.predict(X, decoder=Posterior())]
        answers += [path for few in model.predict_kbest(X, 5) for path, _ in few]
        for path in answers:
            assert path[0] != 2
            assert not {(0, 2), (1, 0)} & set(itertools.pairwise(path))
        assert np.isfinite(model.durations_).all()


@pytest.mark.parametrize("lengths", [2, 3])
def test_probabilities_are_those_of_all_labellings_that_obey(lengths) -> None:
    model = CRF(0.1, structure=Segments(lengths, bins="each"), constraints=RULE, tol=1e-8).fit(X[:3], OBEYED)
    x = X[1]
    node = x @ model.coef_.T + model.intercept_
    node[0] += model.start_
    node[-1] += model.end_
    totals = {}
    for path in itertools.product(range(3), repeat=len(x)):
        if path[0] == 2 or {(0, 2), (1, 0)} & set(itertools.pairwise(path)):
            continue
        runs = [(label, len(list(run))) for label, run in itertools.groupby(path)]
        totals[path] = (
            sum(node[t, label] for t, label in enumerate(path))
            + sum(model.transitions_[a, b] for a, b in itertools.pairwise(path))
            + sum(model.durations_[min(n, lengths) - 1, label] for label, n in runs)
        )
    weights = np.exp(list(totals.values()))
    expected = sum(w * np.eye(3)[list(path)] for path, w in zip(totals, weights, strict=True)) / weights.sum()
    np.testing.assert_allclose(model.predict_marginals([x])[0], expected, atol=1e-9)


def test_training_labels_that_break_a_rule_are_named() -> None:
    with pytest.raises(InputError, match="Sequence 3 starts with the forbidden label 2 at position 0"):
        CRF(structure="segments", constraints=RULE).fit(X, Y)
