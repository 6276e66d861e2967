"""Learnt weights of kernels: alignment by the definition, multiple kernel learning by another solver."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone

from kernelfields import InputError, KernelCRF, KernelLogisticRegression, load
from kernelfields.kernels import (
    RBF,
    Columns,
    Constant,
    Linear,
    alignment_weights,
    centred_alignment,
)
from kernelfields.selection import GreedyCliques
from kernelfields.testing import labelled_sequences

TIGHT = {"dtype": "float64", "tol": 1e-6, "max_iter": 10_000}
KERNELS = [RBF(0.5), Linear(), RBF(5.0)]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(24, 3))
    return X, np.where(X[:, 0] + 0.5 * np.sin(3 * X[:, 1]) + 0.3 * rng.normal(size=24) > 0, "a", "b")


def centred(gram):
    N = len(gram)
    H = np.eye(N) - 1 / N
    return H @ gram @ H


def alignment_of(gram, labels):
    label_gram = centred((labels[:, None] == labels).astype(float))
    gram = centred(gram)
    return np.vdot(gram, label_gram) / (np.linalg.norm(gram) * np.linalg.norm(label_gram))


def spread_of(gram):
    return np.trace(centred(gram)) / len(gram)


def test_alignment_is_its_definition(rng):
    X, labels = rng.normal(size=(700, 2)), rng.integers(3, size=700)  # more than a tile of rows
    for kernel in KERNELS:
        expected = alignment_of(kernel(X), labels)
        assert centred_alignment(kernel, X, labels) == pytest.approx(expected, rel=1e-9)
    assert centred_alignment(Constant(), X, labels) == 0.0


def test_weights_are_those_of_the_best_alignment(rows):
    """Against a search over directions in the positive orthant."""
    X, labels = rows
    grams = [kernel(X) for kernel in KERNELS]
    found = alignment_weights(KERNELS, X, labels)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()

    def value(shares):
        return alignment_of(sum(m * g / spread_of(g) for m, g in zip(shares, grams, strict=True)), labels)

    steps = np.linspace(0, 1, 41)
    grid = [(a, b, 1 - a - b) for a in steps for b in steps if a + b <= 1 + 1e-12]
    best = max(grid, key=value)
    assert value(found) >= value(best) - 1e-12
    assert np.abs(found - best).max() < 0.05
    scaled = alignment_weights([3.0 * KERNELS[0], KERNELS[1], 0.01 * KERNELS[2]], X, labels)
    np.testing.assert_allclose(scaled, found, atol=1e-7)


def test_kernels_that_are_the_same_share_their_weight(rows):
    X, labels = rows
    single = alignment_weights(KERNELS[:2], X, labels)
    double = alignment_weights([KERNELS[0], KERNELS[1], KERNELS[0]], X, labels)
    assert double[0] + double[2] == pytest.approx(single[0], abs=1e-6)


def test_models_have_the_aligned_kernel(rows):
    X, labels = rows
    model = KernelLogisticRegression(KERNELS, kernel_weights="alignment", **TIGHT).fit(X, labels)
    weights = alignment_weights(KERNELS, X, labels)
    np.testing.assert_allclose(model.kernel_weights_, weights, atol=1e-9)
    assert model.weights_certificate_ is None
    grams = [kernel(X) for kernel in KERNELS]
    expected = sum(m * g / spread_of(g) for m, g in zip(weights, grams, strict=True))
    np.testing.assert_allclose(model.kernel_(X), expected, atol=1e-9)
    plain = KernelLogisticRegression(model.kernel_, **TIGHT).fit(X, labels)
    assert plain.certificate_.value == pytest.approx(model.certificate_.value, rel=1e-6)


def objective(rows, penalty):
    """min over f_m and b of log loss + (λ/2)((Σ_m √s_m ‖f_m‖)² + ‖b‖²), explicit, by L-BFGS of SciPy."""
    X, labels = rows
    y = (labels == "b").astype(int)
    roots, scales = [], []
    for kernel in KERNELS:
        values, vectors = np.linalg.eigh(kernel(X))
        kept = values > 1e-10 * values.max()
        roots.append(vectors[:, kept] * np.sqrt(values[kept]))
        scales.append(np.sqrt(spread_of(kernel(X))))
    sizes = np.cumsum([0, *(2 * root.shape[1] for root in roots)])

    def value(z):
        parts = [z[a:b].reshape(-1, 2) for a, b in pairwise(sizes)]
        scores = z[-2:] + sum(root @ part for root, part in zip(roots, parts, strict=True))
        log_p = log_softmax(scores, axis=1)
        norms = np.array([np.sqrt((part**2).sum() + 1e-14) for part in parts])
        total = norms @ scales
        residual = np.exp(log_p) - np.eye(2)[y]
        slopes = [
            (root.T @ residual + penalty * total * scale * part / norm).ravel()
            for root, part, scale, norm in zip(roots, parts, scales, norms, strict=True)
        ]
        slope = np.concatenate([*slopes, residual.sum(axis=0) + penalty * z[-2:]])
        squares = total**2 + (z[-2:] ** 2).sum()
        return -log_p[np.arange(len(y)), y].sum() + 0.5 * penalty * squares, slope

    best = np.inf
    for seed in range(3):
        start = 0.1 * np.random.default_rng(seed).normal(size=sizes[-1] + 2)
        options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-14, "gtol": 1e-10}
        best = min(best, minimize(value, start, jac=True, method="L-BFGS-B", options=options).fun)
    return best


@pytest.mark.parametrize("penalty", [0.1, 1.0])
def test_weights_by_the_certificate_reach_the_minimum(penalty, rows):
    X, labels = rows
    settings = {"penalty": penalty, **TIGHT}
    model = KernelLogisticRegression(KERNELS, kernel_weights="certificate", **settings).fit(X, labels)
    best = objective(rows, penalty)
    certificate = model.weights_certificate_
    assert certificate.lower_bound <= best * (1 + 1e-6)
    assert certificate.value == pytest.approx(best, rel=1e-5)
    assert certificate.relative_gap < 1e-5
    assert certificate.value == model.certificate_.value
    for others in (np.eye(3)[0], np.eye(3)[1], np.full(3, 1 / 3)):
        scaled = [m / spread_of(k(X)) * k for m, k in zip(others, KERNELS, strict=True) if m]
        worse = KernelLogisticRegression(scaled, **settings).fit(X, labels)
        assert worse.certificate_.value >= certificate.lower_bound


def test_sequences_have_weights_by_the_certificate(rng):
    X, y = labelled_sequences(rng, count=10)
    kernels = [RBF(0.5), Columns(RBF(2.0), [0]), Linear()]
    settings = {"penalty": 0.3, "dtype": "float64", "tol": 1e-4}
    model = KernelCRF(kernels, kernel_weights="certificate", **settings).fit(X, y)
    certificate = model.weights_certificate_
    assert certificate.relative_gap < 3e-4
    flat = np.concatenate(X)
    values = []
    for a, b in ((1, 0), (0, 1), (0, 0), (0.3, 0.3), (0.8, 0.1)):
        shares = (a, b, 1 - a - b)
        scaled = [m / spread_of(k(flat)) * k for m, k in zip(shares, kernels, strict=True) if m]
        values.append(KernelCRF(scaled, **settings).fit(X, y).certificate_.value)
    assert min(values) >= certificate.lower_bound
    assert certificate.value <= min(values) * (1 + 3e-4)


def test_selections_take_weighed_kernels(rng):
    X, y = labelled_sequences(rng, count=10)
    selection = GreedyCliques(12, step=2, each_kernel=True)
    kernels = [Columns(RBF(1.0), [0]), Columns(RBF(1.0), [1])]
    model = KernelCRF(kernels, kernel_weights="alignment", selection=selection).fit(X, y)
    assert len(model.path_) > 1
    assert (model.kernel_weights_ > 0).all()
    flat = np.concatenate(X)
    scales = [m / spread_of(k(flat)) for m, k in zip(model.kernel_weights_, kernels, strict=True)]
    assert [kernel.factor for kernel in model.kernel_.values()] == pytest.approx(scales, rel=1e-4)


def test_labels_that_are_missing_are_left_out_of_the_alignment(rng):
    X, y = labelled_sequences(rng, count=10)
    y[0][0] = None
    model = KernelCRF([RBF(0.5), Linear()], kernel_weights="alignment", dtype="float64").fit(X, y)
    known = np.concatenate(y)[1:]
    expected = alignment_weights([RBF(0.5), Linear()], np.concatenate(X)[1:], known.astype(str))
    np.testing.assert_allclose(model.kernel_weights_, expected, atol=1e-9)
    with pytest.raises(InputError, match="all labels observed"):
        KernelCRF([RBF(0.5), Linear()], kernel_weights="certificate").fit(X, y)


@pytest.mark.parametrize("how", ["alignment", "certificate"])
def test_files_copies_and_refits(how, rows, tmp_path):
    X, labels = rows
    model = KernelLogisticRegression([RBF("scale"), Linear()], kernel_weights=how).fit(X, labels)
    model.save(tmp_path / "model.kf")
    for again in (
        load(tmp_path / "model.kf"),
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(X, labels),
    ):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.kernel_weights_, model.kernel_weights_)
        assert again.weights_certificate_ == model.weights_certificate_
    assert model.set_params(kernel_weights=None).fit(X, labels).kernel_weights_ is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"kernel_weights": "best"},
            "kernel_weights='best' is not known; choose one of 'alignment', 'certificate' or None",
        ),
        ({"kernel": "rbf"}, "several kernels in a list"),
        ({"kernel": [RBF()]}, "several kernels in a list"),
        ({"kernel": {"red": RBF(), "green": RBF(), "blue": Linear()}}, "several kernels in a list"),
        ({"penalty": [1.0, 2.0]}, "several are weights already"),
        ({"kernel_weights": "certificate", "approximation": "nystroem"}, "does not go with approximation"),
        ({"kernel_weights": "certificate", "edge_kernel": True}, "does not go with edge_kernel=True"),
        ({"kernel_weights": "certificate", "penalty": 0.0}, "all penalties above 0"),
        ({"kernel_weights": "certificate", "kernel": [RBF(), Constant()]}, "kernel 1 has the same value"),
        ({"kernel": [Constant(), Constant(2.0)]}, "No kernel is aligned"),
    ],
)
def test_bad_settings_are_refused(settings, words, rng):
    X, y = labelled_sequences(rng, count=10)
    model = KernelCRF(**{"kernel": [RBF(), Linear()], "kernel_weights": "alignment", **settings})
    with pytest.raises(InputError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
