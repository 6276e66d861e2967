"""KernelCRF in subspaces: the dense model where nothing is left out, near it where little is."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from kernelfields import FreeScores, InputError, KernelCRF, KernelLogisticRegression, KernelScores, Parts, Run
from kernelfields.approximation import IncompleteCholesky, KMeans, LeverageScores, Nystroem, RandomFourier
from kernelfields.kernels import RBF, Linear, Polynomial, Spectrum
from kernelfields.losses import Log
from kernelfields.testing import check_estimator, labelled_sequences

EXACT = {"run": Run(dtype="float64"), "tol": 1e-10, "penalty": 0.2, "random_state": 0}
ALL = [
    IncompleteCholesky(10**6, tol=1e-14),
    IncompleteCholesky(10**6, tol=1e-14, sample=20),
    Nystroem(10**6, tol=1e-14),
]
SOME = [
    IncompleteCholesky(20),
    IncompleteCholesky(20, sample=5),
    Nystroem(20),
    Nystroem(20, KMeans()),
    Nystroem(20, LeverageScores()),
    RandomFourier(20),
]


@pytest.fixture(autouse=True)
def _one_thread():
    """Threads that wait for each other take longer than these products, above all on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, count=30)


def assert_same_marginals(one, other, X, atol=1e-5):
    for left, right in zip(one.predict_marginals(X), other.predict_marginals(X), strict=True):
        np.testing.assert_allclose(left, right, atol=atol)


@pytest.mark.parametrize("approximation", ["cholesky", Nystroem(20), RandomFourier(20)], ids=repr)
def test_estimator_passes_all_checks(approximation, rng):
    check_estimator(KernelCRF(basis=approximation, random_state=0, run=Run(dtype="float64")), rng)


OPTIONS = [
    {},
    {"kernel": Polynomial(2), "parts": Parts(bias=None, edges=FreeScores(penalty=3.0))},
    {"kernel": RBF(0.5), "parts": Parts(edge_kernel=KernelScores(), bias=None)},
    {"kernel": RBF(0.5), "parts": Parts(edge_kernel=KernelScores(Linear())), "structure": "chain2"},
    {"kernel": {"red": RBF(0.3), "green": Linear(), "blue": RBF(2.0)}},
    {"parts": Parts(kernel=KernelScores(labels=np.eye(3) + 0.5))},
    {"kernel": ["rbf", "linear"], "penalty": [0.2, 0.5], "loss": Log(class_weight={"red": 2.0})},
]


@pytest.mark.parametrize(
    ("approximation", "options"),
    [*((ALL[0], options) for options in OPTIONS), *((ALL[2], options) for options in OPTIONS), (ALL[1], {})],
)
def test_a_whole_subspace_is_the_dense_model(approximation, options, data):
    X, y = data
    made = {**EXACT, **options}
    dense = KernelCRF(**made).fit(X, y)
    model = KernelCRF(basis=approximation, **made).fit(X, y)
    assert model.certificate_.value == pytest.approx(dense.certificate_.value, rel=1e-8)
    assert model.certificate_.relative_gap <= 1e-10
    assert (dense.certificate_space_, model.certificate_space_) == ("full", "approximation")
    assert_same_marginals(model, dense, X)
    for part, value in dense.mismatch_.items():
        assert model.mismatch_[part] == pytest.approx(value, rel=1e-3)


def test_two_labels_are_one_column(data):
    X, y = data
    y = [["red" if label == "red" else "other" for label in labels] for labels in y]
    dense = KernelCRF(**EXACT).fit(X, y)
    assert_same_marginals(KernelCRF(basis=ALL[0], **EXACT).fit(X, y), dense, X)


@pytest.mark.parametrize("approximation", SOME[:5], ids=repr)
def test_full_gap_bounds_what_the_subspace_costs(approximation, data):
    """min over the space ≤ value in the subspace; the certificates must enclose the dense optimum."""
    X, y = data
    dense = KernelCRF(**EXACT).fit(X, y).certificate_
    model = KernelCRF(basis=approximation, **EXACT).fit(X, y)
    full = model.full_gap(X, y)
    assert full.value == pytest.approx(model.certificate_.value, rel=1e-9)
    assert full.lower_bound <= dense.value <= full.value + 1e-9
    assert model.certificate_.lower_bound >= dense.lower_bound - 1e-9
    assert full.gap > 10 * model.certificate_.gap
    assert len(model.basis_) == 20
    assert model.dual_coef_.shape == (20, 3)


def test_full_gap_of_edges_labels_and_rules(data):
    """All that the gap adds up: several kernels, edges with input, a kernel on labels, weights."""
    X, y = data
    weights = np.linspace(0.5, 2, len(X))
    for options in (
        {"parts": Parts(edge_kernel=KernelScores(Linear()))},
        {
            "parts": Parts(
                kernel=KernelScores(labels=np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.0], [0.0, 0.0, 2.0]]))
            )
        },
        {"kernel": {"red": RBF(0.3), "green": Linear(), "blue": RBF(2.0)}},
    ):
        made = {**EXACT, **options}
        dense = KernelCRF(**made).fit(X, y, sample_weight=weights)
        for rank, closed in ((25, False), (10**6, True)):
            model = KernelCRF(basis=IncompleteCholesky(rank, tol=1e-14), **made)
            full = model.fit(X, y, sample_weight=weights).full_gap(X, y, sample_weight=weights)
            assert full.lower_bound <= dense.certificate_.value <= full.value + 1e-9
            assert (full.relative_gap <= 1e-9) is closed


