"""Sparse models: the dense one where everything is selected, and what is kept on the way."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from kernelfields import FreeScores, GPSequenceClassifier, InputError, KernelCRF, KernelScores, Parts, Run
from kernelfields.kernels import RBF, Linear, Polynomial
from kernelfields.objective import SpaceNorm
from kernelfields.selection import (
    SGPS,
    SGSA,
    AtRandom,
    GreedyCliques,
    InTurn,
    LargestGradient,
    RefitAll,
    RefitNew,
    WholeSequences,
)
from kernelfields.testing import check_estimator, labelled_sequences
from tests.selection._counting import CountingKernel

EXACT = {"run": Run(dtype="float64"), "tol": 1e-9, "random_state": 0}
ALL = 10**6
FEW = [
    SGPS(20, step=4),
    SGSA(20, step=4, order=LargestGradient()),
    SGPS(20, step=4, refit=RefitNew(), order=InTurn(2)),
    WholeSequences(20, step=4),
    GreedyCliques(20, step=4, sample=10),
]


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, count=12)


@pytest.mark.parametrize("selection", [FEW[0], FEW[4]], ids=lambda one: type(one).__name__)
def test_estimator_passes_all_checks(selection, rng):
    model = GPSequenceClassifier(RBF(0.5), sparse=selection, run=Run(dtype="float64"), random_state=0)
    # The first coordinates are judged by counts of label pairs, of which some are equal.
    check_estimator(model, rng, ties=isinstance(selection, SGPS))


@pytest.mark.parametrize(
    "selection",
    [
        SGPS(ALL, step=20, order=InTurn(3)),
        SGSA(ALL, step=20, order=InTurn(3)),
        SGSA(ALL, step=20, order=LargestGradient()),
        SGPS(ALL, step=20, order=InTurn(3), refit=RefitNew()),
        GreedyCliques(ALL, step=20),
    ],
    ids=lambda one: type(one).__name__,
)
def test_all_coordinates_are_the_dense_model(selection, data):
    """The same optimum, certified among all functions of the kernel's space."""
    X, y = data
    dense = GPSequenceClassifier(RBF(0.5), edge_variance=0.4, **EXACT).fit(X, y)
    model = GPSequenceClassifier(RBF(0.5), sparse=selection, edge_variance=0.4, **EXACT).fit(X, y)
    full = model.full_gap(X, y)
    assert full.relative_gap < 1e-7
    assert full.value == pytest.approx(model.certificate_.value, rel=1e-10)
    assert model.certificate_.value == pytest.approx(dense.certificate_.value, rel=1e-7)
    for left, right in zip(model.predict_marginals(X), dense.predict_marginals(X), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-4)


def test_whole_labellings_approach_the_dense_model(data):
    X, y = data
    selection = WholeSequences(ALL, step=20, order=InTurn(3), gap=1e-3)
    model = GPSequenceClassifier(RBF(0.5), sparse=selection, **EXACT).fit(X, y)
    assert "whole space" in model.stop_reason_
    assert model.full_gap(X, y).relative_gap < 1e-3


@pytest.mark.parametrize(
    "options",
    [
        {"kernel": RBF(0.5), "parts": Parts(edge_kernel=KernelScores())},
        {
            "kernel": RBF(0.5),
            "parts": Parts(edge_kernel=KernelScores(penalty=0.2), edges=FreeScores(penalty=2.0)),
        },
        {"kernel": RBF(0.5), "parts": Parts(edge_kernel=KernelScores(Linear())), "structure": "chain2"},
        {"kernel": Polynomial(2), "parts": Parts(edges=FreeScores(penalty=3.0))},
        {"kernel": [RBF(0.5), RBF(5.0)], "penalty": [1.0, 2.0]},
        {"kernel": RBF(0.5), "parts": Parts(edges=None)},
    ],
    ids=str,
)
def test_greedy_cliques_of_every_kind_reach_the_dense_model(options, data):
    X, y = data
    dense = KernelCRF(**options, **EXACT).fit(X, y)
    model = KernelCRF(**options, **EXACT, basis=GreedyCliques(ALL, step=40)).fit(X, y)
    assert model.certificate_.value == pytest.approx(dense.certificate_.value, rel=1e-7)
    for left, right in zip(model.predict_marginals(X), dense.predict_marginals(X), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-4)


def test_two_labels_need_half_the_functions(data):
    X, y = data
    y = [["A" if label == "red" else "B" for label in labels] for labels in y]
    dense = GPSequenceClassifier(RBF(0.5), **EXACT).fit(X, y)
    model = GPSequenceClassifier(RBF(0.5), sparse=SGSA(ALL, step=20, order=InTurn(3)), **EXACT).fit(X, y)
    assert model.certificate_.value == pytest.approx(dense.certificate_.value, rel=1e-7)
    assert model.path_[-1].functions == len(dense.basis_) + 4


