"""What users bring is seldom float64: every kind of input goes with every setting of the objective."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernelfields import (
    CRF,
    MEMM,
    KernelCRF,
    KernelLogisticRegression,
    KernelScores,
    LinearScores,
    Parts,
    Run,
)
from kernelfields.kernels import RBF
from kernelfields.losses import Log
from kernelfields.structures import Graph, Marginals
from tests._enumerating import Enumerating, EnumeratingBatch

SOLVERS = ["lbfgs", "newton-cg", "block-jacobi", "subspace", "conjugate-gradients", "meta-descent"]


def sequences(seed=0, n=12, longest=5):
    random = np.random.default_rng(seed)
    X = [random.normal(size=(random.integers(1, longest + 1), 4)) for _ in range(n)]
    return X, [["abc"[int(np.argmax(row[:3]))] for row in x] for x in X]


def dictionaries(X):
    return [[{f"x{k}": float(v) for k, v in enumerate(row)} for row in x] for x in X]


KINDS = {
    "single": lambda X: [x.astype(np.float32) for x in X],
    "sparse single": lambda X: [sparse.csr_matrix(x.astype(np.float32)) for x in X],
    "booleans": lambda X: [sparse.csr_matrix(x > 0) for x in X],
    "dictionaries": dictionaries,
    "tokens": lambda X: [[[f"w{int(4 * row[0])}", f"t{int(row[1] > 0)}"] for row in x] for x in X],
}


def model_for(kind, **settings):
    return CRF(features="chunking" if kind == "tokens" else None, **settings)


@pytest.mark.parametrize("kind", KINDS)
def test_l1_reaches_its_certificate_on_every_kind_of_input(kind):
    X, y = sequences()
    model = model_for(kind, l1=0.5).fit(KINDS[kind](X), y)
    assert 0 <= model.certificate_.relative_gap <= 2e-3
    assert (model.coef_ == 0).any()


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_class_weights_go_with_every_kind_of_input_and_solver(kind, solver):
    X, y = sequences()
    X = KINDS[kind](X)
    model = model_for(kind, loss=Log(class_weight="balanced"), solver=solver).fit(X, y)
    other = model_for(kind, loss=Log(class_weight="balanced")).fit(X, y)
    assert model.certificate_.value == pytest.approx(other.certificate_.value, rel=3e-3)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("parts", [Parts(), Parts(edge_kernel=KernelScores())], ids=repr)
def test_class_weights_of_kernel_models_at_the_default_precision(solver, parts):
    X, y = sequences()
    settings = {"loss": Log(class_weight="balanced"), "parts": parts}
    model = KernelCRF(**settings, solver=solver).fit(X, y)
    double = KernelCRF(**settings, run=Run(dtype="float64")).fit(X, y)
    assert model.certificate_.value == pytest.approx(double.certificate_.value, rel=3e-3)


def test_kernel_logistic_regression_weighs_classes_at_the_default_precision():
    X, y = (np.concatenate(part) for part in sequences())
    model = KernelLogisticRegression(class_weight="balanced").fit(X, y)
    assert (model.predict(X) == y).mean() > 0.8


@pytest.mark.parametrize("loss", ["log", "marginal-log"])
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("seed", [24, 26, 30, 41, 46, 53])
def test_kernel_models_without_some_labels_agree_at_both_precisions(seed, kernel, loss):
    random = np.random.default_rng(seed)
    scale = 10.0 ** random.integers(-2, 3)
    X = [(scale * random.normal(size=(random.integers(1, 7), 3))).astype(np.float32) for _ in range(10)]
    y = [[None if random.random() < 0.3 else "abc"[random.integers(3)] for _ in x] for x in X]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about convergence
        single, double = (
            KernelCRF(kernel, penalty=0.01, loss=loss, run=Run(dtype=dtype)).fit(X, y)
            for dtype in ("float32", "float64")
        )
    for p, q in zip(single.predict_marginals(X), double.predict_marginals(X), strict=True):
        np.testing.assert_allclose(p, q, atol=1e-3)


SHORT = {
    "linear": lambda: CRF(parts=Parts(edge_features=LinearScores())),
    "kernel": lambda: KernelCRF(parts=Parts(edge_kernel=KernelScores())),
    "double": lambda: KernelCRF(parts=Parts(edge_kernel=KernelScores()), run=Run(dtype="float64")),
    "nystroem": lambda: KernelCRF(parts=Parts(edge_kernel=KernelScores()), basis="nystroem", random_state=0),
}


@pytest.mark.parametrize("kind", ["double", "single", "sparse single"])
@pytest.mark.parametrize("make", SHORT.values(), ids=SHORT)
def test_sequences_of_one_position_have_no_edges_to_learn_from(make, kind):
    X, y = sequences(longest=1)
    X = KINDS.get(kind, list)(X)
    model = make().fit(X, y)
    assert (np.concatenate(model.predict(X)) == np.concatenate(y)).mean() > 0.7
    assert not model.transitions_.any()
    longer = KINDS.get(kind, list)(sequences()[0])
    assert [len(labels) for labels in model.predict(longer)] == [x.shape[0] for x in longer]


@pytest.mark.parametrize("kernels", [["linear", RBF()], [RBF(), "linear"]])
def test_scores_of_several_kernels_are_those_of_the_attributes(kernels):
    random = np.random.default_rng(0)
    X = [5 * random.normal(size=(4, 3)) for _ in range(15)]
    y = [["abc"[random.integers(3)] for _ in x] for x in X]
    model = KernelCRF(kernels, penalty=[1e-6, 1.0], parts=Parts(edges=None, boundaries=None)).fit(X, y)
    observations = np.concatenate(X).astype(np.float32).astype(np.float64)
    scores = (
        model.kernel_(observations, model.basis_.astype(np.float64)) @ model.dual_coef_ + model.intercept_
    )
    expected = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    np.testing.assert_allclose(np.concatenate(model.predict_marginals(X)), expected, atol=1e-5)


def test_certificates_of_memms_are_those_of_double_precision():
    X, y = sequences()
    X = [(1e3 * x).astype(np.float32) for x in X]
    single = MEMM(tol=1e-5).fit(X, y)
    double = MEMM(tol=1e-5).fit([x.astype(np.float64) for x in X], y)
    assert 0 <= single.certificate_.relative_gap <= 1e-5
    assert single.certificate_.lower_bound <= double.certificate_.value
    assert double.certificate_.lower_bound <= single.certificate_.value


def test_the_full_gap_at_the_default_precision_bounds_that_in_double():
    X, y = sequences(n=20)
    X = [x.astype(np.float32) for x in X]
    model = KernelCRF("rbf", penalty=1e-3, basis="nystroem", random_state=0, tol=1e-4).fit(X, y)
    optimum = KernelCRF("rbf", penalty=1e-3, run=Run(dtype="float64"), tol=1e-8).fit(X, y).certificate_
    certificate = model.full_gap(X, y)
    assert certificate.lower_bound <= optimum.value * (1 + 1e-12)
    assert certificate.value >= optimum.lower_bound


class RoundedBatch(EnumeratingBatch):
    """Its marginals are of a precision that scores need not have."""

    dtype: Any = None

    def marginals(self, scores, weights=None):
        value, parts = super().marginals(scores, weights)
        return Marginals(value, {name: part.astype(self.dtype) for name, part in parts.items()})


@dataclass(frozen=True)
class Rounded(Enumerating):
    dtype: str

    def on(self, offsets, edges, n_labels, **shape):
        batch = RoundedBatch(offsets, edges, n_labels, **shape)
        batch.dtype = self.dtype
        return batch


@pytest.mark.parametrize("marginals", ["float32", "float64"])
@pytest.mark.parametrize(
    "model",
    [
        CRF(0.1),
        KernelCRF(penalty=0.1),
        KernelCRF(penalty=0.1, run=Run(dtype="float64")),
        KernelCRF(penalty=0.1, solver="newton-cg"),
    ],
    ids=repr,
)
def test_marginals_of_structures_of_users_may_have_another_precision(model, marginals):
    X, y = sequences()
    graphs = [(x, [(t, t + 1) for t in range(len(x) - 1)]) for x in X]
    exact = clone(model).set_params(structure=Graph(inference=Enumerating())).fit(graphs, y)
    other = clone(model).set_params(structure=Graph(inference=Rounded(marginals))).fit(graphs, y)
    assert other.certificate_.value == pytest.approx(exact.certificate_.value, rel=1e-4)
