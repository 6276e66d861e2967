"""Hidden Markov models: against hmmlearn, by enumeration, by hand."""

import itertools
import warnings
from functools import partial

import numpy as np
import pytest
from hmmlearn import hmm as hmmlearn
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.mixture import GaussianMixture as GaussianMixtureRival
from threadpoolctl import threadpool_limits

from kernelfields import HMM, InfeasibleError, InputError
from kernelfields.constraints import LeftRight
from kernelfields.emissions import (
    Bernoulli,
    Categorical,
    CategoricalEmissions,
    DiagonalGaussian,
    FullGaussian,
    GaussianEmissions,
    GaussianMixture,
    MixtureEmissions,
    Multinomial,
    MultinomialEmissions,
    Poisson,
    PoissonEmissions,
    SphericalGaussian,
    TiedGaussian,
)
from kernelfields.testing import estimators as checks
from kernelfields.testing import labelled_sequences

from ..emissions._models import FAMILIES, name_of, sequences

STEPS = 12
LENGTHS = [25, 1, 60, 7, 120, 40]


@pytest.mark.parametrize("emissions", ["gaussian", "gaussian-full", GaussianMixture(2)])
def test_estimator_passes_the_checks(emissions, rng):
    X, y = labelled_sequences(rng, 30)
    for check in (
        checks.check_parameters,
        checks.check_not_fitted,
        checks.check_fit_is_repeatable,
        checks.check_inputs_untouched,
        checks.check_persistence,
        partial(checks.check_names_of_labels, ties=False),
        checks.check_probabilities,
    ):
        check(clone(HMM(emissions)), X, y)


def chances(rng, *shape):
    return rng.dirichlet(np.full(shape[-1], 2.0), size=shape[:-1])


def rival_of(kind, rng, X):
    """The same model twice: hmmlearn's, and ours with the same start and the same priors."""
    L, flat = 3, np.concatenate(X)
    start, transitions = chances(rng, L), chances(rng, L, L)
    same = {
        "n_components": L,
        "n_iter": STEPS,
        "tol": -np.inf,
        "init_params": "",
        "implementation": "scaling",
    }
    if kind == "categorical":
        rival = hmmlearn.CategoricalHMM(**same)
        rival.emissionprob_ = chances(rng, L, 6)
        ours = CategoricalEmissions(rival.emissionprob_, None, Categorical(pseudocount=0.0))
    elif kind == "multinomial":
        rival = hmmlearn.MultinomialHMM(**same)
        rival.emissionprob_ = chances(rng, L, 3)
        ours = MultinomialEmissions(rival.emissionprob_, Multinomial(pseudocount=0.0))
    elif kind == "poisson":
        rival = hmmlearn.PoissonHMM(**same)
        rival.lambdas_ = rng.uniform(1, 5, size=(L, 2))
        ours = PoissonEmissions(rival.lambdas_, Poisson(0.0, 0.0))
    else:
        D = flat.shape[1]
        prior = 0.01 * np.eye(D) if kind in ("full", "tied") else 0.01
        rival = hmmlearn.GaussianHMM(covariance_type=kind, covars_prior=prior, covars_weight=1, **same)
        rival.means_ = rng.normal(size=(L, D)) + 2 * np.arange(L)[:, None]
        root = rng.normal(size=(L, D, D))
        S = root @ root.transpose(0, 2, 1) + np.eye(D)
        rival.covars_ = {
            "full": S,
            "tied": S[0],
            "diag": np.array([np.diag(s) for s in S]),
            "spherical": S[:, 0, 0],
        }[kind]
        family, covariances = {
            "full": (FullGaussian(), S),
            "tied": (TiedGaussian(), np.repeat(S[:1], L, axis=0)),
            "diag": (DiagonalGaussian(), np.array([np.diag(s) for s in S])),
            "spherical": (SphericalGaussian(), np.repeat(S[:, 0, 0][:, None], D, axis=1)),
        }[kind]
        ours = GaussianEmissions(rival.means_, covariances, family)
    rival.startprob_, rival.transmat_ = start, transitions
    model = HMM(ours, start=start, transitions=transitions, pseudocount=0.0, tol=0.0, max_iter=STEPS)
    return rival, model


KINDS = ["spherical", "diag", "full", "tied", "categorical", "poisson", "multinomial"]


