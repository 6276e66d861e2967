"""Learnt weights of kernels: alignment by the definition, multiple kernel learning by another solver."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kernelfields import (
    FieldClustering,
    GPSequenceClassifier,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelScores,
    Parts,
    Run,
    StructuredSVM,
    TransductiveSVM,
    load,
)
from kernelfields.kernels import (
    RBF,
    Columns,
    Constant,
    Linear,
    Weighted,
    alignment_weights,
    centred_alignment,
)
from kernelfields.selection import GreedyCliques
from kernelfields.testing import labelled_sequences

TIGHT = {"run": Run(dtype="float64"), "tol": 1e-6, "max_iter": 10_000}
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
    model = KernelLogisticRegression(Weighted(KERNELS), **TIGHT).fit(X, labels)
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
    model = KernelLogisticRegression(Weighted(KERNELS, by="certificate"), **settings).fit(X, labels)
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
    settings = {"penalty": 0.3, "run": Run(dtype="float64"), "tol": 1e-4}
    model = KernelCRF(Weighted(kernels, by="certificate"), **settings).fit(X, y)
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
    model = KernelCRF(Weighted(kernels, by="alignment"), basis=selection).fit(X, y)
    assert len(model.path_) > 1
    assert (model.kernel_weights_ > 0).all()
    flat = np.concatenate(X)
    scales = [m / spread_of(k(flat)) for m, k in zip(model.kernel_weights_, kernels, strict=True)]
    assert [kernel.factor for kernel in model.kernel_.values()] == pytest.approx(scales, rel=1e-4)


def test_labels_that_are_missing_are_left_out_of_the_alignment(rng):
    X, y = labelled_sequences(rng, count=10)
    y[0][0] = None
    model = KernelCRF(Weighted([RBF(0.5), Linear()], by="alignment"), run=Run(dtype="float64")).fit(X, y)
    known = np.concatenate(y)[1:]
    expected = alignment_weights([RBF(0.5), Linear()], np.concatenate(X)[1:], known.astype(str))
    np.testing.assert_allclose(model.kernel_weights_, expected, atol=1e-9)
    with pytest.raises(InputError, match="all labels observed"):
        KernelCRF(Weighted([RBF(0.5), Linear()], by="certificate")).fit(X, y)


@pytest.mark.parametrize("how", ["alignment", "certificate"])
def test_files_copies_and_refits(how, rows, tmp_path):
    X, labels = rows
    model = KernelLogisticRegression(Weighted([RBF("scale"), Linear()], by=how)).fit(X, labels)
    model.save(tmp_path / "model.kf")
    for again in (
        load(tmp_path / "model.kf"),
        pickle.loads(pickle.dumps(model)),
        clone(model).fit(X, labels),
    ):
        np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
        np.testing.assert_array_equal(again.kernel_weights_, model.kernel_weights_)
        assert again.weights_certificate_ == model.weights_certificate_
    assert repr(again.kernel) == f"Weighted(kernels=[RBF(gamma='scale'), Linear()], by={how!r})"
    assert model.set_params(kernel=[RBF(), Linear()]).fit(X, labels).kernel_weights_ is None


def test_searches_choose_how_kernels_are_weighed(rows):
    X, labels = rows
    model = KernelLogisticRegression(Weighted([RBF(0.5), Linear()]), tol=1e-2)
    grid = {"kernel__by": ["alignment", "certificate"], "kernel__kernels": [[RBF(2.0), "linear"]]}
    found = GridSearchCV(model, grid, cv=2).fit(X, labels)
    assert found.best_estimator_.kernel_weights_.shape == (2,)
    assert (model.kernel.by, model.get_params()["kernel__by"]) == ("alignment", "alignment")


WEIGHTED = Weighted(["rbf", "linear"])


@pytest.mark.parametrize(
    "make",
    [
        lambda: KernelCRF(parts=Parts(edge_kernel=KernelScores(WEIGHTED))),
        lambda: KernelCRF([WEIGHTED, "rbf"]),
        lambda: KernelCRF(dict.fromkeys(("red", "green", "blue"), WEIGHTED)),
        lambda: KernelCRF(Weighted(["rbf", WEIGHTED])),
        lambda: KernelCRF(parts=Parts(both_ends=KernelScores(WEIGHTED, on="edge", view="all", penalty=1.0))),
        lambda: GPSequenceClassifier(WEIGHTED),
        lambda: StructuredSVM(WEIGHTED),
        lambda: KernelPerceptron(WEIGHTED),
        lambda: TransductiveSVM(WEIGHTED),
    ],
)
def test_other_kernels_cannot_be_weighted(make, rng):
    X, y = labelled_sequences(rng, count=6)
    with pytest.raises(InputError, match=r"^Weighted\(.* can be the whole kernel of KernelCRF or .*\.$"):
        make().fit(X, y)


def test_clusters_take_no_weighted_kernel(rng):
    with pytest.raises(InputError, match="can be the whole kernel of KernelCRF"):
        FieldClustering(2, kernel=WEIGHTED).fit([rng.normal(size=(6, 2))])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"by": "best"}, "by='best' is not known; choose one of 'alignment', 'certificate'."),
        ({"kernels": "rbf"}, "kernels of Weighted is 'rbf'; it must be a list of at least two kernels."),
        ({"kernels": [RBF()]}, "it must be a list of at least two kernels."),
        ({"kernels": {"red": RBF(), "green": RBF()}}, "it must be a list of at least two kernels."),
    ],
)
def test_bad_weighted_kernels_are_refused(settings, words):
    with pytest.raises(InputError, match=words):
        Weighted(**{"kernels": KERNELS, **settings})


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"penalty": [1.0, 2.0]}, "several are weights already"),
        ({"by": "certificate", "basis": "nystroem"}, "does not go with basis"),
        (
            {"by": "certificate", "parts": Parts(edge_kernel=KernelScores())},
            "does not go with an edge_kernel without a kernel of its own",
        ),
        ({"by": "certificate", "penalty": 0.0}, "all penalties above 0"),
        ({"by": "certificate", "kernels": [RBF(), Constant()]}, "kernel 1 has the same value"),
        ({"kernels": [Constant(), Constant(2.0)]}, "No kernel is aligned"),
    ],
)
def test_bad_settings_are_refused(settings, words, rng):
    X, y = labelled_sequences(rng, count=10)
    parts = {"kernels": [RBF(), Linear()]} | {k: v for k, v in settings.items() if k in ("kernels", "by")}
    others = {name: value for name, value in settings.items() if name not in parts and name != "by"}
    model = KernelCRF(Weighted(**parts), **others)
    with pytest.raises(InputError, match=words):
        model.fit(X, y)
    assert not hasattr(model, "classes_")