def test_full_gap_refuses_other_training_sets(data):
    X, y = data
    model = KernelCRF(basis=RandomFourier(10), random_state=0).fit(X, y)
    with pytest.raises(InputError, match="not functions of the kernel's space"):
        model.full_gap(X, y)
    model = KernelCRF(basis="nystroem", random_state=0).fit(X, y)
    with pytest.raises(InputError, match="labels are not those of the model"):
        model.full_gap(X, [[label + "ish" for label in labels] for labels in y])


def test_more_functions_are_no_worse(data):
    X, y = data
    values = [
        KernelCRF(basis=IncompleteCholesky(rank), **EXACT).fit(X, y).certificate_.value
        for rank in (1, 5, 20, 60)
    ]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1] + 1


@pytest.mark.parametrize("approximation", [SOME[2], SOME[3], SOME[5]], ids=repr)
def test_single_precision_is_certified_in_double(approximation, data):
    X, y = data
    one = KernelCRF(basis=approximation, penalty=0.2, tol=1e-4, random_state=0).fit(X, y)
    two = KernelCRF(basis=approximation, **EXACT).fit(X, y)
    assert one.certificate_.relative_gap <= 1e-4
    assert one.certificate_.lower_bound <= two.certificate_.value + 1e-4
    assert_same_marginals(one, two, X, atol=0.02)


@pytest.mark.parametrize("approximation", [None, *SOME], ids=repr)
def test_compact_models_predict_the_same(approximation, data):
    X, y = data
    model = KernelCRF(
        basis=approximation,
        random_state=0,
        run=Run(dtype="float64", callback=print),
        parts=Parts(edge_kernel=KernelScores()),
    )
    model.set_params(run__callback=lambda progress: None).fit(X + X[:4], y + y[:4])
    small = model.compact()
    assert_same_marginals(small, model, X, atol=1e-12)
    assert not hasattr(small, "certificate_")
    assert hasattr(model, "certificate_")
    restored = pickle.loads(pickle.dumps(small))  # the callback could not be pickled
    assert restored.predict(X) == model.predict(X)
    if approximation is None:
        assert len(small.basis_) == sum(map(len, X))  # what occurs twice is there once


def test_files_serve_as_memory(data, tmp_path):
    X, y = data
    for approximation in (IncompleteCholesky, Nystroem, RandomFourier):
        one, other = (
            KernelCRF(basis=approximation(20, scratch=tmp_path), run=Run(memory_limit=limit), random_state=0)
            .fit(X, y)
            .predict_marginals(X)
            for limit in (None, 100)
        )
        for left, right in zip(one, other, strict=True):
            np.testing.assert_array_equal(left, right)
    with pytest.raises(FileNotFoundError):
        KernelCRF(basis=Nystroem(20, scratch=tmp_path / "none"), run=Run(memory_limit=100)).fit(X, y)


@pytest.mark.parametrize(
    ("approximation", "options"),
    [(ALL[0], {"parts": Parts(edge_kernel=KernelScores("linear"))}), (SOME[5], {}), (SOME[3], {})],
)
def test_held_out_sequences_end_the_search(approximation, options, data, rng):
    """The model kept is the one that the held-out sequences like best among all iterations."""
    X, y = data
    X_dev, y_dev = labelled_sequences(rng, count=20)
    made = {**EXACT, "tol": 1e-6, "penalty": 1e-3, "basis": approximation, **options}
    stopped = KernelCRF(**made).set_params(run__patience=3).fit(X, y, X_dev=X_dev, y_dev=y_dev)
    assert stopped.stop_reason_.startswith("The observer")
    likelihood = []
    for iterations in range(stopped.n_iter_ + 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = KernelCRF(max_iter=iterations, **made).fit(X, y)
        likelihood.append(model.sequence_log_proba(X_dev, y_dev).sum())
    assert int(np.argmax(likelihood)) == stopped.n_iter_ - 3
    assert stopped.sequence_log_proba(X_dev, y_dev).sum() == pytest.approx(max(likelihood), rel=1e-6)


def test_sparse_observations_and_strings(data):
    X, y = data
    thin = [sparse.csr_matrix(x) for x in X]
    for approximation in (IncompleteCholesky(15), Nystroem(15, KMeans()), RandomFourier(16)):
        one, other = (KernelCRF(basis=approximation, **EXACT).fit(x, y) for x in (thin, X))
        if not isinstance(approximation, Nystroem):  # clusters of sparse rows are found another way
            assert_same_marginals(one, other, X)
        assert one.score(thin, y) > 0.7
    words, labels = ([["aab", "cd", "abb"], ["dc", "ba"]], [["L", "R", "L"], ["R", "L"]])
    model = KernelCRF(Spectrum(1), penalty=0.1, basis=IncompleteCholesky(2)).fit(words, labels)
    assert len(model.basis_) == 2
    assert model.predict([["a", "d"]]) == [["L", "R"]]


def test_bad_settings_are_refused(data):
    X, y = data
    for options, words in (
        ({"basis": "svd"}, "basis='svd' is not known"),
        ({"basis": "fourier", "kernel": "linear"}, "need an RBF kernel"),
        (
            {"basis": "fourier", "kernel": RBF(), "parts": Parts(edge_kernel=KernelScores(RBF(2.0)))},
            "one kernel only",
        ),
    ):
        with pytest.raises(InputError, match=words):
            KernelCRF(**options).fit(X, y)


def test_logistic_regression_takes_approximations_too(rng):
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, "same", "other")
    made = {"penalty": 0.1, "run": Run(dtype="float64"), "tol": 1e-10, "random_state": 0}
    dense = KernelLogisticRegression(**made).fit(X, y)
    for approximation in ALL:
        model = KernelLogisticRegression(basis=approximation, **made).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X), dense.predict_proba(X), atol=1e-5)
    assert KernelLogisticRegression(basis=RandomFourier(200), **made).fit(X, y).score(X, y) > 0.9
