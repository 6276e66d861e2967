"""Structure learning: bounds against refits to the end, and decisions on data whose structure is known."""

import numpy as np
import pytest

from kernelfields import InputError, KernelCRF, Parts, Run, StructureLearner
from kernelfields.kernels import RBF, Linear
from kernelfields.models.clique_types import Boundaries, Edges, FurtherKernel, InputEdges, SecondOrder
from kernelfields.models.gain_bounds import extension, gain_bound

CANDIDATES = [
    Edges(),
    Boundaries(),
    SecondOrder(),
    InputEdges(RBF(gamma=0.5)),
    FurtherKernel(Linear(), 2.0),
    FurtherKernel.of_columns(RBF(gamma=2.0), [1], 0.5, "second column"),
]


def sticky(rng, n, stay=0.9, noise=1.0):
    """Chains whose labels tend to stay, and observations that say little about them."""
    X, y = [], []
    for _ in range(n):
        label, labels = rng.integers(2), []
        for _ in range(12):
            labels.append(int(label))
            label = label if rng.random() < stay else 1 - label
        y.append(labels)
        X.append(np.array(labels)[:, None] + noise * rng.standard_normal((12, 2)))
    return X, y


def base(**settings):
    given = {
        "penalty": 0.7,
        "parts": Parts(edges=None, boundaries=None),
        "run": Run(dtype="float64"),
        "tol": 1e-9,
    }
    return KernelCRF(RBF(gamma=0.3), **{**given, **settings})


SETTINGS = [{}, {"parts": Parts(boundaries=None)}, {"constraints": None}]
LACKING = [
    pytest.param(candidate, settings, id=f"{candidate.name}-{settings}")
    for candidate in CANDIDATES
    for settings in SETTINGS
    if not ("parts" in settings and isinstance(candidate, Edges))
]


@pytest.mark.parametrize(("candidate", "settings"), LACKING)
def test_no_refit_gains_more_than_the_bound(candidate, settings):
    X, y = sticky(np.random.default_rng(3), 6)
    model = base(**settings).fit(X, y)
    refitted = extension(model, candidate).fit(X, y)
    gain = model.certificate_.value - refitted.certificate_.value
    assert 0 <= gain <= gain_bound(model, candidate, X, y) + model.certificate_.gap + 1e-9


def test_the_bound_of_edges_counts_pairs_by_hand():
    X, y = sticky(np.random.default_rng(4), 5)
    model = base().fit(X, y)
    counts = np.zeros((2, 2))
    for labels in y:
        np.add.at(counts, (labels[:-1], labels[1:]), 1)
    marginals = model.predict_marginals(X)  # no edges: neighbours are independent given x
    expected = sum(m[:-1].T @ m[1:] for m in marginals)
    bound = ((expected - counts) ** 2).sum() / (2 * 0.7)
    assert gain_bound(model, Edges(), X, y) == pytest.approx(bound, rel=1e-9)


def test_edges_are_kept_where_labels_stay_and_triples_are_not():
    rng = np.random.default_rng(0)
    X, y = sticky(rng, 40)
    X_dev, y_dev = sticky(rng, 40)
    learner = StructureLearner(base(tol=1e-4), candidates=[SecondOrder(), Edges()], worth=0.02)
    learner.fit(X, y, X_dev=X_dev, y_dev=y_dev)
    assert "edges" in learner.kept_
    assert learner.score(X_dev, y_dev) > base(tol=1e-4).fit(X, y).score(X_dev, y_dev)
    assert learner.predict(X_dev) == learner.model_.predict(X_dev)


def test_nothing_is_kept_where_labels_are_independent():
    rng = np.random.default_rng(1)
    X, y = sticky(rng, 40, stay=0.5)
    learner = StructureLearner(base(tol=1e-4), candidates=[Edges(penalty=50), Boundaries()], worth=0.05)
    learner.fit(X, y)
    assert learner.kept_ == []
    assert any(trial.gain is None for trial in learner.trials_)


def test_the_report_names_every_trial():
    X, y = sticky(np.random.default_rng(2), 20)
    learner = StructureLearner(base(tol=1e-4), candidates=[Boundaries(), Edges()]).fit(X, y)
    report = learner.report()
    assert learner.trials_[0].name == "edges"  # more to gain, and so tried first
    assert len(report.splitlines()) == len(learner.trials_) + 2
    assert "edges" in report
    assert "kept" in report


def test_losses_without_a_bound_are_refused():
    X, y = sticky(np.random.default_rng(2), 3)
    with pytest.raises(InputError, match="convex"):
        StructureLearner(base(loss="marginal-log"), candidates=[Edges()]).fit(X, y)