@pytest.mark.parametrize("selection", FEW, ids=lambda one: type(one).__name__)
def test_the_fitted_model_is_what_the_path_says(selection, data):
    """Size of the basis, value and certificate; less than everything, more than nothing."""
    X, y = data
    model = GPSequenceClassifier(RBF(0.5), sparse=selection, edge_variance=0.4, **EXACT).fit(X, y)
    last = model.path_[-1]
    assert last.functions == 20 == model.selected_["kernel"].size
    assert len(model.basis_) == last.observations < sum(map(len, X))
    positions = np.unique(model.selected_["kernel"].observations)
    expected = np.concatenate([np.asarray(x) for x in X])[positions]
    np.testing.assert_array_equal(np.unique(expected, axis=0), np.unique(model.basis_, axis=0))
    alpha, K = model.dual_coef_, RBF(0.5)(model.basis_)
    penalty = np.trace(alpha.T @ K @ alpha) + (model.transitions_**2).sum() / 0.4
    value = penalty - model.sequence_log_proba(X, y).sum()
    assert model.certificate_.value == pytest.approx(value, rel=1e-7)
    assert model.certificate_.value <= last.value * (1 + 1e-9)
    assert model.certificate_.relative_gap < 1e-8
    assert model.certificate_space_ == "selection"
    assert model.full_gap(X, y).gap > model.certificate_.gap
    values = [step.value for step in model.path_]
    assert np.all(np.diff(values) <= 1e-6)
    assert [step.functions for step in model.path_] == sorted({step.functions for step in model.path_})


def test_compact_and_pickled_models_predict_the_same(data):
    X, y = data
    model = KernelCRF(RBF(0.5), basis=SGPS(10), warm_start=True, random_state=0).fit(X, y)
    for other in (model.compact(), pickle.loads(pickle.dumps(model))):
        assert other.predict(X) == model.predict(X)
    assert not {"path_", "_growth", "selected_"} & set(vars(model.compact()))


def test_one_and_two_threads_select_the_same(rng):
    dense, y = labelled_sequences(rng, count=60)
    rounded = [sparse.csr_matrix(np.round(x, 1)) for x in dense]
    selections = (SGPS(20, step=5, order=AtRandom(5)), GreedyCliques(20, step=5))
    for X, selection in zip((dense, rounded), selections, strict=True):
        found = []
        for threads in (1, 2):
            with threadpool_limits(threads):
                model = KernelCRF(Polynomial(2), penalty=0.5, basis=selection, random_state=0).fit(X, y)
            found.append(model.selected_["kernel"])
        for left, right in zip(*found, strict=True):
            np.testing.assert_array_equal(left, right)


def test_seeds_decide(data):
    X, y = data
    make = lambda seed: GPSequenceClassifier(RBF(0.5), sparse=SGPS(8, step=1), random_state=seed).fit(X, y)  # noqa: E731
    one, same, other = (make(seed).selected_["kernel"].observations.tolist() for seed in (0, 0, 1))
    assert one == same != other


def interrupting(after):
    def callback(progress):
        if progress.iteration == after:
            raise KeyboardInterrupt

    return callback


@pytest.mark.parametrize("selection", FEW, ids=lambda one: type(one).__name__)
def test_interrupted_models_are_usable_and_go_on(selection, data):
    X, y = data
    options = {**EXACT, "sparse": selection, "edge_variance": 0.4}
    whole = GPSequenceClassifier(RBF(0.5), **options).fit(X, y)
    model = GPSequenceClassifier(RBF(0.5), **options).set_params(run__callback=interrupting(2))
    with pytest.warns(ConvergenceWarning, match=r"Interrupted.*There are \d+.*warm_start"):
        model.fit(X, y)
    reached = model.path_[-1].functions
    assert 0 < reached < 20
    assert model.path_ == model.path_[:3]
    assert model.selected_["kernel"].size == reached
    assert len(model.predict(X)) == len(X)
    assert model.certificate_.value == pytest.approx(model.full_gap(X, y).value)
    model.set_params(run__callback=None, warm_start=True).fit(X, y)
    assert [step.functions for step in model.path_] == [step.functions for step in whole.path_]
    for left, right in zip(model.selected_["kernel"], whole.selected_["kernel"], strict=True):
        np.testing.assert_array_equal(left, right)
    assert model.certificate_.value == pytest.approx(whole.certificate_.value, rel=1e-6)


class Interrupting(CountingKernel):
    """Presses Ctrl-C once, when the count of calls is up; copies count together."""

    left = 0

    def block(self, X, Y):
        type(self).left -= 1
        if type(self).left == 0:
            raise KeyboardInterrupt
        return super().block(X, Y)