def data_of(kind, rng):
    family = {"categorical": Categorical(), "poisson": Poisson(), "multinomial": Multinomial()}.get(
        kind, DiagonalGaussian()
    )
    X = sequences(family, rng, LENGTHS)
    if kind == "multinomial":  # hmmlearn wants the same number of draws in every row
        X = [np.eye(3, dtype=int)[x.argmax(axis=1)] + np.array([1, 0, 1]) for x in X]
    return X


@pytest.mark.parametrize("kind", KINDS)
def test_every_likelihood_of_em_is_that_of_hmmlearn(kind, rng):
    X = data_of(kind, rng)
    rival, model = rival_of(kind, rng, X)
    flat = np.concatenate(X)
    flat = flat.astype(int) if kind in ("categorical", "poisson", "multinomial") else flat
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival.fit(flat[:, None] if flat.ndim == 1 else flat, LENGTHS)
    model.fit(X)
    np.testing.assert_allclose(model.log_likelihoods_[:-1], rival.monitor_.history, rtol=1e-8)
    np.testing.assert_allclose(model.transitions_, rival.transmat_, atol=1e-6)
    np.testing.assert_allclose(model.start_, rival.startprob_, atol=1e-6)
    flat = flat[:, None] if flat.ndim == 1 else flat
    assert model.log_probability(X).sum() == pytest.approx(rival.score(flat, LENGTHS), rel=1e-8)
    assert list(itertools.chain(*model.predict(X))) == rival.predict(flat, LENGTHS).tolist()


@pytest.mark.parametrize("kind", ["diag", "full", "tied", "spherical", "categorical"])
def test_information_criteria_are_those_of_hmmlearn(kind, rng):
    X = data_of(kind, rng)
    rival, model = rival_of(kind, rng, X)
    flat = np.concatenate(X)
    flat = flat[:, None] if flat.ndim == 1 else flat
    rival.n_features = 6 if kind == "categorical" else flat.shape[1]
    model.set_params(max_iter=0).fit(X)
    assert model.aic(X) == pytest.approx(rival.aic(flat, LENGTHS), rel=1e-9)
    assert model.bic(X) == pytest.approx(rival.bic(flat, LENGTHS), rel=1e-9)


