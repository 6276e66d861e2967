"""Bounds of what pairs of labels can gain: against all labellings written out, and refits of SciPy."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernelfields import CRF, KernelCRF, Run
from kernelfields.models.fit.steps import FitArguments
from kernelfields.models.gain_bounds import extension, gain_bound, gain_bounds
from kernelfields.models.graph_cliques import LabelPair, LabelPairs
from kernelfields.models.pair_gains import SIGNS, LabelPairGains, neighbours, separator, shifted
from kernelfields.structures import MultiLabel

from .test_multi_label import rows, written_out

GRAPHS = {"none": [], "one": [(0, 1)], "path": [(0, 1), (1, 2)], "cycle": [(0, 1), (1, 2), (0, 2)]}


def gains_of(model, X, y):
    training = model._training(FitArguments(X, y))
    scores = model._model().scores(training.inputs, training.batch).scores
    structure = training.structure
    return LabelPairGains(
        training.batch, "exact", scores, training.encoded.labels, structure.pairs, penalty=model.penalty
    )


def distributions(model, X, K):
    """All labellings of K labels, and how likely each is for every row, from the weights alone."""
    every = np.array(list(itertools.product((0, 1), repeat=K)))
    index = 2 * np.arange(K) + every  # of label k being v
    node = X @ model.coef_.T + model.intercept_
    scores = node[:, index].sum(axis=2)
    for k, m in model.structure_.pairs:
        scores += model.transitions_[index[:, k], index[:, m]]
    scores -= scores.max(axis=1, keepdims=True)
    p = np.exp(scores)
    return every, p / p.sum(axis=1, keepdims=True)


def parts(every, X, y, q, pairs):
    """Expected minus observed features of labels and pairs, over all rows."""
    K = y.shape[1]
    ones = np.stack([1 - every, every], axis=2).astype(float)
    seen = np.stack([1 - y, y], axis=2).astype(float)
    node = np.einsum("nm,mkv->nkv", q, ones) - seen
    tables = [
        np.einsum("nm,ma,mb->ab", q, ones[:, k], ones[:, m]) - np.einsum("na,nb->ab", seen[:, k], seen[:, m])
        for k, m in pairs
    ]
    flat = [np.einsum("nkv,nd->kvd", node, X).ravel(), node.sum(axis=0).ravel(), *map(np.ravel, tables)]
    assert len(flat[1]) == 2 * K
    return np.concatenate(flat)


@pytest.mark.parametrize("name", list(GRAPHS))
@pytest.mark.parametrize("penalty", [0.1, 3.0])
def test_no_refit_gains_more(name, penalty, rng):
    X, y = rows(rng, n=60, K=4)
    present = GRAPHS[name]
    model = CRF(penalty, structure=MultiLabel(present), tol=1e-9).fit(X, y)
    before = written_out(X, y, present, penalty)[1]
    violated_by_half = 0
    for pair in itertools.combinations(range(4), 2):
        if pair in present:
            continue
        gain = before - written_out(X, y, [*present, pair], penalty)[1]
        (bound,) = gain_bounds(model, [LabelPair(*pair)], X, y)
        plain = gain_bound(model, LabelPair(*pair), X, y)
        assert gain <= bound + model.certificate_.gap + 1e-6
        assert bound <= plain * (1 + 1e-9)
        violated_by_half += gain > bound / 2
    assert violated_by_half  # a bound half as large would be none


def test_pairs_that_join_parts_are_bounded_closely(rng):
    X, y = rows(rng, n=300, K=4)
    model = CRF(1.0, structure=MultiLabel([(0, 1)]), tol=1e-8).fit(X, y)
    for pair in [(0, 2), (1, 2), (2, 3)]:
        refitted = extension(model, LabelPair(*pair)).fit(X, y)
        gain = model.certificate_.value - refitted.certificate_.value
        (bound,) = gain_bounds(model, [LabelPair(*pair)], X, y)
        assert gain <= bound <= 1.3 * gain
        assert gain_bound(model, LabelPair(*pair), X, y) > 20 * gain


def test_joint_distributions_are_those_of_all_labellings(rng):
    X, y = rows(rng, K=4)
    model = CRF(0.5, structure=MultiLabel(GRAPHS["path"]), tol=1e-9).fit(X, y)
    gains = gains_of(model, X, y)
    every, p = distributions(model, X, 4)
    ones = np.stack([1 - every, every], axis=2)
    for k, m, z in itertools.permutations(range(4), 3):
        joint = np.einsum("ni,ia,ib,ic->nabc", p, ones[:, k], ones[:, m], ones[:, z])
        np.testing.assert_allclose(gains._joint([k, m, z]), joint, atol=1e-10)


def test_new_odds_leave_margins_alone(rng):
    tables = rng.dirichlet(np.full(4, 0.3), size=200).reshape(-1, 2, 2)
    for h in (-30.0, -2.0, -1e-6, 0.0, 1e-6, 2.0, 30.0):
        after = tables + shifted(tables, h)[:, None, None] * SIGNS
        assert after.min() > -1e-15
        good = after.min(axis=(1, 2)) > 1e-6
        assert good.any() or abs(h) > 2
        both = (np.log(after[good]), np.log(tables[good]))
        odds, before = (log[:, 0, 0] + log[:, 1, 1] - log[:, 0, 1] - log[:, 1, 0] for log in both)
        np.testing.assert_allclose(odds - before, h, atol=1e-6)


PENTAGON = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]


@pytest.mark.parametrize(
    ("present", "pair", "count"),
    [(GRAPHS["path"], (0, 2), 1), (GRAPHS["path"], (0, 3), 0), (PENTAGON, (0, 2), 2)],
)
def test_the_bound_is_what_a_dual_point_is_below_the_objective(present, pair, count, rng):
    """All in one: q keeps the margins of cliques, and R(f) less its dual value is the bound."""
    X, y = rows(rng, K=5)
    lam = 0.7
    model = CRF(lam, structure=MultiLabel(present), tol=1e-12).fit(X, y)
    every, p = distributions(model, X, 5)
    between = separator(neighbours(present, 5), *pair)
    assert len(between) == count
    given = every[:, between] @ (2 ** np.arange(len(between))[::-1]) if between else np.zeros(len(every), int)

    def tilted(h):
        q = np.empty_like(p)
        for z in np.unique(given):
            rows_z = np.flatnonzero(given == z)
            mass = p[:, rows_z].sum(axis=1)
            tables = np.zeros((len(X), 2, 2))
            for j in rows_z:
                tables[:, every[j, pair[0]], every[j, pair[1]]] += p[:, j] / mass
            after = tables + shifted(tables, h)[:, None, None] * SIGNS
            ratio = after / tables
            q[:, rows_z] = p[:, rows_z] * ratio[:, every[rows_z, pair[0]], every[rows_z, pair[1]]]
        return q

    def below(h):
        q = tilted(h)
        dual = -(q * np.log(q)).sum() - (parts(every, X, y, q, [*present, pair]) ** 2).sum() / (2 * lam)
        return model.certificate_.value - dual

    q = tilted(1.3)
    np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(parts(every, X, y, q, present), parts(every, X, y, p, present), atol=1e-8)
    least = minimize_scalar(below, bounds=(-8, 8), method="bounded", options={"xatol": 1e-7}).fun
    assert gains_of(model, X, y).bound(*pair) == pytest.approx(least, rel=1e-4)


def test_few_labels_separate_two():
    joined = neighbours([(0, 1), (1, 2), (2, 3), (0, 4), (4, 3), (5, 6)], 7)
    assert separator(joined, 0, 3) in ([1, 4], [2, 4])
    assert separator(joined, 1, 4) == [0, 2] or separator(joined, 1, 4) == [0, 3]
    assert separator(joined, 0, 5) == []
    star = neighbours([(0, k) for k in range(1, 6)] + [(5, 6)], 7)
    assert separator(star, 0, 6) == [5]


def test_rows_that_count_twice(rng):
    X, y = rows(rng)
    weights = rng.integers(1, 4, len(X)).astype(float)
    model = CRF(0.7, structure=MultiLabel([(0, 1)]), tol=1e-9)
    weighted = model.fit(X, y, sample_weight=weights)
    found = gain_bounds(weighted, [LabelPair(0, 2), LabelPair(1, 2)], X, y, sample_weight=weights)
    times = weights.astype(int)
    longer = np.repeat(X, times, axis=0), np.repeat(y, times, axis=0)
    expected = gain_bounds(model.fit(*longer), [LabelPair(0, 2), LabelPair(1, 2)], *longer)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_kernels_have_bounds_too(rng):
    X, y = rows(rng, K=4)
    model = KernelCRF(
        "rbf", penalty=0.5, structure=MultiLabel([(0, 1), (1, 2)]), tol=1e-8, run=Run(dtype="float64")
    )
    model.fit(X, y)
    candidates = LabelPairs().members(model.structure_)
    for candidate, bound in zip(candidates, gain_bounds(model, candidates, X, y), strict=True):
        refitted = extension(model, candidate).fit(X, y)
        gain = model.certificate_.value - refitted.certificate_.value
        assert gain <= bound + model.certificate_.gap + 1e-9