@pytest.mark.parametrize("at", range(12, 24))
def test_interrupts_anywhere_leave_a_usable_model(at, data, monkeypatch):
    """While candidates are judged, columns computed or factors extended."""
    X, y = data
    monkeypatch.setattr(Interrupting, "left", at)
    model = GPSequenceClassifier(Interrupting(), sparse=SGPS(ALL, step=3), **EXACT)
    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model.fit(X, y)
    reached = model.path_[-1].functions
    assert reached == model.selected_["kernel"].size > 0
    assert np.isfinite(model.sequence_log_proba(X, y)).all()
    model.set_params(warm_start=True, sparse=SGPS(reached + 6, step=3)).fit(X, y)
    assert model.path_[-1].functions == reached + 6
    assert model.certificate_.relative_gap < 1e-8


def test_warm_start_goes_on_with_more_functions(data):
    (X, y), refit = data, RefitAll(iterations=500, tol=1e-12)  # a fit ends so, too
    model = KernelCRF(RBF(0.5), basis=SGSA(8, step=4, refit=refit), warm_start=True, **EXACT).fit(X, y)
    first = model.selected_["kernel"]
    model.set_params(basis=SGSA(20, step=4, refit=refit)).fit(X, y)
    whole = KernelCRF(RBF(0.5), basis=SGSA(20, step=4, refit=refit), **EXACT).fit(X, y)
    np.testing.assert_array_equal(
        model.selected_["kernel"].observations, whole.selected_["kernel"].observations
    )
    np.testing.assert_array_equal(
        model.selected_["kernel"].observations[: len(first.observations)], first.observations
    )
    assert model.path_[-1].functions == 20
    other = [x + 1 for x in X]
    assert model.fit(other, y).path_[0].functions == 0  # other data: from the start


def test_held_out_data_choose_the_size(rng):
    X, y = labelled_sequences(rng, count=40)
    X_dev, y_dev = labelled_sequences(rng, count=20)
    y_dev = [[y[0][0] if rng.random() < 0.4 else label for label in labels] for labels in y_dev]
    selection = GreedyCliques(60, step=6)
    by_label = {"decoder": "posterior", **EXACT}  # as errors of the path are counted
    model = KernelCRF(RBF(2.0), penalty=0.01, basis=selection, **by_label)
    model.fit(X, y, X_dev=X_dev, y_dev=y_dev)
    best = max(model.path_, key=lambda step: step.held_out)
    assert model.selected_["kernel"].size == best.functions < 60
    assert model.sequence_log_proba(X_dev, y_dev).sum() == pytest.approx(best.held_out, rel=1e-8)
    assert 1 - model.score(X_dev, y_dev) == pytest.approx(best.error)
    with_pairs = GPSequenceClassifier(RBF(2.0), sparse=SGPS(30), **EXACT).fit(X, y, X_dev=X_dev, y_dev=y_dev)
    best = max(with_pairs.path_, key=lambda step: step.held_out)
    assert with_pairs.sequence_log_proba(X_dev, y_dev).sum() == pytest.approx(best.held_out, rel=1e-8)


def test_kernel_values_are_those_of_candidates_and_basis_only(rng):
    X, y = labelled_sequences(rng, count=120)
    n = sum(map(len, X))
    kernel = CountingKernel()
    model = KernelCRF(kernel, basis=SGPS(30, step=10), run=Run(dtype="float64"), random_state=0).fit(X, y)
    kernel = model.kernel_
    longest = max(map(len, X))
    visits = model.path_[-1].visits
    assert kernel.largest <= max(n * 40, 200**2) < n**2 / 4
    assert kernel.values < n * (visits * longest + 30) + 40**2 * visits + 200**2
    before = kernel.values
    model.predict(X[:10])
    assert kernel.values - before <= sum(map(len, X[:10])) * len(model.basis_)


def test_bad_settings_are_refused(data):
    X, y = data
    for options, words in (
        (
            {"basis": "sgps"},
            "^basis='sgps' is not known; choose .*'fourier', an Approximation or a Selection.$",
        ),
        ({"basis": SGPS}, "^basis is <class .*SGPS'>; it must be .*an Approximation or a Selection.$"),
        (
            {"basis": SGPS(), "parts": Parts(kernel=KernelScores(norm=SpaceNorm(1.0)))},
            "^A selection as basis goes with squared penalties, and with no part such as 'kernel'.$",
        ),
        ({"basis": SGPS(), "parts": Parts(edge_kernel=KernelScores())}, "for no triples"),
        ({"basis": SGPS(), "structure": "chain2"}, "for no triples"),
        (
            {"basis": SGPS(), "parts": Parts(kernel=KernelScores(labels=np.eye(3)))},
            "one kernel for all labels",
        ),
    ):
        with pytest.raises(InputError, match=words):
            KernelCRF(**options).fit(X, y)
    for settings in ({"size": 0}, {"step": 0}, {"threshold": -1.0}, {"gap": float("nan")}):
        with pytest.raises(InputError, match=f"^{next(iter(settings))} is "):
            SGPS(**settings)
    several = KernelCRF([RBF(0.5), RBF(5.0)], basis=GreedyCliques(4)).fit(X, y)
    with pytest.raises(InputError, match="several kernels"):
        several.full_gap(X, y)
