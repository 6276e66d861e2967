"""Probabilities averaged over a posterior: what all estimators that have one do with it."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone

import kernelfields
from kernelfields import (
    CRF,
    GPSequenceClassifier,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    KernelScores,
    Parts,
    tune_by_evidence,
)
from kernelfields.kernels import RBF
from kernelfields.losses import Log
from kernelfields.posterior import Laplace, SliceSampling, Variational
from kernelfields.selection import SGPS
from kernelfields.structures import Chain, MixedScores

FEW = Laplace(n_samples=4)
MODELS = {
    "linear": CRF(posterior=FEW, random_state=0),
    "dense": KernelCRF(RBF(0.5), posterior=FEW, random_state=0),
    "low rank": KernelCRF(RBF(0.5), posterior=FEW, basis="nystroem", random_state=0),
    "random features": KernelCRF(RBF(0.5), posterior=FEW, basis="fourier", random_state=0),
    "selected": KernelCRF(RBF(0.5), posterior=FEW, basis=SGPS(size=8), random_state=0),
    "kernels of labels": KernelCRF(
        {"a": RBF(0.5), "b": RBF(1.0), "c": RBF(0.5)}, posterior=FEW, random_state=0
    ),
    "edge kernel": KernelCRF(
        RBF(0.5), parts=Parts(edge_kernel=KernelScores()), posterior=FEW, random_state=0
    ),
    "process": GPSequenceClassifier(RBF(0.5), posterior=FEW, random_state=0),
    "variational": KernelCRF(RBF(0.5), posterior=Variational(n_samples=4, rounds=2, draws=2), random_state=0),
    "mcmc": CRF(posterior=SliceSampling(n_samples=3, thin=2, burn_in=5), random_state=0),
}


def words(seed=0, n=12):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 6), 2)) for _ in range(n)]
    return X, [[("a", "b", "c")[int(x[0] > 0) + int(x[1] > 0.5)] for x in one] for one in X]


@pytest.fixture(scope="module")
def fitted():
    return {name: clone(model).fit(*words()) for name, model in MODELS.items()}


@pytest.mark.parametrize("name", MODELS)
def test_probabilities_are_means_over_the_functions_drawn(fitted, name):
    model, (X, y) = fitted[name], words(1, 5)
    scored = model._batch(X, None, None)
    assert isinstance(scored.scores, MixedScores)
    each = [scored.batch.marginals(one).parts["node"] for one in scored.scores.components]
    found = np.concatenate(model.predict_marginals(X))
    np.testing.assert_allclose(found, np.mean(each, axis=0), atol=1e-9)
    assert np.std([one[0, 0] for one in each]) > 1e-4
    log = model.sequence_log_proba(X, y)
    labels = np.searchsorted(model.classes_, np.concatenate(y)).astype(np.int32)
    parts = [
        scored.batch.score(one, labels) - scored.batch.log_partition(one) for one in scored.scores.components
    ]
    np.testing.assert_allclose(log, logsumexp(parts, axis=0) - np.log(len(parts)))


@pytest.mark.parametrize("name", MODELS)
def test_predictions_survive_files_and_pickle_and_do_not_depend_on_the_batch(fitted, name, tmp_path):
    model, (X, _) = fitted[name], words(1, 5)
    expected = model.predict_marginals(X)
    model.save(tmp_path / "model.kf")
    for other in (kernelfields.load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(model))):
        for a, b in zip(other.predict_marginals(X), expected, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)
    for x, one in zip(X, expected, strict=True):
        np.testing.assert_allclose(model.predict_marginals([x])[0], one, atol=1e-6)


def test_a_fit_twice_is_a_fit_once_and_forgets_the_posterior_without_the_setting():
    X, y = words()
    model = clone(MODELS["dense"]).fit(X, y)
    first = model.predict_marginals(X)[0]
    np.testing.assert_array_equal(model.fit(X, y).predict_marginals(X)[0], first)
    plain = model.set_params(posterior=None).fit(X, y)
    assert vars(plain).get("posterior_") is None
    assert not np.allclose(plain.predict_marginals(X)[0], first, atol=1e-4)


def test_without_variance_it_is_the_mode():
    X, y = words()
    plain = KernelCRF(RBF(0.5)).fit(X, y).predict_marginals(X)[0]
    narrow = KernelCRF(RBF(0.5), posterior=Laplace(scale=0.0)).fit(X, y).predict_marginals(X)[0]
    np.testing.assert_allclose(narrow, plain, atol=1e-5)


def test_far_from_the_data_a_process_knows_nothing():
    X, y = words()
    model = KernelCRF(
        RBF(0.5),
        penalty=0.1,
        parts=Parts(boundaries=None, edges=None, bias=None),
        posterior=Laplace(n_samples=200),
        random_state=0,
    )
    far = model.fit(X, y).predict_marginals([np.array([[50.0, 50.0]])])[0][0]
    plain = model.set_params(posterior=None).fit(X, y).predict_marginals([np.array([[50.0, 50.0]])])[0][0]
    # The mode says nothing there; the posterior has the whole variance of the prior, 1/λ.
    assert far.max() < plain.max() + 0.1
    scores = (
        model.set_params(posterior=Laplace(n_samples=200))
        .fit(X, y)
        ._batch([np.array([[50.0, 50.0]])], None, None)
    )
    spread = np.var([one["node"][0] for one in scores.scores.components], axis=0)
    assert spread == pytest.approx(np.full(3, 10.0), rel=0.4)


@pytest.mark.parametrize("name", ["linear", "dense"])
def test_all_questions_are_answered_by_the_mixture(fitted, name):
    model, (X, y) = fitted[name], words(1, 5)
    best = model.predict_kbest(X, 3)
    for s, one in enumerate(best):
        assert [p for _, p in one] == sorted((p for _, p in one), reverse=True)
        assert one[0][1] == pytest.approx(model.sequence_log_proba([X[s]], [one[0][0]])[0])
    assert model.predict(X, decoder="posterior") == [
        model.classes_[p.argmax(axis=1)].tolist() for p in model.predict_marginals(X)
    ]
    silent = model.predict(X, decoder="posterior", abstain=0.6)
    for answer, p in zip(silent, model.predict_marginals(X), strict=True):
        assert [one is None for one in answer] == (p.max(axis=1) < 0.6).tolist()
    drawn = model.sample(X[:1], 2000)
    share = np.mean([one[0][0] == "a" for one in drawn])
    assert share == pytest.approx(model.predict_marginals(X[:1])[0][0, 0], abs=0.05)
    known = [[one[0]] + [None] * (len(one) - 1) for one in y]
    for p, one in zip(model.predict_marginals(X, allowed=known), y, strict=True):
        assert p[0, model.classes_.tolist().index(one[0])] == pytest.approx(1.0)
    partly = [[None, *one[1:]] for one in y]
    assert (model.sequence_log_proba(X, partly) >= model.sequence_log_proba(X, y) - 1e-9).all()


@pytest.mark.parametrize("structure", ["chain", Chain(order=2), "tree", "graph", "segments"])
def test_every_exact_structure_has_a_posterior(structure):
    X, y = words(2, 8)
    if structure == "tree":
        X = [(x, [-1, *range(len(x) - 1)]) for x in X]
    if structure == "graph":
        X = [(x, [(t, t + 1) for t in range(len(x) - 1)]) for x in X]
    for model in (
        CRF(structure=structure, posterior=FEW),
        KernelCRF(RBF(0.5), structure=structure, posterior=FEW),
    ):
        fitted = model.fit(X, y)
        assert np.isfinite(fitted.posterior_.log_evidence)
        for p in fitted.predict_marginals(X[:2]):
            np.testing.assert_allclose(p.sum(axis=1), 1.0)


def test_tokens_sparse_rows_and_rows_without_neighbours():
    tokens = [[("The", "DT"), ("dog", "NN")], [("Dogs", "NN"), ("bark", "VB")]] * 3
    y = [["B", "I"], ["B", "O"]] * 3
    model = CRF(features="chunking", constraints="iob2", posterior=FEW).fit(tokens, y)
    assert model.predict(tokens[:2]) == y[:2]
    X, y = words()
    rows = [sparse.csr_matrix(x) for x in X]
    assert CRF(posterior=FEW).fit(rows, y).predict_marginals(rows)
    assert CRF(posterior=FEW, observed_only=True).fit(rows, y).predict_marginals(rows)
    single = KernelLogisticRegression(RBF(0.5), posterior=FEW).fit(np.concatenate(X), np.concatenate(y))
    np.testing.assert_allclose(single.predict_proba(np.concatenate(X)).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"posterior": "laplas"}, "posterior"),
        ({"posterior": 3}, "posterior"),
        ({"posterior": FEW, "l1": 0.1}, "has a norm"),
        ({"posterior": FEW, "penalty": 0.0}, "penalties above 0"),
        ({"posterior": FEW, "loss": "marginal-log"}, "log loss"),
        ({"posterior": FEW, "loss": Log("hamming")}, "without a cost"),
    ],
)
def test_what_has_no_posterior_is_refused(settings, message):
    with pytest.raises(InputError, match=message):
        CRF(**settings).fit(*words())


def test_settings_of_methods_are_checked():
    with pytest.raises(InputError, match="n_samples"):
        Laplace(n_samples=0)
    with pytest.raises(InputError, match="scale"):
        Laplace(scale=-1.0)
    with pytest.raises(InputError, match="folds"):
        Laplace(folds=1)
    with pytest.raises(InputError, match="rounds"):
        Variational(rounds=0)
    with pytest.raises(InputError, match="thin"):
        SliceSampling(thin=0)
    with pytest.raises(InputError, match="partial_fit has no posterior"):
        CRF(posterior=FEW).partial_fit(*words())


def test_folds_choose_scale_and_temperature_that_raise_their_likelihood():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(30)]
    # Labels that are mostly noise: a small penalty makes for probabilities that are far too extreme.
    y = [[("a", "b")[int(x[0] + 2 * rng.normal() > 0)] for x in one] for one in X]
    sure = KernelCRF(RBF(0.3), penalty=0.02, random_state=0).fit(X, y)
    model = clone(sure).set_params(posterior=Laplace(n_samples=8, folds=3, evidence=False)).fit(X, y)
    assert model.scaling_.after > model.scaling_.before
    fresh = [rng.normal(size=(4, 3)) for _ in range(60)]
    truth = [[("a", "b")[int(x[0] + 2 * rng.normal() > 0)] for x in one] for one in fresh]
    held = [m.sequence_log_proba(fresh, truth).mean() for m in (sure, model)]
    assert held[1] > held[0] + 0.5
    flat = clone(model).fit(np.concatenate(X), y, lengths=[4] * 30)
    assert flat.scaling_.temperature == pytest.approx(model.scaling_.temperature)


def test_tuning_by_evidence_finds_what_the_evidence_prefers():
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(5, 2)) for _ in range(25)]
    y = [[("a", "b")[int(x[0] > 0)] for x in one] for one in X]
    found = tune_by_evidence(KernelCRF(RBF(5.0), penalty=10.0, random_state=0), X, y)
    best = max(found.path, key=lambda step: step.log_evidence)
    assert best.log_evidence == found.log_evidence
    assert found.log_evidence > found.path[0].log_evidence + 5
    assert found.model.penalty == found.settings["penalty"] < 10.0
    assert found.model.kernel.gamma == found.settings["kernel__gamma"] < 5.0
    assert len(found.path) <= 12
    with pytest.raises(InputError, match="no posterior"):
        tune_by_evidence(kernelfields.HMM(), X, y)
    with pytest.raises(InputError, match="kernel__width is None"):
        tune_by_evidence(KernelCRF(RBF(5.0)), X, y, parameters=["kernel__width"])


def test_gram_matrices_that_rounding_makes_indefinite_have_a_posterior():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 1)).round(3) for _ in range(12)]
    y = [["x" if value > 0 else "y" for value in x[:, 0]] for x in X]
    K = RBF(2.53)(np.concatenate(X).astype(np.float32), np.concatenate(X).astype(np.float32))
    assert np.linalg.eigvalsh(K.astype(np.float64))[0] < -1e-7
    model = KernelCRF(RBF(2.53), penalty=0.0352, posterior=Laplace(n_samples=2), random_state=0).fit(X, y)
    assert np.isfinite(model.posterior_.log_evidence)
