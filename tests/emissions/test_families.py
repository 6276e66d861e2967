"""Every family: densities against SciPy, expectations against enumeration, maximisation against search."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from kernelfields import InputError
from kernelfields.emissions import (
    Bernoulli,
    BernoulliEmissions,
    Categorical,
    CategoricalEmissions,
    DiagonalGaussian,
    FullGaussian,
    GaussianEmissions,
    GaussianMixture,
    Markov,
    MixtureEmissions,
    Multinomial,
    MultinomialEmissions,
    ObservedSequences,
    Poisson,
    PoissonEmissions,
    TiedGaussian,
)
from kernelfields.emissions.rows import NumberRows

from ._models import FAMILIES, name_of, sequences


@pytest.fixture(params=FAMILIES, ids=name_of)
def family(request):
    return request.param


def density_by_scipy(emissions, x, k):
    """Log p(x|k) of one observation."""
    match emissions:
        case GaussianEmissions():
            S = emissions.covariances[k]
            return stats.multivariate_normal(emissions.means[k], S if S.ndim == 2 else np.diag(S)).logpdf(x)
        case MixtureEmissions():
            M = emissions.weights.shape[1]
            parts = [density_by_scipy(emissions.gaussians, x, k * M + m) for m in range(M)]
            return np.log(emissions.weights[k] @ np.exp(parts))
        case CategoricalEmissions():
            return np.log(emissions.probabilities[k, x])
        case MultinomialEmissions():
            return stats.multinomial(int(x.sum()), emissions.probabilities[k]).logpmf(x)
        case PoissonEmissions():
            return stats.poisson(emissions.rates[k]).logpmf(x).sum()
        case BernoulliEmissions():
            return stats.bernoulli(emissions.probabilities[k]).logpmf(x).sum()


def start_of(family, rng, lengths=(4, 1, 3), gaps=False):
    """Data, emissions and a chain of three states."""
    X = sequences(family, rng, lengths)
    many = sequences(family, rng, [200])
    if gaps and name_of(family) == "Categorical":
        X = [[None if t == 1 else s for t, s in enumerate(x.tolist())] for x in X]
    elif gaps:
        X[0][1] = np.nan
        X[2][2] = np.nan
    known = family.guess(family.read(many, None, None).observations, 3, rng)
    data = family.read(X, None, known)
    chances = rng.dirichlet(np.ones(3), size=4)
    return X, data, known, Markov(np.log(chances[0]), np.log(chances[1:]))


def enumerate_paths(emissions, x, markov):
    """All paths of one sequence with log p(x, y), densities by SciPy."""
    for path in itertools.product(range(3), repeat=len(x)):
        value = markov.start[path[0]] + sum(markov.transitions[a, b] for a, b in itertools.pairwise(path))
        for t, k in enumerate(path):
            if x[t] is not None and not np.isnan(x[t]).all():
                value += density_by_scipy(emissions, x[t], k)
        yield path, value


@pytest.mark.parametrize("gaps", [False, True])
def test_densities_are_those_of_scipy(family, rng, gaps):
    X, data, emissions, _ = start_of(family, rng, gaps=gaps)
    flat = [row for x in X for row in x]
    mine = emissions.log_density(data.observations)
    for t, row in enumerate(flat):
        there = row is not None and not np.isnan(row).all()
        wanted = [density_by_scipy(emissions, row, k) if there else 0.0 for k in range(3)]
        np.testing.assert_allclose(mine[t], wanted, rtol=1e-10)


@pytest.mark.parametrize("gaps", [False, True])
def test_expectations_are_those_of_enumeration(family, rng, gaps):
    X, data, emissions, markov = start_of(family, rng, gaps=gaps)
    found = emissions.expected(data, markov)
    start, transitions, weights = np.zeros(3), np.zeros((3, 3)), []
    for s, x in enumerate(X):
        paths = list(enumerate_paths(emissions, x, markov))
        total = logsumexp([value for _, value in paths])
        assert found.log_probability[s] == pytest.approx(total, rel=1e-10)
        node = np.zeros((len(x), 3))
        for path, value in paths:
            chance = np.exp(value - total)
            start[path[0]] += chance
            for pair in itertools.pairwise(path):
                transitions[pair] += chance
            node[np.arange(len(x)), path] += chance
        weights.append(node)
    np.testing.assert_allclose(found.start, start, atol=1e-10)
    np.testing.assert_allclose(found.transitions, transitions, atol=1e-10)
    check_statistics(emissions, data, np.concatenate(weights), found.statistics)


@pytest.mark.parametrize("gaps", [False, True])
def test_log_probabilities_alone_are_those_of_the_expectation_step(family, rng, gaps):
    _, data, emissions, markov = start_of(family, rng, lengths=(4, 1, 3, *range(5, 40)), gaps=gaps)
    alone = emissions.log_probability(data, markov)
    np.testing.assert_allclose(alone, emissions.expected(data, markov).log_probability, rtol=1e-12)


@pytest.mark.parametrize("D", [1, 3])
@pytest.mark.parametrize("L", [2, 3, 8, 9, 11])
@pytest.mark.parametrize(
    "lengths", [(3, 1, 5, 2), (700, 20, 400, 1, 300, 900, 250, 500, 640, 280), (9_000, 3, 70_000)]
)
@pytest.mark.parametrize("family", [DiagonalGaussian(), FullGaussian()], ids=name_of)
def test_the_core_adds_up_what_arrays_add_up(family, lengths, L, D, rng):
    """Numbers of states and lengths on both sides of what vectors, tiles and lanes hold; missing rows."""
    X = rng.normal(size=(sum(lengths), D))
    X[rng.random(len(X)) < 0.1] = np.nan
    data = family.read(X, lengths, None)
    spread = rng.uniform(0.5, 2, (L, D))
    covariances = spread if not family.full else np.einsum("kd,de->kde", spread, np.eye(D))
    emissions = GaussianEmissions(rng.normal(size=(L, D)), covariances, family)
    chances = rng.dirichlet(np.ones(L), size=L + 1)
    markov = Markov(np.log(chances[0]), np.log(chances[1:]))
    found, wanted = emissions.expected(data, markov), emissions._expected_by_arrays(data, markov)
    np.testing.assert_allclose(found.log_probability, wanted.log_probability, rtol=1e-11)
    np.testing.assert_allclose(found.start, wanted.start, atol=1e-10)
    np.testing.assert_allclose(found.transitions, wanted.transitions, rtol=1e-8, atol=1e-10)
    for mine, other in zip(found.statistics, wanted.statistics, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-9)


def check_statistics(emissions, data, weights, found):
    """New emissions from the statistics are those of plain weighted estimates."""
    after = emissions.improved(found)
    x = data.observations
    if isinstance(emissions, CategoricalEmissions):
        counts = np.zeros_like(emissions.probabilities)
        for t, v in enumerate(x.numbers):
            if v >= 0:
                counts[:, v] += weights[t]
        counts += emissions.family.pseudocount
        np.testing.assert_allclose(after.probabilities, counts / counts.sum(axis=1, keepdims=True), rtol=1e-9)
        return
    there = ~np.isnan(x.values).all(axis=1)
    X, W = x.values[there], weights[there]
    if isinstance(emissions, GaussianEmissions):
        means = W.T @ X / W.sum(axis=0)[:, None]
        np.testing.assert_allclose(after.means, means, rtol=1e-9)
        scatter = np.array(
            [np.cov(X.T, aweights=W[:, k], bias=True) * W[:, k].sum() for k in range(3)]
        ) + 0.01 * np.eye(2)
        count = W.sum(axis=0)
        match type(emissions.family).__name__:
            case "FullGaussian":
                wanted = scatter / count[:, None, None]
            case "DiagonalGaussian":
                wanted = np.array([np.diag(S) for S in scatter]) / count[:, None]
            case "SphericalGaussian":
                mean = np.array([np.trace(S) / 2 for S in scatter]) / count
                wanted = np.repeat(mean[:, None], 2, axis=1)
            case "TiedGaussian":
                tied = (scatter.sum(axis=0) - 0.02 * np.eye(2)) / count.sum()
                wanted = np.repeat(tied[None], 3, axis=0)
        np.testing.assert_allclose(after.covariances, wanted, rtol=1e-8, atol=1e-12)
    elif isinstance(emissions, PoissonEmissions):
        wanted = (W.T @ X + 0.01) / (W.sum(axis=0) + 0.01)[:, None]
        np.testing.assert_allclose(after.rates, wanted, rtol=1e-9)
    elif isinstance(emissions, BernoulliEmissions):
        wanted = (W.T @ X + 0.1) / (W.sum(axis=0) + 0.2)[:, None]
        np.testing.assert_allclose(after.probabilities, wanted, rtol=1e-9)
    elif isinstance(emissions, MultinomialEmissions):
        wanted = W.T @ X + 0.1
        np.testing.assert_allclose(after.probabilities, wanted / wanted.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize("family", [f for f in FAMILIES if not isinstance(f, GaussianMixture)], ids=name_of)
def test_a_step_cannot_be_bettered(family, rng):
    """No small change of the new emissions raises expected log-likelihood plus log-prior.

    A step of a mixture maximises a bound instead, which hides the components.
    """
    _, data, emissions, markov = start_of(family, rng, lengths=(30, 20))
    chain_weights = posterior(emissions, data, markov)
    after = emissions.improved(emissions.expected(data, markov).statistics)

    def value(candidate):
        return (chain_weights * candidate.log_density(data.observations)).sum() + candidate.log_prior()

    best = value(after)
    for _ in range(30):
        assert value(shaken(after, rng)) <= best + 1e-9


def posterior(emissions, data, markov):
    from kernelfields.structures import ChainBatch

    chain = ChainBatch(data.offsets, 3)
    node = emissions.log_density(data.observations).copy()
    node[chain.first_positions] += markov.start
    return chain.marginals({"node": node, "edge": markov.transitions}).parts["node"]


def shaken(emissions, rng, size=1e-3):
    """Nearby emissions of the same family."""

    def simplex(p):
        p = p * np.exp(size * rng.normal(size=p.shape))
        return p / p.sum(axis=1, keepdims=True)

    match emissions:
        case GaussianEmissions():
            means = emissions.means + size * rng.normal(size=emissions.means.shape)
            kind, S = type(emissions.family).__name__, emissions.covariances
            if kind == "DiagonalGaussian":
                S = S * np.exp(size * rng.normal(size=S.shape))
            elif kind == "SphericalGaussian":
                S = S * np.exp(size * rng.normal(size=(3, 1)))
            else:
                change = np.eye(2) + size * rng.normal(size=(1 if kind == "TiedGaussian" else 3, 2, 2))
                S = change @ S @ change.transpose(0, 2, 1)
            return GaussianEmissions(means, S, emissions.family)
        case CategoricalEmissions():
            return CategoricalEmissions(
                simplex(emissions.probabilities), emissions.vocabulary, emissions.family
            )
        case MultinomialEmissions():
            return MultinomialEmissions(simplex(emissions.probabilities), emissions.family)
        case PoissonEmissions():
            rates = emissions.rates * np.exp(size * rng.normal(size=emissions.rates.shape))
            return PoissonEmissions(rates, emissions.family)
        case BernoulliEmissions():
            p = emissions.probabilities
            return BernoulliEmissions(p + size * p * (1 - p) * rng.normal(size=p.shape), emissions.family)


def test_draws_have_the_moments_of_the_model(family, rng):
    """Means of 40,000 draws within five standard errors."""
    _, _, emissions, _ = start_of(family, rng)
    for k in range(3):
        draws = emissions.draw(np.full(40_000, k), rng)
        if isinstance(emissions, CategoricalEmissions):
            p = emissions.probabilities[k]
            share = np.bincount(draws, minlength=len(p)) / 40_000
            assert (np.abs(share - p) <= 5 * np.sqrt(p * (1 - p) / 40_000) + 1e-9).all()
            continue
        wanted = mean_of(emissions, k)
        assert (np.abs(draws.mean(axis=0) - wanted) <= 5 * draws.std(axis=0) / 200 + 1e-9).all()
        if isinstance(emissions, GaussianEmissions):
            S = emissions.covariances[k]
            S = S if S.ndim == 2 else np.diag(S)
            np.testing.assert_allclose(np.cov(draws.T), S, atol=0.05 * np.abs(S).max())


def mean_of(emissions, k):
    match emissions:
        case GaussianEmissions():
            return emissions.means[k]
        case MixtureEmissions():
            M = emissions.weights.shape[1]
            return emissions.weights[k] @ emissions.gaussians.means[k * M : (k + 1) * M]
        case MultinomialEmissions():
            return 4 * emissions.probabilities[k]
        case PoissonEmissions():
            return emissions.rates[k]
        case BernoulliEmissions():
            return emissions.probabilities[k]


@pytest.mark.parametrize("family", [DiagonalGaussian(), Poisson(), Bernoulli()], ids=name_of)
def test_single_missing_numbers_are_summed_out(family, rng):
    """A column that is missing everywhere: the model without it."""
    X = sequences(family, rng, [30, 20])
    emissions = family.guess(family.read(X, None, None).observations, 3, rng)
    gone = [x.copy() for x in X]
    gone[0][:, 1] = np.nan
    read = family.read(gone, None, emissions)
    mine = emissions.log_density(read.observations)[:30]
    keep = [d for d in range(X[0].shape[1]) if d != 1]
    for t in range(30):
        for k in range(3):
            match emissions:
                case GaussianEmissions():
                    wanted = stats.norm(
                        emissions.means[k, keep], np.sqrt(emissions.covariances[k, keep])
                    ).logpdf(X[0][t, keep])
                case PoissonEmissions():
                    wanted = stats.poisson(emissions.rates[k, keep]).logpmf(X[0][t, keep])
                case BernoulliEmissions():
                    wanted = stats.bernoulli(emissions.probabilities[k, keep]).logpmf(X[0][t, keep])
            assert mine[t, k] == pytest.approx(wanted.sum(), rel=1e-10)


@pytest.mark.parametrize("family", [FullGaussian(), TiedGaussian(), Multinomial()], ids=name_of)
def test_rows_are_whole_where_columns_depend_on_one_another(family, rng):
    X = sequences(family, rng, [5])
    X[0][2, 0] = np.nan
    with pytest.raises(InputError, match="complete rows"):
        family.read(X, None, None)


def test_what_cannot_be_emitted_is_refused():
    for family, bad in (
        (Poisson(), [[1.5]]),
        (Poisson(), [[-1]]),
        (Bernoulli(), [[2]]),
        (Multinomial(), [[0.5]]),
    ):
        with pytest.raises(InputError, match="emissions need"):
            family.read([bad], None, None)
    vocabulary = Categorical().read(["ab"], None, None).observations.vocabulary
    known = CategoricalEmissions(np.full((2, 2), 0.5), vocabulary)
    with pytest.raises(InputError, match="unknown symbol 'c'"):
        Categorical().read(["abc"], None, known)
    for not_in_order in ({"a": 1, "b": 2}, {"a", "b"}):
        with pytest.raises(InputError, match="Sequence 0 of X is not a sequence of symbols"):
            Categorical().read([not_in_order], None, None)
    with pytest.raises(InputError, match="no variance left in column 0"):
        GaussianEmissions(np.zeros((1, 2)), np.array([[0.0, 1.0]]), DiagonalGaussian())
    with pytest.raises(InputError, match="not positive definite"):
        GaussianEmissions(np.zeros((1, 2)), np.ones((1, 2, 2)), FullGaussian())


def test_zeros_are_impossible_and_nothing_worse():
    x = NumberRows(np.array([[0.0, 2.0], [1.0, 0.0]]))
    poisson = PoissonEmissions(np.array([[0.0, 2.0]])).log_density(x)
    assert poisson[0, 0] == pytest.approx(stats.poisson(2).logpmf(2))
    assert poisson[1, 0] == -np.inf
    bernoulli = BernoulliEmissions(np.array([[0.0, 1.0]])).log_density(
        NumberRows(np.array([[0.0, 1.0], [1.0, 1.0]]))
    )
    np.testing.assert_array_equal(bernoulli[:, 0], [0.0, -np.inf])
    multinomial = MultinomialEmissions(np.array([[0.0, 1.0]])).log_density(x)
    np.testing.assert_array_equal(multinomial[:, 0], [0.0, -np.inf])


def test_narrow_states_far_from_zero_keep_their_digits(rng):
    """Statistics are taken around the mean of the state."""
    X = 1e6 + 1e-3 * rng.normal(size=(500, 2))
    family = FullGaussian(prior_scale=0.0)
    emissions = GaussianEmissions(X[:1], np.array([1e-6 * np.eye(2)]), family)
    data = ObservedSequences(NumberRows(X), np.array([0, 500]))
    after = emissions.improved(emissions.expected(data, Markov(np.zeros(1), np.zeros((1, 1)))).statistics)
    exact = np.cov((X - 1e6).T, bias=True)
    np.testing.assert_allclose(after.covariances[0], exact, rtol=1e-5)


def test_variances_without_an_inverse_are_refused() -> None:
    with pytest.raises(InputError, match="State 1 has no variance left in column 0"):
        GaussianEmissions(np.zeros((2, 1)), np.array([[1.0], [1e-309]]), DiagonalGaussian())