@pytest.mark.parametrize("gaussian", [DiagonalGaussian(1e-9), FullGaussian(1e-9)], ids=name_of)
def test_a_single_state_is_the_mixture_of_scikit_learn(gaussian, rng):
    """Hmmlearn's own mixtures take covariances around the old means, which is a smaller step."""
    x = np.vstack(sequences(gaussian, rng, [150]))
    means, shares = x[:3].copy(), np.array([0.5, 0.3, 0.2])
    kind = "full" if gaussian.full else "diag"
    precisions = np.repeat(np.eye(2)[None], 3, axis=0) if gaussian.full else np.ones((3, 2))
    rival = GaussianMixtureRival(
        3, covariance_type=kind, weights_init=shares, means_init=means, precisions_init=precisions
    )
    rival.set_params(max_iter=10, tol=0.0, reg_covar=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rival.fit(x)
    start = MixtureEmissions(
        shares[None],
        GaussianEmissions(means, precisions, gaussian),
        GaussianMixture(3, gaussian, pseudocount=0.0),
    )
    model = HMM(start, tol=0, max_iter=10).fit([x])
    assert model.log_likelihoods_[-1] == pytest.approx(rival.score(x) * 150, rel=1e-8)
    np.testing.assert_allclose(model.emissions_.gaussians.means, rival.means_, rtol=1e-6)
    np.testing.assert_allclose(
        model.emissions_.gaussians.covariances, rival.covariances_, rtol=1e-6, atol=1e-9
    )
    np.testing.assert_allclose(model.emissions_.weights[0], rival.weights_, rtol=1e-6)


@pytest.mark.parametrize("gaussian", [DiagonalGaussian(), FullGaussian()], ids=name_of)
def test_mixtures_are_chains_of_their_components(gaussian, rng):
    """A state and a component together are one state of a larger chain."""
    X = sequences(gaussian, rng, [6, 9])
    model = HMM(GaussianMixture(2, gaussian), n_states=3, tol=0, max_iter=2, random_state=0).fit(X)
    shares = model.emissions_.weights
    larger = HMM(
        model.emissions_.gaussians,
        start=(model.start_[:, None] * shares).ravel(),
        transitions=np.repeat((model.transitions_[:, :, None] * shares).reshape(3, 6), 2, axis=0),
        tol=0,
        max_iter=0,
    ).fit(X)
    np.testing.assert_allclose(model.log_probability(X), larger.log_probability(X), rtol=1e-10)
    apart = larger.predict_marginals(X)[1].reshape(9, 3, 2).sum(axis=2)
    np.testing.assert_allclose(model.predict_marginals(X)[1], apart, atol=1e-10)


@pytest.mark.parametrize("family", FAMILIES, ids=name_of)
@pytest.mark.parametrize("gaps", [False, True])
def test_no_step_of_em_decreases_the_objective(family, gaps, rng):
    X = sequences(family, rng, [40, 3, 25, 1, 60])
    if gaps and name_of(family) == "Categorical":
        X = [[None if t % 5 == 2 else s for t, s in enumerate(x.tolist())] for x in X]
    elif gaps:
        for x in X:
            x[2::5] = np.nan
        if name_of(family) in ("DiagonalGaussian", "SphericalGaussian", "Poisson", "Bernoulli"):
            X[0][::3, 0] = np.nan
    model = HMM(family, n_states=3, tol=0, max_iter=30, random_state=1).fit(X)
    objectives = np.array(model.objectives_)
    assert len(objectives) == 31
    assert (np.diff(objectives) >= -1e-10 * np.abs(objectives[:-1])).all()
    assert objectives[-1] > objectives[0]


def test_counts_by_hand():
    X = [["a", "b", "a"], ["b"], ["a", "a", "c", "b"]]
    y = [["P", "Q", "P"], ["Q"], ["P", "P", "P", "Q"]]
    model = HMM(Categorical(pseudocount=0.5), pseudocount=1.0).fit(X, y)
    np.testing.assert_allclose(model.start_, [3 / 5, 2 / 5])
    np.testing.assert_allclose(model.transitions_, [[3 / 6, 3 / 6], [2 / 3, 1 / 3]])
    np.testing.assert_allclose(
        model.emissions_.probabilities, [[4.5 / 6.5, 0.5 / 6.5, 1.5 / 6.5], [0.5 / 4.5, 3.5 / 4.5, 0.5 / 4.5]]
    )
    assert model.log_likelihoods_ is None
    assert model.n_iter_ == 0
    plain = HMM(Categorical(pseudocount=0.0), pseudocount=0.0).fit(X, y)
    np.testing.assert_allclose(plain.transitions_, [[0.5, 0.5], [1.0, 0.0]])


def test_labelled_gaussians_have_the_moments_of_their_states(rng):
    X, y = labelled_sequences(rng, 30)
    model = HMM(FullGaussian(prior_scale=0.0)).fit(X, y)
    flat, labels = np.concatenate(X), np.concatenate(y)
    for k, name in enumerate(model.classes_):
        mine = flat[labels == name]
        np.testing.assert_allclose(model.emissions_.means[k], mine.mean(axis=0))
        np.testing.assert_allclose(model.emissions_.covariances[k], np.cov(mine.T, bias=True), atol=1e-12)


@pytest.mark.parametrize("V", [7, 700, 9000])
def test_native_counts_of_many_sequences(rng, V):
    """Few symbols are counted together with pairs of states, more apart, many in one table."""
    lengths = rng.integers(0, 60, size=3000)
    y = rng.integers(0, 4, size=lengths.sum())
    x = rng.integers(0, V, size=lengths.sum())
    cuts = np.cumsum(lengths)[:-1]
    model = HMM(Categorical(0.0, symbols=V), pseudocount=0.0).fit(np.split(x, cuts), np.split(y, cuts))
    pairs, start = np.zeros((4, 4)), np.zeros(4)
    for labels in np.split(y, cuts):
        if len(labels):
            start[labels[0]] += 1
        np.add.at(pairs, (labels[:-1], labels[1:]), 1)
    emissions = np.zeros((4, V))
    np.add.at(emissions, (y, x), 1)
    np.testing.assert_array_equal(model.start_, start / start.sum())
    np.testing.assert_array_equal(model.transitions_, pairs / pairs.sum(axis=1, keepdims=True))
    np.testing.assert_array_equal(model.emissions_.probabilities, emissions / emissions.sum(axis=1)[:, None])


@pytest.mark.parametrize("family", [Categorical(), DiagonalGaussian(), Poisson()], ids=name_of)
def test_partial_labels_are_sums_over_what_agrees_with_them(family, rng):
    X = sequences(family, rng, [4, 5, 60])
    y = [[None, 1, None, 2], [0, None, None, None, 1], [*([0, 1, 2] * 20)]]
    model = HMM(family, tol=0, max_iter=3).fit(X, y)
    objectives = np.array(model.objectives_)
    assert (np.diff(objectives) >= -1e-9).all()
    total = 0.0
    density = model.emissions_.log_density(family.read(X, None, model.emissions_).observations)
    offset = 0
    for x, labels in zip(X[:2], y[:2], strict=True):
        values = [
            joint(model, density[offset : offset + len(x)], path)
            for path in itertools.product(range(3), repeat=len(x))
            if all(given is None or given == k for given, k in zip(labels, path, strict=True))
        ]
        total += logsumexp(values)
        offset += len(x)
    total += joint(model, density[offset:], y[2])
    assert model.log_likelihoods_[-1] == pytest.approx(total, rel=1e-10)


def joint(model, density, path):
    value = np.log(model.start_[path[0]]) + density[np.arange(len(path)), path].sum()
    return value + sum(np.log(model.transitions_[a, b]) for a, b in itertools.pairwise(path))


def test_a_few_labels_name_the_states(rng):
    X = sequences(DiagonalGaussian(), rng, [30] * 20)
    truth = [np.where(x[:, 0] > 3, "high", np.where(x[:, 0] > 1, "mid", "low")).tolist() for x in X]
    y = [labels if s < 2 else [None] * 30 for s, labels in enumerate(truth)]
    model = HMM().fit(X, y)
    assert set(model.classes_) == {"low", "mid", "high"}
    assert model.score(X, truth) > 0.75


def test_missing_observations_are_summed_out(rng):
    model = HMM("categorical").fit([list("abcab"), list("bca")], [list("xyzxy"), list("yzx")])
    for t in range(4):
        x = list("abca")
        gone = [*x[:t], None, *x[t + 1 :]]
        every = model.log_probability([[*x[:t], v, *x[t + 1 :]] for v in "abc"])
        assert model.log_probability([gone])[0] == pytest.approx(logsumexp(every), rel=1e-12)
    X = sequences(DiagonalGaussian(), rng, [50])
    gaussian = HMM("gaussian", n_states=2, random_state=0).fit(X)
    whole = X[0][:6]
    grid = np.linspace(-12, 16, 561)
    gone = whole.copy()
    gone[3, 0] = np.nan
    values = gaussian.log_probability([np.vstack([whole[:3], [[v, whole[3, 1]]], whole[4:]]) for v in grid])
    area = np.trapezoid(np.exp(values - values.max()), grid)
    assert gaussian.log_probability([gone])[0] == pytest.approx(np.log(area) + values.max(), rel=1e-6)
    assert gaussian.log_probability([[None, None, None]])[0] == pytest.approx(0.0, abs=1e-12)


def test_prediction_is_that_of_enumeration(rng):
    X = sequences(Poisson(), rng, [5, 80])
    model = HMM("poisson", n_states=3, random_state=2).fit(X)
    density = model.emissions_.log_density(model._read(X[:1], None).features)
    paths = list(itertools.product(range(3), repeat=5))
    values = np.array([joint(model, density, list(path)) for path in paths])
    assert model.log_probability(X)[0] == pytest.approx(logsumexp(values), rel=1e-12)
    assert model.predict(X[:1])[0] == list(paths[int(values.argmax())])
    weights = np.exp(values - logsumexp(values))
    marginals = np.zeros((5, 3))
    for path, weight in zip(paths, weights, strict=True):
        marginals[np.arange(5), path] += weight
    np.testing.assert_allclose(model.predict_marginals(X[:1])[0], marginals, atol=1e-12)


@pytest.mark.parametrize("constraints", ["left-right", "cyclic", LeftRight(step=1)])
def test_zeros_stay_zero(constraints, rng):
    X = sequences(DiagonalGaussian(), rng, [20] * 10)
    model = HMM("gaussian", n_states=4, constraints=constraints, tol=0, max_iter=15, random_state=0).fit(X)
    ahead = np.arange(4) - np.arange(4)[:, None]
    barred = (ahead % 4 > 1) if constraints == "cyclic" else ahead < 0
    if constraints == LeftRight(step=1):
        barred = barred | (ahead > 1)
    assert (model.transitions_[barred] == 0).all()
    assert (model.transitions_[~barred] > 0).all()
    np.testing.assert_allclose(model.transitions_.sum(axis=1), 1)
    if constraints != "cyclic":
        np.testing.assert_array_equal(model.start_, [1, 0, 0, 0])
        assert all(path == sorted(path) for path in model.predict(X))


def test_zeros_of_given_parts_stay_too(rng):
    X = sequences(DiagonalGaussian(), rng, [20] * 5)
    transitions = np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5]])
    model = HMM("gaussian", transitions=transitions, tol=0, max_iter=5, random_state=0).fit(X)
    np.testing.assert_array_equal(model.transitions_ == 0, transitions == 0)


