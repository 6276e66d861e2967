"""Bounds of what pairs of labels can gain: against all labellings written out, and refits of SciPy."""

import itertools

import numpy as np
import pytest

from kernelfields import CRF, KernelCRF
from kernelfields.models.gain_bounds import extension, gain_bound, gain_bounds
from kernelfields.models.graph_cliques import LabelPair, LabelPairs
from kernelfields.models.linear_problem import linear_problem
from kernelfields.models.pair_gains import LabelPairGains
from kernelfields.structures import MultiLabel

from .test_multi_label import rows, written_out

GRAPHS = {"none": [], "one": [(0, 1)], "path": [(0, 1), (1, 2)], "cycle": [(0, 1), (1, 2), (0, 2)]}


def gains_of(model, X, y, *, weights=None):
    training = model._training(X, y, None, weights)
    return LabelPairGains(
        training.chain,
        model._model().scores(training.inputs, training.chain).scores,
        training.encoded.labels,
        model.structure_.pairs,
        gap=model.certificate_.gap,
        penalty=model.penalty if model.edge_penalty is None else model.edge_penalty,
        problem=linear_problem(model, training, None, fast=False),
        weights=training.weights,
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


def test_tables_and_margins_are_those_of_all_labellings(rng):
    X, y = rows(rng, K=4)
    model = CRF(0.5, structure=MultiLabel(GRAPHS["path"]), tol=1e-9).fit(X, y)
    gains = gains_of(model, X, y)
    every, p = distributions(model, X, 4)
    for k, m in itertools.combinations(range(4), 2):
        table = np.einsum("ni,ia,ib->nab", p, *(np.stack([1 - z, z], axis=1) for z in every.T[[k, m]]))
        np.testing.assert_allclose(gains._table(k, m), table, atol=1e-10)


def test_new_odds_leave_margins_alone(rng):
    table = rng.dirichlet(np.full(4, 0.3), size=200).reshape(-1, 2, 2)
    from kernelfields.models.pair_gains import SIGNS, _shifted

    for h in (-30.0, -2.0, -1e-6, 0.0, 1e-6, 2.0, 30.0):
        after = table + _shifted(table, h)[:, None, None] * SIGNS
        assert after.min() > -1e-15
        if abs(h) <= 2:
            odds = np.log(after[:, 0, 0] * after[:, 1, 1] / (after[:, 0, 1] * after[:, 1, 0]))
            before = np.log(table[:, 0, 0] * table[:, 1, 1] / (table[:, 0, 1] * table[:, 1, 0]))
            good = after.min(axis=(1, 2)) > 1e-6
            np.testing.assert_allclose((odds - before)[good], h, atol=1e-6)


@pytest.mark.parametrize("pair", [(0, 2), (0, 3)])
def test_the_theorem_for_any_distributions(pair, rng):
    """R(f) less the dual value of any q is the divergence, the mismatch of the pair, and ‖δ‖²/2."""
    X, y = rows(rng, K=4)
    lam, present = 0.7, GRAPHS["path"]
    model = CRF(lam, structure=MultiLabel(present), tol=1e-12).fit(X, y)
    every, p = distributions(model, X, 4)
    q = 0.5 * p + 0.5 * rng.dirichlet(np.ones(16), size=len(X))
    extended = [*present, pair]
    dual = -(q * np.log(q)).sum() - (parts(every, X, y, q, extended) ** 2).sum() / (2 * lam)
    delta = parts(every, X, y, q, present) - parts(every, X, y, p, present)
    mismatch = parts(every, X, y, q, [pair])[-4:]
    claimed = (q * np.log(q / p)).sum() + (mismatch**2).sum() / (2 * lam) + (delta**2).sum() / (2 * lam)
    assert model.certificate_.value - dual == pytest.approx(claimed, rel=1e-4)


@pytest.mark.parametrize("pair", [(0, 2), (0, 3)])
def test_the_side_effect_is_that_of_all_labellings(pair, rng):
    X, y = rows(rng, K=4)
    lam, present = 0.7, GRAPHS["path"]
    model = CRF(lam, structure=MultiLabel(present), tol=1e-10).fit(X, y)
    gains = gains_of(model, X, y)
    table = gains._table(*pair)
    coupled = gains._coupled(*pair, table)
    every, p = distributions(model, X, 4)
    q = p * (coupled.tables / table)[:, every[:, pair[0]], every[:, pair[1]]]
    np.testing.assert_allclose(q.sum(axis=1), 1.0, atol=1e-9)
    assert coupled.divergence == pytest.approx((q * np.log(q / p)).sum(), rel=1e-6)
    delta = parts(every, X, y, q, present) - parts(every, X, y, p, present)
    extended = gains._extended(*pair)
    found = gains._side_effect(extended, *pair, coupled.tables, table)
    assert found == pytest.approx(np.sqrt((delta**2).sum() / lam), rel=1e-5, abs=1e-6)
    assert (found < 1e-6) == (pair == (0, 3))  # nothing joins label 3 yet


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
    model = KernelCRF("rbf", penalty=0.5, structure=MultiLabel([(0, 1), (1, 2)]), tol=1e-8, dtype="float64")
    model.fit(X, y)
    candidates = LabelPairs().members(model.structure_)
    for candidate, bound in zip(candidates, gain_bounds(model, candidates, X, y), strict=True):
        refitted = extension(model, candidate).fit(X, y)
        gain = model.certificate_.value - refitted.certificate_.value
        assert gain <= bound + model.certificate_.gap + 1e-9
