"""KernelCRF: conformance, what must come out as special cases, options."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import gaussian_process
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from kernelfields import (
    CRF,
    FixedScores,
    FreeScores,
    InputError,
    KernelCRF,
    KernelScores,
    LinearScores,
    Parts,
    Run,
)
from kernelfields.constraints import Constraints
from kernelfields.datasets import load_letters
from kernelfields.decoders import BayesRule
from kernelfields.kernels import RBF, Kernel, Linear, Polynomial
from kernelfields.losses import Log
from kernelfields.structures import ChainBatch
from kernelfields.testing import check_estimator, labelled_sequences

EXACT = {"run": Run(dtype="float64"), "tol": 1e-10}

VARIANTS = {
    "plain": KernelCRF(run=Run(dtype="float64")),
    "edge kernel": KernelCRF(parts=Parts(edge_kernel=KernelScores()), penalty=0.5, run=Run(dtype="float64")),
    "bare": KernelCRF(
        "polynomial", parts=Parts(boundaries=None, edges=FreeScores(penalty=3.0)), run=Run(dtype="float64")
    ),
    "newton": KernelCRF(solver="newton-cg", decoder="viterbi", run=Run(dtype="float64")),
    "balanced": KernelCRF(loss=Log(class_weight="balanced"), run=Run(dtype="float64")),
    "second order": KernelCRF(structure="chain2", run=Run(dtype="float64")),
    "two kernels": KernelCRF(["rbf", "linear"], penalty=[0.5, 2.0], run=Run(dtype="float64")),
    "no edges": KernelCRF(parts=Parts(edges=None), run=Run(dtype="float64")),
}


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, count=30)


def assert_same_marginals(one, other, X, atol=1e-5):
    for left, right in zip(one.predict_marginals(X), other.predict_marginals(X), strict=True):
        np.testing.assert_allclose(left, right, atol=atol)


@pytest.mark.parametrize("name", list(VARIANTS))
def test_estimator_passes_all_checks(name, rng):
    check_estimator(VARIANTS[name], rng)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"parts": Parts(bias=None, boundaries=None, edges=FreeScores(penalty=3.0))},
        {"structure": "chain2", "parts": Parts(second_order=FreeScores(penalty=0.3))},
        {"loss": Log(class_weight={"red": 2.0})},
        {"constraints": Constraints(forbidden_pairs=[("red", "blue")])},
    ],
)
def test_linear_kernel_is_the_linear_crf(options, data):
    X, y = data
    if "constraints" in options:
        y = [[label if label != "blue" else "green" for label in labels] for labels in y[:-1]] + [y[-1]]
    linear = CRF(0.5, tol=1e-10, **options).fit(X, y)
    kernel = KernelCRF(Linear(), penalty=0.5, **EXACT, **options).fit(X, y)
    assert kernel.certificate_.value == pytest.approx(linear.certificate_.value, rel=1e-9)
    np.testing.assert_allclose(kernel.basis_.T @ kernel.dual_coef_, linear.coef_.T, atol=1e-4)
    np.testing.assert_allclose(kernel.transitions_, linear.transitions_, atol=1e-4)
    np.testing.assert_allclose(kernel.start_, linear.start_, atol=1e-4)
    assert_same_marginals(kernel, linear, X)
    assert kernel.mismatch_["kernel"] == pytest.approx(linear.mismatch_["features"], rel=1e-3)


def test_linear_edge_kernel_is_the_linear_crf_with_edge_features(data):
    X, y = data
    linear = CRF(0.5, parts=Parts(edge_features=LinearScores()), tol=1e-10).fit(X, y)
    kernel = KernelCRF("linear", penalty=0.5, parts=Parts(edge_kernel=KernelScores()), **EXACT).fit(X, y)
    assert kernel.certificate_.value == pytest.approx(linear.certificate_.value, rel=1e-9)
    assert_same_marginals(kernel, linear, X)
    other = KernelCRF("linear", penalty=0.5, parts=Parts(edge_kernel=KernelScores(Linear())), **EXACT).fit(
        X, y
    )
    assert_same_marginals(kernel, other, X)


def test_forms_of_input_agree(data):
    X, y = data
    expected = KernelCRF(**EXACT).fit(X, y)
    lengths = [len(x) for x in X]
    flat = np.concatenate(X)
    thin = [sparse.csr_matrix(x) for x in X]
    assert_same_marginals(expected, KernelCRF(**EXACT).fit(flat, y, lengths=lengths), X)
    assert_same_marginals(expected, KernelCRF(**EXACT).fit(thin, y), [sparse.csc_array(x) for x in X][:0])
    for one, other in zip(
        KernelCRF(**EXACT).fit(thin, y).predict_marginals(thin), expected.predict_marginals(X), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_single_precision_agrees_and_certifies(data):
    X, y = data
    single, double = KernelCRF().fit(X, y), KernelCRF(**EXACT).fit(X, y)
    assert single.certificate_.relative_gap <= 1e-3
    assert single.certificate_.lower_bound <= double.certificate_.value + 1e-4
    assert single.certificate_.value == pytest.approx(double.certificate_.value, rel=1e-3)
    assert single.basis_.dtype == np.float32
    assert_same_marginals(single, double, X, atol=0.05)


def test_coefficients_at_the_optimum_are_the_mismatch(data):
    X, y = data
    model = KernelCRF(penalty=0.5, **EXACT).fit(X, y)
    mu = np.concatenate(model.predict_marginals(X))
    parts = np.concatenate(y)[:, None] == model.classes_
    np.testing.assert_allclose(model.dual_coef_, (parts - mu) / 0.5, atol=1e-3)


def test_two_labels_are_two_labels(data):
    """One column of coefficients for two labels, against kernels given label by label: two columns."""
    X, y = data
    y = [["red" if label == "red" else "other" for label in labels] for labels in y]
    one = KernelCRF(RBF(0.7), penalty=0.5, **EXACT).fit(X, y)
    kernel = RBF(0.7)
    two = KernelCRF({"red": kernel, "other": kernel}, penalty=0.5, **EXACT).fit(X, y)
    assert one.certificate_.value == pytest.approx(two.certificate_.value, rel=1e-9)
    np.testing.assert_allclose(one.dual_coef_, two.dual_coef_, atol=1e-3)
    np.testing.assert_allclose(one.dual_coef_.sum(axis=1), 0, atol=1e-12)


def test_one_kernel_per_label(data):
    X, y = data
    kernels = {"red": RBF(0.1), "green": "linear", "blue": "linear"}
    model = KernelCRF(kernels, penalty=0.5, **EXACT).fit(X, y)
    assert model.kernel_["red"].gamma == 0.1
    assert model.kernel_["green"] is model.kernel_["blue"]
    mu = np.concatenate(model.predict_marginals(X))
    alpha = ((np.concatenate(y)[:, None] == model.classes_) - mu) / 0.5
    flat = np.concatenate(X)
    expected = [
        (RBF(0.1) if name == "red" else Linear())(flat) @ alpha[:, k] for k, name in enumerate(model.classes_)
    ]
    free = np.tile(model.intercept_, (len(flat), 1))
    chain = ChainBatch(np.cumsum([0, *map(len, X)]), 3)
    free[chain.first_positions] += model.start_
    free[chain.last_positions] += model.end_
    scores = model._batch(X, None, None).scores["node"]
    np.testing.assert_allclose(scores, np.array(expected).T + free, atol=2e-3)
    with pytest.raises(InputError, match="lacks the label 'blue'"):
        KernelCRF({"red": "rbf", "green": "rbf"}).fit(X, y)
    with pytest.raises(InputError, match="unknown label 'white'"):
        KernelCRF({**kernels, "white": "rbf"}).fit(X, y)


def test_several_kernels_are_their_weighted_sum(data):
    X, y = data

    class Both(Kernel):
        def block(self, X, Y):
            return RBF(0.3).block(X, Y) / 0.5 + Polynomial(2).block(X, Y) / 4.0

        def diagonal(self, X):
            return self.block(X, X).diagonal()

    bare = Parts(bias=None, boundaries=None)  # b would take the first of the penalties
    parts = bare.set_params(edges__penalty=0.7)
    several = KernelCRF([RBF(0.3), Polynomial(2)], penalty=[0.5, 4.0], parts=parts, **EXACT)
    one = KernelCRF(Both(), penalty=1.0, parts=parts, **EXACT)
    assert_same_marginals(several.fit(X, y), one.fit(X, y), X)
    plain = KernelCRF([RBF(0.3), RBF(0.3)], penalty=1.0, parts=bare, **EXACT).fit(X, y)
    parts = bare.set_params(edges__penalty=1.0)
    twice = KernelCRF([RBF(0.3)], penalty=[0.5], parts=parts, **EXACT).fit(X, y)
    assert_same_marginals(plain, twice, X)
    for kernels, penalties, words in (
        ([], 1.0, "empty"),
        (["rbf"], [1.0, 2.0], "1 kernels, but 2 penalties"),
        ("rbf", [1.0, 2.0], "as many kernels"),
        (["rbf", "linear"], [1.0, 0.0], "must be positive"),
    ):
        with pytest.raises(InputError, match=words):
            KernelCRF(kernels, penalty=penalties).fit(X, y)


def test_kernel_on_labels(data):
    X, y = data
    plain = KernelCRF(**EXACT).fit(X, y)
    assert_same_marginals(
        plain, KernelCRF(parts=Parts(kernel=KernelScores(labels=np.eye(3))), **EXACT).fit(X, y), X
    )
    assert_same_marginals(
        plain, KernelCRF(parts=Parts(kernel=KernelScores(labels=np.eye(3) + 5.0)), **EXACT).fit(X, y), X
    )
    shared = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    model = KernelCRF(parts=Parts(kernel=KernelScores(labels=shared)), **EXACT).fit(X, y)
    mu = np.concatenate(model.predict_marginals(X))
    parts = np.concatenate(y)[:, None] == model.classes_
    np.testing.assert_allclose(model.dual_coef_, (parts - mu) @ shared, atol=1e-3)
    for bad, words in ((np.eye(2), "expected"), (-np.eye(3), "negative eigenvalue")):
        with pytest.raises(InputError, match=words):
            KernelCRF(parts=Parts(kernel=KernelScores(labels=bad))).fit(X, y)


def tilt(X):
    """A base measure: labels blue, green, red."""
    return np.column_stack([X[:, 0], np.zeros(len(X)), -X[:, 1]])


def test_base_measure_shifts_scores(data, rng):
    """With functions that can be nothing but zero, p is the base measure."""
    X, y = data
    model = KernelCRF(penalty=1e9, parts=Parts(known=FixedScores(tilt)), tol=1e-6).fit(X, y)
    x = rng.normal(size=(4, 3))
    expected = np.exp(tilt(x)) / np.exp(tilt(x)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_marginals([x])[0], expected, atol=1e-4)
    fixed = KernelCRF(penalty=1e9, parts=Parts(known=FixedScores({"red": 1.0})), tol=1e-6).fit(X, y)
    np.testing.assert_allclose(fixed.predict_marginals([x])[0][0], np.exp([0, 0, 1]) / (2 + np.e), atol=1e-4)


def test_base_measure_is_an_offset_of_the_scores(data):
    X, y = data
    model = KernelCRF(parts=Parts(known=FixedScores(tilt)), **EXACT).fit(X, y)
    batch = model._batch(X, None, None)
    mu = batch.batch.marginals(batch.scores).parts["node"]
    parts = np.concatenate(y)[:, None] == model.classes_
    np.testing.assert_allclose(model.dual_coef_, parts - mu, atol=1e-3)
    K = model.kernel_(np.concatenate(X))
    free = K @ model.dual_coef_ + model.intercept_ + tilt(np.concatenate(X))
    free[batch.batch.first_positions] += model.start_
    free[batch.batch.last_positions] += model.end_
    np.testing.assert_allclose(batch.scores["node"], free, atol=1e-9)
    for bad, words in (
        ({"white": 1.0}, "unknown label 'white'"),
        (lambda X: X[:, :1], "shape"),
        (lambda X: np.full((len(X), 3), np.nan), "NaN"),
    ):
        with pytest.raises(InputError, match=words):
            KernelCRF(parts=Parts(known=FixedScores(bad))).fit(X, y)


def test_attributes_are_the_scores(data, rng):
    X, y = data
    model = KernelCRF(
        RBF(0.3), parts=Parts(edge_kernel=KernelScores(Polynomial(2))), run=Run(dtype="float64")
    ).fit(X, y)
    x = rng.normal(size=(3, 3))
    node = RBF(0.3)(x, model.basis_) @ model.dual_coef_ + model.intercept_
    node[0] += model.start_
    node[-1] += model.end_
    edge = model.transitions_ + np.einsum(
        "to,oab->tab", Polynomial(2)(x[:-1], model.basis_), model.edge_dual_coef_
    )
    chain = ChainBatch([0, 3], 3, shared_edges=False)
    expected = chain.marginals({"node": node, "edge": edge}).parts["node"]
    np.testing.assert_allclose(model.predict_marginals([x])[0], expected, atol=1e-12)


def test_observations_without_coefficients_are_dropped(data):
    X, y = data
    weights = np.ones(len(X))
    weights[:5] = 0
    model = KernelCRF(**EXACT).fit(X, y, sample_weight=weights)
    assert len(model.basis_) == sum(len(x) for x in X[5:])
    assert_same_marginals(model, KernelCRF(**EXACT).fit(X[5:], y[5:]), X)


def test_weights_count_sequences(data):
    X, y = data
    weights = np.ones(len(X))
    weights[:5] = 2
    doubled = KernelCRF(**EXACT).fit(X + X[:5], y + y[:5])
    assert_same_marginals(KernelCRF(**EXACT).fit(X, y, sample_weight=weights), doubled, X)


def test_solvers_agree(data):
    X, y = data
    one, other = (KernelCRF(solver=name, **EXACT).fit(X, y) for name in ("lbfgs", "newton-cg"))
    assert one.certificate_.value == pytest.approx(other.certificate_.value, rel=1e-9)


def test_unobserved_labels_are_summed_over(data):
    X, y = data
    partly = [[None if t % 2 else label for t, label in enumerate(labels)] for labels in y]
    model = KernelCRF(penalty=0.1).fit(X, partly)
    assert model.certificate_ is None
    assert model.score(X, y) > 0.7


def test_predictions_in_all_forms(data):
    X, y = data
    model = KernelCRF(RBF(), penalty=0.1, random_state=0).fit(X, y)
    x = X[-1:]
    best = model.predict_kbest(x, k=27)[0]
    assert np.exp([p for _, p in best]).sum() == pytest.approx(1)
    assert best[0][0] == model.predict(x, decoder="viterbi")[0]
    assert model.predict(X, decoder=BayesRule(1 - np.eye(3))) == model.predict(X)
    assert model.predict(x, allowed=[["blue", None, None]])[0][0] == "blue"
    assert any(label is None for labels in model.predict(X, abstain=0.9) for label in labels)
    assert model.sample(x, n=2) == model.sample(x, n=2)
    assert model.sequence_log_proba(x, [best[0][0]])[0] == pytest.approx(best[0][1])


def test_scikit_learn_tools_work(data):
    X, y = data
    search = GridSearchCV(KernelCRF(RBF(), penalty=0.1), {"kernel__gamma": [0.3, 1e4]}, cv=3).fit(X, y)
    assert search.best_params_ == {"kernel__gamma": 0.3}
    kernel = RBF(0.3)
    model = KernelCRF(kernel).fit(X, y)
    before = model.predict_marginals(X)[0]
    kernel.gamma = 7.0  # the fitted model keeps its own
    np.testing.assert_array_equal(model.predict_marginals(X)[0], before)
    restored = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(restored.predict_marginals(X)[0], before)
    assert clone(model).kernel.gamma == 7.0


def test_tokens_are_observations_of_kernels():
    sentences = [[("The", "DT"), ("dog", "NN"), ("barks", "VB")], [("Dogs", "NN"), ("bark", "VB")]]
    labels = [["B-NP", "I-NP", "B-VP"], ["B-NP", "B-VP"]]
    model = KernelCRF(Polynomial(2), penalty=0.1, features="chunking", constraints="iob2").fit(
        sentences, labels
    )
    assert sparse.issparse(model.basis_)
    assert model.predict([[("A", "DT"), ("cat", "NN"), ("sleeps", "VB")]]) == [["B-NP", "I-NP", "B-VP"]]
    attributes = [[{"w": w} for w, _ in sentence] for sentence in sentences]
    assert KernelCRF("linear", penalty=0.1).fit(attributes, labels).predict(attributes) == labels


class Letters(Kernel):
    """How many different letters two strings share."""

    def block(self, X, Y):
        return np.array([[float(len(set(x) & set(y))) for y in Y] for x in X])

    def diagonal(self, X):
        return np.array([float(len(set(x))) for x in X])


def test_strings_are_observations_of_string_kernels():
    X, y = [["aab", "cd", "abb"], ["dc", "ba"]], [["L", "R", "L"], ["R", "L"]]
    model = KernelCRF(Letters(), penalty=0.1).fit(X, y)
    assert model.predict([["a", "d", "bb"], []]) == [["L", "R", "L"], []]
    with pytest.raises(InputError, match="features="):
        KernelCRF("rbf").fit(X, y)


def test_letters_are_read_better_than_by_a_linear_model():
    letters = load_letters()
    X, y = letters.split(0)
    X_test, y_test = letters.split(1)
    model = KernelCRF(RBF(gamma=0.03), penalty=0.05).fit(X[::4], y[::4])
    linear = CRF(penalty=2.0).fit(X[::4], y[::4])
    assert model.certificate_.relative_gap <= 1e-3
    known = [n for n, labels in enumerate(y_test) if set(labels) <= set(model.classes_)][::2]
    test = [X_test[n] for n in known], [y_test[n] for n in known]
    assert model.score(*test) > linear.score(*test) + 0.03


def test_progress_is_shown_and_reported(data, capsys):
    X, y = data
    seen = []
    model = KernelCRF(verbose=1, run=Run(callback=seen.append)).fit(X, y)
    shown = capsys.readouterr().err
    assert f"iteration {model.n_iter_}" in shown
    assert "relative gap" in shown
    assert shown.count("\n") == 2  # no terminal: the first iteration and the last, a line each
    assert [p.iteration for p in seen] == list(range(model.n_iter_ + 1))
    KernelCRF().fit(X, y)
    assert capsys.readouterr().err == ""


def test_stopping_early_is_said(data):
    X, y = data
    with pytest.warns(ConvergenceWarning, match="limit of iterations") as caught:
        model = KernelCRF(max_iter=2, tol=1e-9).fit(X, y)
    assert caught[0].filename == __file__
    assert model.n_iter_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert KernelCRF(penalty=0.0, max_iter=20).fit(X, y).certificate_ is None


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"parts": Parts(edge_kernel=KernelScores("linear"), known=FixedScores(tilt))},
        {"kernel": {"red": RBF(0.3), "green": "linear", "blue": "linear"}},
    ],
)
def test_held_out_sequences_end_the_search(options, data, rng):
    """The model kept is the one that the held-out sequences like best among all iterations."""
    X, y = data
    X_dev, y_dev = labelled_sequences(rng, count=20)
    made = {"penalty": 1e-3, "run": Run(dtype="float64"), "tol": 1e-6, **options}
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


def test_bad_settings_are_refused(data):
    X, y = data
    for options, words in (
        ({"penalty": -1}, "penalty is -1"),
        ({"kernel": "tree"}, "kernel='tree' is not known"),
        ({"run": "float64"}, "run is 'float64'; it must be a Run"),
        ({"structure": "chain3"}, "structure='chain3' is not known"),
        ({"solver": "adam"}, "solver='adam' is not known"),
        (
            {
                "kernel": {"red": RBF(), "green": RBF(), "blue": RBF()},
                "parts": Parts(edge_kernel=KernelScores()),
            },
            "kernel of their own",
        ),
    ):
        with pytest.raises(InputError, match=words):
            KernelCRF(**options).fit(X, y)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda X, Y: -X @ Y.T, "not positive semi-definite"),
        (lambda X, Y: X @ Y.T + X[:, :1], "not symmetric"),
        (lambda X, Y: np.full((len(X), len(Y)), np.nan), "nan"),
        (lambda X, Y: np.ones((len(X), 1)), "shape"),
    ],
)
def test_bad_kernels_are_refused(function, words, data):
    X, y = data
    model = KernelCRF().fit(X, y)
    before = model.predict_marginals(X)[0]
    with pytest.raises(InputError, match=words):
        model.set_params(kernel=function).fit(X, y)
    model.set_params(kernel="rbf")
    np.testing.assert_array_equal(model.predict_marginals(X)[0], before)


def test_kernels_of_other_libraries_and_sums(data):
    X, y = data
    ours = KernelCRF(RBF(0.5), **EXACT).fit(X, y)
    assert_same_marginals(ours, KernelCRF(gaussian_process.kernels.RBF(1.0), **EXACT).fit(X, y), X)
    assert_same_marginals(ours, KernelCRF(lambda X, Y: rbf_kernel(X, Y, 0.5), **EXACT).fit(X, y), X)
    both = KernelCRF(
        RBF(0.5) + 0.5 * Linear(), parts=Parts(edges=FreeScores(penalty=1.0), boundaries=None), **EXACT
    ).fit(X, y)
    listed = KernelCRF(
        [RBF(0.5), Linear()],
        penalty=[1.0, 2.0],
        parts=Parts(edges=FreeScores(penalty=1.0), boundaries=None),
        **EXACT,
    )
    assert_same_marginals(both, listed.fit(X, y), X)


def test_observations_that_repeat_share_coefficients(data):
    X, y = data
    rounded = [np.round(x) for x in X]  # few different rows
    flat = np.concatenate(rounded)
    model = KernelCRF(RBF(0.3), penalty=0.5, parts=Parts(edge_kernel=KernelScores()), **EXACT).fit(rounded, y)
    assert len(model.basis_) == len(np.unique(flat, axis=0)) < len(flat)

    class Nudged(Kernel):
        """The same kernel on observations that a third column makes different."""

        def block(self, X, Y):
            return RBF(0.3).block(X[:, :3], Y[:, :3])

        def diagonal(self, X):
            return np.ones(len(X))

    numbered = np.column_stack([flat, np.arange(len(flat))])
    apart = KernelCRF(Nudged(), penalty=0.5, parts=Parts(edge_kernel=KernelScores()), **EXACT)
    lengths = [len(x) for x in rounded]
    apart.fit(numbered, y, lengths=lengths)
    assert len(apart.basis_) == len(flat)
    assert model.certificate_.value == pytest.approx(apart.certificate_.value, rel=1e-9)
    for one, other in zip(
        model.predict_marginals(rounded), apart.predict_marginals(numbered, lengths=lengths), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-5)


def test_tiled_gram_matrices_give_the_same(data):
    X, y = data
    stored = KernelCRF(RBF(0.3), **EXACT).fit(X, y)
    assert_same_marginals(
        stored, KernelCRF(RBF(0.3), **EXACT).set_params(run__memory_limit=1000).fit(X, y), X
    )