def test_generated_sequences_have_the_frequencies_of_the_model(rng):
    start, transitions = np.array([0.7, 0.3]), np.array([[0.9, 0.1], [0.4, 0.6]])
    table = np.array([[0.8, 0.2, 0.0], [0.1, 0.2, 0.7]])
    model = HMM(
        CategoricalEmissions(table), start=start, transitions=transitions, tol=0, max_iter=0, random_state=3
    ).fit([[0, 1, 2]])
    X, y = model.generate([20] * 3000)
    states = np.array(y)
    n = np.bincount(states[:, :-1].ravel(), minlength=2)
    for k in range(2):
        share = (states[:, 1:][states[:, :-1] == k] == 1).mean()
        p = transitions[k, 1]
        assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / n[k])
    assert abs((states[:, 0] == 0).mean() - 0.7) < 5 * np.sqrt(0.21 / 3000)
    symbols = np.array(X)
    for k in range(2):
        share = np.bincount(symbols[states == k], minlength=3) / (states == k).sum()
        np.testing.assert_allclose(share, table[k], atol=0.015)
    assert model.generate([5])[0] == model.generate([5])[0]


def test_parameters_of_a_known_model_are_recovered(rng):
    known = HMM(
        GaussianEmissions(
            np.array([[0.0, 0.0], [3.0, 1.0]]), np.array([[1.0, 0.5], [0.3, 2.0]]), DiagonalGaussian()
        ),
        start=[0.5, 0.5],
        transitions=[[0.9, 0.1], [0.3, 0.7]],
        tol=0,
        max_iter=0,
        random_state=5,
    ).fit([np.zeros((2, 2))])
    X, _ = known.generate([50] * 200)
    model = HMM("gaussian", n_states=2, random_state=0).fit(X)
    order = np.argsort(model.emissions_.means[:, 0])
    np.testing.assert_allclose(model.emissions_.means[order], known.emissions_.means, atol=0.1)
    np.testing.assert_allclose(model.transitions_[order][:, order], known.transitions_, atol=0.03)


