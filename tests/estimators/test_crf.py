"""CRF: conformance, options, prediction in all its forms."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from kernelfields import CRF, FreeScores, InputError, LinearScores, Parts, Run
from kernelfields.decoders import BayesRule
from kernelfields.losses import Log
from kernelfields.structures import ChainBatch
from kernelfields.testing import check_estimator, labelled_sequences

VARIANTS = {
    "plain": CRF(),
    "edge features": CRF(parts=Parts(edge_features=LinearScores()), penalty=0.5),
    "bare": CRF(parts=Parts(bias=None, boundaries=None, edges=FreeScores(penalty=3.0))),
    "newton": CRF(solver="newton-cg", decoder="posterior"),
    "balanced": CRF(loss=Log(class_weight="balanced")),
    "second order": CRF(structure="chain2"),
}


@pytest.fixture
def data(rng):
    return labelled_sequences(rng, count=40)


@pytest.mark.parametrize("name", list(VARIANTS))
def test_estimator_passes_all_checks(name, rng):
    check_estimator(VARIANTS[name], rng)


def test_forms_of_input_agree(data):
    X, y = data
    expected = CRF(tol=1e-9).fit(X, y).predict_marginals(X)
    lengths = [len(x) for x in X]
    flat = np.concatenate(X)
    models = {
        "sparse": (
            CRF(tol=1e-9).fit([sparse.csr_matrix(x) for x in X], y),
            [sparse.csc_array(x) for x in X],
            None,
        ),
        "flat": (CRF(tol=1e-9).fit(flat, y, lengths=lengths), flat, lengths),
        "flat labels": (CRF(tol=1e-9).fit(flat, np.concatenate(y), lengths=lengths), flat, lengths),
        "nested lists": (CRF(tol=1e-9).fit([x.tolist() for x in X], y), [x.tolist() for x in X], None),
    }
    for model, inputs, sizes in models.values():
        for m, e in zip(model.predict_marginals(inputs, lengths=sizes), expected, strict=True):
            np.testing.assert_allclose(m, e, atol=1e-4)


def test_single_precision_agrees_and_certifies(data):
    X, y = data
    double = CRF(tol=1e-6).fit(X, y)
    single = CRF(tol=1e-4).fit([x.astype(np.float32) for x in X], y)
    assert single.certificate_.relative_gap <= 2e-4
    np.testing.assert_allclose(single.certificate_.value, double.certificate_.value, rtol=1e-3)
    assert single.predict_marginals([x.astype(np.float32) for x in X])[0].dtype == np.float32


def test_data_frames_name_their_features(data):
    pandas = pytest.importorskip("pandas")
    X, y = data
    frames = [pandas.DataFrame(x, columns=["hue", "size", "age"]) for x in X]
    model = CRF().fit(frames, y)
    assert model.feature_names_in_.tolist() == ["hue", "size", "age"]
    assert model.predict(frames) == CRF().fit(X, y).predict(X)


def test_certificate_bounds_the_optimum(data):
    X, y = data
    rough, fine = CRF(tol=1e-2).fit(X, y), CRF(tol=1e-8).fit(X, y)
    assert rough.certificate_.relative_gap <= 1e-2
    assert rough.certificate_.lower_bound <= fine.certificate_.value <= rough.certificate_.value
    assert fine.certificate_.gap >= 0
    assert fine.stop_reason_.startswith("The certified")


def test_mismatch_is_penalty_times_norm_at_the_optimum(data):
    X, y = data
    model = CRF(penalty=0.7, parts=Parts(edges=FreeScores(penalty=1.9)), tol=1e-10).fit(X, y)
    assert model.mismatch_["features"] == pytest.approx(0.7 * np.linalg.norm(model.coef_), rel=1e-3)
    assert model.mismatch_["edges"] == pytest.approx(1.9 * np.linalg.norm(model.transitions_), rel=1e-3)


def test_attributes_are_the_scores(data, rng):
    X, y = data
    model = CRF(parts=Parts(edge_features=LinearScores())).fit(X, y)
    x = rng.normal(size=(3, 3))
    node = x @ model.coef_.T + model.intercept_
    node[0] += model.start_
    node[-1] += model.end_
    edge = model.transitions_ + np.einsum("abd,td->tab", model.edge_coef_, x[:-1])
    chain = ChainBatch([0, 3], 3, shared_edges=False)
    expected = chain.marginals({"node": node, "edge": edge}).parts["node"]
    np.testing.assert_allclose(model.predict_marginals([x])[0], expected, atol=1e-12)


def test_switches_leave_zeros(data):
    model = CRF(parts=Parts(bias=None, boundaries=None)).fit(*data)
    assert not model.intercept_.any()
    assert not model.start_.any()
    assert not model.end_.any()


def test_log_proba_of_all_labellings_sums_to_one(data):
    X, y = data
    model = CRF().fit(X, y)
    x = X[-1]  # three positions
    labels = model.classes_.tolist()
    ways = [[a, b, c] for a in labels for b in labels for c in labels]
    log_p = model.sequence_log_proba([x] * len(ways), ways)
    assert np.exp(log_p).sum() == pytest.approx(1)
    best = model.predict_kbest([x], k=27)[0]
    assert len(best) == 27
    assert best[0][0] == model.predict([x])[0]
    np.testing.assert_allclose([p for _, p in best], np.sort(log_p)[::-1], atol=1e-9)
    partly = model.sequence_log_proba([x], [["red", None, "blue"]])[0]
    agree = [p for way, p in zip(ways, log_p, strict=True) if (way[0], way[2]) == ("red", "blue")]
    assert np.exp(partly) == pytest.approx(np.exp(agree).sum())


def test_kbest_of_short_sequences_is_short(data):
    model = CRF().fit(*data)
    assert len(model.predict_kbest([np.zeros((1, 3))], k=10)[0]) == 3


def test_allowed_forces_and_forbids(data):
    X, y = data
    model = CRF().fit(X, y)
    x = X[-1]
    forced = model.predict([x], allowed=[["blue", None, {"red", "green"}]])[0]
    assert forced[0] == "blue"
    assert forced[2] in ("red", "green")
    mask = model.classes_ != "red"
    assert "red" not in model.predict([x], allowed=[[mask] * 3])[0]
    marginals = model.predict_marginals([x, x], allowed=[["blue", None, None], None])
    assert marginals[0][0] == pytest.approx([1.0, 0.0, 0.0])
    np.testing.assert_allclose(marginals[1], model.predict_marginals([x])[0])
    with pytest.raises(InputError, match="unknown label 'white' at position 1"):
        model.predict([x], allowed=[[None, "white", None]])
    with pytest.raises(InputError, match="no label at position 0"):
        model.predict([x], allowed=[[[], None, None]])


def test_abstaining_gives_none_below_the_threshold(data):
    X, y = data
    model = CRF(penalty=20.0).fit(X, y)
    certain = [m.max(axis=1) >= 0.6 for m in model.predict_marginals(X)]
    answers = model.predict(X, decoder="posterior", abstain=0.6)
    assert [[label is not None for label in labels] for labels in answers] == [c.tolist() for c in certain]
    assert any(label is None for labels in answers for label in labels)


def test_samples_follow_the_marginals(data):
    X, y = data
    model = CRF(penalty=5.0, random_state=3).fit(X, y)
    draws = model.sample(X[-1:], n=4000)
    assert draws == model.sample(X[-1:], n=4000)
    shares = np.mean([[label == "red" for label in draw[0]] for draw in draws], axis=0)
    expected = model.predict_marginals(X[-1:])[0][:, model.classes_.tolist().index("red")]
    # Five standard errors of 4,000 draws: a right sampler fails once in a million runs.
    np.testing.assert_allclose(shares, expected, atol=5 * 0.5 / np.sqrt(4000))


def test_weights_count_sequences(data):
    X, y = data
    doubled = CRF(tol=1e-10).fit(X + X[:5], y + y[:5])
    weights = np.ones(len(X))
    weights[:5] = 2
    weighted = CRF(tol=1e-10).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, doubled.coef_, atol=1e-4)
    assert weighted.score(X, y, sample_weight=weights) == pytest.approx(doubled.score(X + X[:5], y + y[:5]))
    with pytest.raises(InputError, match="sample_weight of sequence 1 is -1"):
        CRF().fit(X[:2], y[:2], sample_weight=[1, -1])


def test_unobserved_labels_are_summed_over(data):
    X, y = data
    partly = [[None if t % 2 else label for t, label in enumerate(labels)] for labels in y]
    model = CRF().fit(X, partly)
    assert model.certificate_ is None
    assert model.score(X, y) > 0.7
    with pytest.raises(InputError, match="class_weight needs every label"):
        CRF(loss=Log(class_weight="balanced")).fit(X, partly)


def test_class_weight_moves_predictions_towards_the_heavy_class(data):
    X, y = data
    counts = []
    for weight in (0.0, 1.0, 10.0):
        model = CRF(penalty=20.0, loss=Log(class_weight={"red": weight, "green": 0.0, "blue": 0.0})).fit(X, y)
        counts.append(sum(labels.count("red") for labels in model.predict(X)))
    assert counts[0] < counts[2]
    assert counts == sorted(counts)
    nothing = Log(class_weight={"red": 0.0, "green": 0.0, "blue": 0.0})
    plain = CRF(penalty=20.0, loss=nothing, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(plain.coef_, CRF(penalty=20.0, tol=1e-8).fit(X, y).coef_, atol=1e-6)


def test_scikit_learn_tools_work(data):
    X, y = data
    search = GridSearchCV(CRF(), {"penalty": [0.1, 1000.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"penalty": 0.1}
    pipeline = Pipeline([("scale", FunctionTransformer(lambda X: [2 * x for x in X])), ("crf", CRF())])
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.6
    assert clone(CRF(penalty=3.0)).penalty == 3.0
    parallel = GridSearchCV(CRF(), {"penalty": [0.1, 1.0]}, cv=2, n_jobs=2).fit(X, y)
    assert len(parallel.cv_results_["mean_test_score"]) == 2


def test_stopping_early_is_said(data):
    with pytest.warns(ConvergenceWarning, match="limit of iterations"):
        model = CRF(max_iter=2, tol=1e-10).fit(*data)
    assert model.n_iter_ == 2
    assert model.certificate_.relative_gap > 1e-10


def test_interruption_keeps_the_model_so_far(data):
    def interrupt(progress):
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="Interrupted"):
        model = CRF(run=Run(callback=interrupt), tol=1e-10).fit(*data)
    assert model.n_iter_ == 3
    assert model.score(*data) > 0.5


def test_callback_sees_falling_values_and_rising_bounds(data):
    seen = []
    CRF(run=Run(callback=seen.append), tol=1e-6).fit(*data)
    values, bounds = [p.value for p in seen], [p.lower_bound for p in seen]
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)


def test_own_decoder_and_unknown_names(data):
    X, y = data
    model = CRF(decoder=BayesRule(1 - np.eye(3))).fit(X, y)
    assert model.predict(X) == model.predict(X, decoder="posterior")
    with pytest.raises(InputError, match="solver='adam' is not known; choose one of 'lbfgs'"):
        CRF(solver="adam").fit(X, y)
    with pytest.raises(InputError, match="penalty is -1"):
        CRF(penalty=-1).fit(X, y)


def test_zero_penalty_fits_without_certificate(data):
    X, y = data
    noisy = [list(reversed(labels)) for labels in y]  # not separable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = CRF(penalty=0.0, max_iter=50).fit(X, noisy)
    assert model.certificate_ is None


def test_parameters_are_recovered_from_samples(rng):
    """Data drawn from a known model give it back within a few standard errors."""
    X = [rng.normal(size=(20, 2)) for _ in range(400)]
    truth = CRF(parts=Parts(bias=None, boundaries=None)).fit(X[:3], [["a", "b"] * 10] * 3)
    truth.coef_ = np.array([[1.0, -0.5], [-1.0, 0.5]])
    truth.transitions_ = np.array([[0.8, -0.4], [-0.4, 0.0]])
    truth.random_state = 0
    y = truth.sample(X)[0]
    model = pickle.loads(pickle.dumps(truth)).set_params(penalty=1e-3).fit(X, y)
    difference = model.coef_[0] - model.coef_[1]
    np.testing.assert_allclose(difference, [2.0, -1.0], atol=0.15)
    interaction = np.einsum("ab,ab->", model.transitions_, [[1, -1], [-1, 1]])
    assert interaction == pytest.approx(1.6, abs=0.3)


def test_no_probability_above_one():
    """Scores of some thousands leave rounding in their difference from log Z."""
    rng = np.random.default_rng(0)
    X = [300 * rng.normal(size=(6, 3)) for _ in range(30)]
    model = CRF().fit(X, [x.argmax(axis=1).tolist() for x in X])
    best = model.predict_kbest(X, 2)
    assert max(p for ranked in best for _, p in ranked) <= 0
    assert model.sequence_log_proba(X, [ranked[0][0] for ranked in best]).max() <= 0
