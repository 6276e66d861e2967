"""The kernel perceptron: the linear one with a linear kernel, votes counted one by one, budgets kept."""

import numpy as np
import pytest

from kernelfields import InputError, KernelPerceptron, Parts, StructuredPerceptron
from kernelfields.kernels import RBF, Linear
from kernelfields.structures import ChainBatch
from kernelfields.testing import check_estimator, labelled_sequences

MODELS = {
    "averaged": KernelPerceptron(RBF(0.5), max_iter=3, random_state=0),
    "voted": KernelPerceptron(RBF(0.5), combination="voted", max_iter=2, random_state=0),
    "last": KernelPerceptron(RBF(0.5), combination="last", max_iter=2, edges=False, random_state=0),
    "budget": KernelPerceptron(RBF(0.5), budget=10, max_iter=3, random_state=0),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_estimator_passes_all_checks(name, rng):
    check_estimator(MODELS[name], rng, ties=True)


@pytest.mark.parametrize("combination", ["averaged", "last"])
def test_with_a_linear_kernel_it_is_the_linear_perceptron(combination, rng):
    X, y = labelled_sequences(rng, 40)
    kernel = KernelPerceptron(Linear(), combination=combination, max_iter=3, shuffle=False).fit(X, y)
    linear = StructuredPerceptron(
        combination == "averaged", max_iter=3, shuffle=False, parts=Parts(bias=None, boundaries=None)
    ).fit(X, y)
    np.testing.assert_allclose(kernel.basis_.T @ kernel.dual_coef_, linear.coef_.T, atol=1e-9)
    np.testing.assert_allclose(kernel.transitions_, linear.transitions_, atol=1e-9)


def test_votes_are_those_of_all_models_on_the_way(rng):
    X, y = labelled_sequences(rng, 15)
    voted = KernelPerceptron(Linear(), combination="voted", max_iter=1, shuffle=False).fit(X, y)
    votes = np.zeros((len(np.concatenate(X)), 3))
    for n in range(len(X) + 1):  # the model after n sequences is the last one of a shorter training
        labels = np.zeros(len(votes), dtype=int)
        if n:
            steps = StructuredPerceptron(
                False, max_iter=1, shuffle=False, parts=Parts(bias=None, boundaries=None)
            )
            steps.partial_fit(X[:n], y[:n], classes=["blue", "green", "red"])
            chain = ChainBatch(np.cumsum([0, *map(len, X)]), 3)
            scores = {"node": np.concatenate(X) @ steps.coef_.T, "edge": steps.transitions_}
            labels = chain.argmax(scores).labels
        votes[np.arange(len(votes)), labels] += 1
    shares = np.concatenate(voted.predict_marginals(X))
    np.testing.assert_allclose(shares, votes / (len(X) + 1), atol=1e-9)


def test_a_budget_is_kept_and_forgets_the_oldest(rng):
    X, y = labelled_sequences(rng, 40)
    for budget in (1, 7):
        model = KernelPerceptron(RBF(0.5), combination="last", budget=budget, max_iter=4, random_state=0).fit(
            X, y
        )
        assert 0 < len(model.basis_) <= budget
    whole = KernelPerceptron(RBF(0.5), combination="last", budget=10_000, max_iter=2, random_state=0).fit(
        X, y
    )
    plain = KernelPerceptron(RBF(0.5), combination="last", max_iter=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(whole.dual_coef_, plain.dual_coef_)
    last = KernelPerceptron(RBF(0.5), combination="last", budget=3, max_iter=1, shuffle=False).fit(X, y)
    changed = [s for s in range(len(X)) if (last.basis_[:, None] == X[s]).all(axis=2).any()]
    assert min(changed) > len(X) // 2  # what is left comes from the end


@pytest.mark.parametrize("name", list(MODELS))
def test_it_learns(name, rng):
    model = MODELS[name].fit(*labelled_sequences(rng, 60))
    assert model.score(*labelled_sequences(rng, 60)) > (0.7 if name == "budget" else 0.85)
    assert model.mistakes_[-1] <= model.mistakes_[0]


@pytest.mark.parametrize("settings", [{"combination": "best"}, {"budget": 0}, {"max_iter": 0}])
def test_bad_settings_are_refused(settings, rng):
    with pytest.raises(InputError):
        KernelPerceptron(**settings, random_state=0).fit(*labelled_sequences(rng))