def test_restarts_keep_the_best_run(rng):
    X = sequences(Categorical(), rng, [30] * 10)
    single = [
        HMM("categorical", n_states=3, random_state=s, max_iter=20, tol=0).fit(X).objectives_[-1]
        for s in range(1)
    ]
    several = HMM("categorical", n_states=3, random_state=0, n_init=5, max_iter=20, tol=0).fit(X)
    assert several.objectives_[-1] >= single[0]


def test_results_do_not_depend_on_threads(rng):
    X = sequences(FullGaussian(), rng, [120] * 150)
    y = [[None] * 120] * 150
    y[0] = list(np.arange(120) % 3)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            found.append(HMM("gaussian-full", tol=0, max_iter=3).fit(X, y))
    assert found[0].objectives_ == found[1].objectives_
    np.testing.assert_array_equal(found[0].emissions_.covariances, found[1].emissions_.covariances)


def test_flat_arrays_with_lengths_as_hmmlearn_has_them(rng):
    X = sequences(DiagonalGaussian(), rng, [10, 20])
    whole = HMM("gaussian", n_states=2, random_state=0).fit(X)
    flat = HMM("gaussian", n_states=2, random_state=0).fit(np.concatenate(X), lengths=[10, 20])
    np.testing.assert_array_equal(whole.transitions_, flat.transitions_)
    assert flat.predict(np.concatenate(X), lengths=[10, 20]) == whole.predict(X)
    symbols = sequences(Categorical(), rng, [10, 20])
    column = np.concatenate(symbols)[:, None]
    a = HMM("categorical", n_states=2, random_state=0).fit(symbols)
    b = HMM("categorical", n_states=2, random_state=0).fit(column, lengths=[10, 20])
    np.testing.assert_array_equal(a.transitions_, b.transitions_)


def test_limits_and_refusals(rng):
    X, y = labelled_sequences(rng, 12)
    with pytest.warns(Warning, match="limit of steps was reached. Raise max_iter"):
        HMM("gaussian", n_states=3, max_iter=1, random_state=0).fit(X)
    bad = {
        "do not say the number": lambda: HMM().fit(X),
        "differ in the number": lambda: HMM("gaussian", n_states=3, start=[0.5, 0.5]).fit(X),
        "n_states is 2, but y has 3": lambda: HMM("gaussian", n_states=2).fit(X, y),
        "sum to one": lambda: HMM("gaussian", n_states=2, start=[0.5, 0.6]).fit(X),
        "The training set is empty": lambda: HMM("gaussian", n_states=2).fit([]),
        "is not known": lambda: HMM("gauss", n_states=2).fit(X),
        "Sequence 2 of X has 2 features": lambda: HMM().fit([*X[:2], X[2][:, :2], *X[3:]], y),
        "lengths=": lambda: HMM("gaussian", n_states=2).fit(np.concatenate(X)),
        "at least two labels": lambda: HMM().fit(X, [["red"] * len(x) for x in X]),
        "forbidden label pair": lambda: HMM(constraints="left-right").fit(
            [np.eye(3)], [["red", "green", "blue"]]
        ),
    }
    for words, attempt in bad.items():
        with pytest.raises(InputError, match=words):
            attempt()
    model = HMM(Categorical(0.0), pseudocount=0.0).fit(["ab", "ab"], [[0, 1], [0, 1]])
    with pytest.raises(InfeasibleError, match="Sequence 1"):
        model.predict(["ab", "ba"])


def test_score_without_labels_is_the_log_likelihood(rng):
    X = sequences(Poisson(), rng, [10, 20])
    model = HMM("poisson", n_states=2, random_state=0).fit(X)
    assert model.score(X) == pytest.approx(model.log_probability(X).sum() / 30)


@pytest.mark.parametrize(
    ("emissions", "words"),
    [
        (DiagonalGaussian(prior_scale=-1.0), "prior_scale is -1.0"),
        (FullGaussian(prior_weight=np.nan), "prior_weight is nan"),
        (GaussianMixture(components=0), "components is 0"),
        (GaussianMixture(gaussian=FullGaussian(prior_scale=-1.0)), "prior_scale is -1.0"),
        (GaussianMixture(pseudocount=-1.0), "pseudocount is -1.0"),
        (Bernoulli(-1.0), "pseudocount is -1.0"),
        (Multinomial(pseudocount=-1.0), "pseudocount is -1.0"),
    ],
)
def test_settings_of_emissions_are_checked(emissions, words):
    X, y = [np.eye(2), np.eye(2)], [["a", "b"], ["a", "b"]]
    with pytest.raises(InputError, match=words):
        HMM(emissions).fit(X, y)
    with pytest.raises(InputError, match=words):
        HMM(emissions, n_states=2).fit(X)


def test_negative_pseudocounts_of_states_are_refused():
    with pytest.raises(InputError, match="pseudocount is -1"):
        HMM("categorical", pseudocount=-1).fit([["x", "z"]], [["a", "b"]])


def test_restarts_beside_labels_are_refused():
    with pytest.raises(InputError, match="n_init is 3, but with y there is one start"):
        HMM("categorical", n_init=3).fit([["x", "z"]], [["a", "b"]])


def test_a_family_changed_after_fit_changes_no_model():
    family = Categorical(order=1)
    X, y = [["x", "z", "x"]] * 3, [["a", "b", "b"]] * 3
    model = HMM(family).fit(X, y)
    before = model.log_probability(X)
    family.set_params(order=0, pseudocount=5.0)
    np.testing.assert_array_equal(model.log_probability(X), before)
    assert model.emissions_.family.pseudocount == 0.1


@pytest.mark.parametrize("full", [False, True])
def test_counts_of_rows_are_moments_by_hand(full, rng):
    labels = rng.integers(5, size=200)
    rows = rng.normal(size=(200, 3)) + labels[:, None]
    rows[rng.random(200) < 0.1] = np.nan
    family = FullGaussian(0.0) if full else DiagonalGaussian(0.0)
    emissions = HMM(family).fit([rows], [labels]).emissions_
    for k in range(5):
        mine = rows[(labels == k) & ~np.isnan(rows[:, 0])]
        covariance = np.cov(mine.T, bias=True)
        np.testing.assert_allclose(emissions.means[k], mine.mean(axis=0))
        np.testing.assert_allclose(
            emissions.covariances[k], covariance if full else np.diag(covariance), atol=1e-12
        )
