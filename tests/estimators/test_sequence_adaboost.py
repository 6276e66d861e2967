"""SequenceAdaBoost against sums over all labellings: loss, slopes, bounds, steps, and what is chosen."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize_scalar

from kernelfields import SequenceAdaBoost
from kernelfields.boosting import sequences
from kernelfields.boosting.exponential import ExponentialLoss
from kernelfields.boosting.sequence_features import LabelPairFeatures, PositionFeatures
from kernelfields.boosting.sequences import DONE, NO_GAIN, SEPARATED, SequenceBoosting
from kernelfields.boosting.step_bounds import Chords, best_steps
from kernelfields.constraints import Constraints
from kernelfields.structures import ChainBatch
from kernelfields.testing import check_estimator

L, LONGEST = 3, 0.8
LENGTHS = [4, 1, 3, 2]


def parts_of(x, labels):
    """All features of a labelled sequence, as one vector: pairs first, then columns by label."""
    pairs, columns = np.zeros((L, L)), np.zeros((x.shape[1] + 3, L))
    for a, b in pairwise(labels):
        pairs[a, b] += 1
    for t, label in enumerate(labels):
        ends = [1.0, float(t == 0), float(t == len(labels) - 1)]
        columns[:, label] += [*x[t], *ends]
    return np.concatenate([pairs.ravel(), columns.ravel()])


@pytest.fixture(params=["real", "binary"])
def task(request):
    """A few sequences, and d(y) = f(y) − f(y_i) of all their wrong labellings."""
    rng = np.random.default_rng(4)
    X = [rng.normal(size=(T, 2)) for T in LENGTHS]
    if request.param == "binary":
        X = [(x > 0.3).astype(float) for x in X]
    y = [rng.integers(L, size=T).tolist() for T in LENGTHS]
    y[0][:3] = [0, 1, 2]  # all labels, also in the estimator's order
    differences = [
        np.array([parts_of(x, other) for other in product(range(L), repeat=len(x)) if list(other) != right])
        - parts_of(x, right)
        for x, right in zip(X, y, strict=True)
    ]
    return X, y, differences


def weights_of(model):
    columns = np.vstack([model.coef_.T, model.intercept_, model.start_, model.end_])
    return np.concatenate([model.transitions_.ravel(), columns.ravel()])


def losses_of(differences, weights):
    return np.array([np.exp(d @ weights).sum() for d in differences])


def boosting_of(X, y, weights=None):
    chain = ChainBatch(np.concatenate([[0], np.cumsum(LENGTHS)]), L, shared_edges=False)
    ends = np.zeros((chain.n_vertices, 3))
    ends[:, 0] = ends[chain.first_positions, 1] = ends[chain.last_positions, 2] = 1.0
    columns, labels = sparse.csc_matrix(np.hstack([np.concatenate(X), ends])), np.concatenate(y)
    parts = [LabelPairFeatures(chain, labels), PositionFeatures(chain, columns, labels)]
    return SequenceBoosting(ExponentialLoss(chain, labels, weights), parts, LONGEST)


def put(boosting, weights):
    """Give all features some weights."""
    for k, w in enumerate(weights):
        part = int(k >= L * L)
        boosting.parts[part].add(k - part * L * L, w, boosting.scores)
    boosting.wrong = boosting.loss.at(boosting.scores)


@pytest.mark.parametrize("counts", [None, np.array([2.0, 0.5, 0.0, 1.0])])
def test_loss_distribution_and_slopes_are_sums_over_labellings(task, counts):
    X, y, differences = task
    boosting, weights = boosting_of(X, y, counts), 0.7 * np.random.default_rng(1).normal(size=24)
    put(boosting, weights)
    w = np.ones(len(X)) if counts is None else counts
    each = w * losses_of(differences, weights)
    assert boosting.wrong.log_loss == pytest.approx(np.log(each.sum()), rel=1e-12)
    np.testing.assert_allclose(boosting.wrong.shares, each / each.sum(), rtol=1e-10)
    slopes = np.concatenate([part.slopes(boosting.wrong) for part in boosting.parts])
    expected = sum(c * np.exp(d @ weights) @ d for c, d in zip(w, differences, strict=True)) / each.sum()
    np.testing.assert_allclose(slopes, expected, atol=1e-10)


def bound_of(differences, shares, weights, k, delta):
    """The chord of every exponential between the extreme changes of a feature, its mean by enumeration."""
    total = 0.0
    for share, d in zip(shares, differences, strict=True):
        chances, change = np.exp(d @ weights) / np.exp(d @ weights).sum(), d[:, k]
        low, high = min(change.min(), 0.0), max(change.max(), 0.0)  # the right labelling changes nothing
        r = (chances @ change - low) / (high - low) if high > low else 0.0
        total += share * ((1 - r) * np.exp(delta * low) + r * np.exp(delta * high))
    return total


def test_bounds_hold_and_steps_minimise_them(task, monkeypatch):
    X, y, differences = task
    boosting, weights = boosting_of(X, y), 0.5 * np.random.default_rng(2).normal(size=24)
    put(boosting, weights)
    before, shares = losses_of(differences, weights).sum(), boosting.wrong.shares
    best = []
    for part, first in ((0, 0), (1, L * L)):
        count = boosting.parts[part].weights.size
        chords = boosting.parts[part].chords(boosting.wrong, np.arange(count))
        steps, bounds = best_steps(chords, count, LONGEST)
        for k in range(count):
            moved = weights.copy()
            moved[first + k] += steps[k]
            assert losses_of(differences, moved).sum() / before <= bounds[k] + 1e-12
            value = lambda delta, k=first + k: bound_of(differences, shares, weights, k, delta)  # noqa: E731
            assert bounds[k] == pytest.approx(value(steps[k]), abs=1e-10)
            found = minimize_scalar(value, bounds=(-LONGEST, LONGEST), options={"xatol": 1e-9})
            assert bounds[k] <= found.fun + 1e-9
            best.append(bounds[k])
    for first, more in ((16, 256), (1, 2)):  # all at once, or a few at a time
        monkeypatch.setattr(sequences, "FIRST", first)
        monkeypatch.setattr(sequences, "AT_ONCE", more)
        chosen = boosting.best()
        assert chosen.bound == pytest.approx(min(best), abs=1e-14)
        assert chosen.part * L * L + chosen.k == np.argmin(best)


@pytest.mark.parametrize("tried", [1, 3])
def test_the_steepest_features_may_be_all_that_are_tried(task, tried):
    X, y, _ = task
    boosting = boosting_of(X, y)
    put(boosting, 0.5 * np.random.default_rng(2).normal(size=24))
    boosting.tried, expected = tried, []
    for part in boosting.parts:
        steepest = np.argsort(-np.abs(part.slopes(boosting.wrong)))[:tried]
        expected += best_steps(part.chords(boosting.wrong, steepest), tried, LONGEST).bounds.tolist()
    assert boosting.best().bound == pytest.approx(min(expected), abs=1e-14)


def test_steps_without_a_limit_solve_for_a_slope_of_zero(task):
    X, y, _ = task
    boosting = boosting_of(X, y)
    chords = boosting.parts[0].chords(boosting.wrong, np.arange(L * L))
    free = best_steps(chords, L * L, 200.0)
    short = best_steps(chords, L * L, 50.0)
    inside = np.abs(short.steps) < 50
    assert inside.any()
    np.testing.assert_allclose(free.steps[inside], short.steps[inside], atol=1e-9)
    assert (np.abs(free.steps[~inside]) == 200).all()


def test_steps_minimise_bounds_of_chords_of_any_length(rng):
    for _ in range(200):
        size = int(rng.integers(1, 6))
        lower, upper = -np.exp(2 * rng.normal(size=size)), np.exp(2 * rng.normal(size=size))
        shares = rng.dirichlet(np.ones(size))
        r = rng.random(size) ** 6
        changes = shares * (r * upper + (1 - r) * lower)
        chords = Chords(np.zeros(size, dtype=np.int64), lower, upper, shares, changes)
        steps, bounds = best_steps(chords, 1, 9.0)
        grid = np.concatenate([np.linspace(-9, 9, 20001), steps + np.linspace(-1e-4, 1e-4, 201)])
        grid = np.clip(grid, -9, 9)
        with np.errstate(over="ignore"):
            low, high = (np.exp(np.outer(grid, ends)) for ends in (lower, upper))
            values = (shares * ((1 - r) * low + r * high)).sum(axis=1)
        assert bounds[0] <= np.nanmin(values) + 1e-9


def test_columns_that_end_and_begin_with_one_sequence(task):
    _, y, _ = task
    X = [np.zeros((T, 3)) for T in LENGTHS]
    X[2][:2], X[3][1] = 1.0, 2.0
    boosting = boosting_of(X, y)
    every = boosting.parts[1].chords(boosting.wrong, np.arange(9))
    assert every.features.tolist() == [k for k in range(9) for _ in range(2)]
    one = boosting.parts[1].chords(boosting.wrong, np.array([4]))
    for a, b in zip(every[1:], one[1:], strict=True):
        np.testing.assert_array_equal(a[8:10], b)
    assert (one.upper - one.lower).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("balanced", [False, True])
def test_every_round_lowers_the_loss_by_what_it_promised(task, balanced):
    X, y, differences = task
    scale = [1 / len(d) if balanced else 1.0 for d in differences]
    for rounds in (0, 1, 2, 7, 30):
        model = SequenceAdaBoost(rounds, max_step=LONGEST, balanced=balanced, tol=0).fit(X, y)
        loss = scale @ losses_of(differences, weights_of(model))
        assert model.log_losses_[-1] == pytest.approx(np.log(loss), abs=1e-9)
        assert (np.diff(model.log_losses_) <= np.log(model.bounds_) + 1e-12).all()
        assert (np.diff(model.log_losses_) < 0).all()
        assert model.n_iter_ == len(model.bounds_) == rounds
        assert np.count_nonzero(weights_of(model)) <= rounds
        assert model.stop_reason_ == DONE
    wrong = sum(a != b for a, b in zip(model.predict(X), y, strict=True))
    assert balanced or wrong <= loss


def test_sparse_input_is_dense_input(task):
    X, y, _ = task
    dense = SequenceAdaBoost(20).fit(X, y)
    thin = SequenceAdaBoost(20).fit([sparse.csr_matrix(x) for x in X], y)
    np.testing.assert_array_equal(weights_of(dense), weights_of(thin))
    weighed = SequenceAdaBoost(20).fit(X, y, sample_weight=[2.0, 1.0, 1.0, 0.0])
    twice = SequenceAdaBoost(20).fit([X[0], *X[:3]], [y[0], *y[:3]])
    np.testing.assert_allclose(weights_of(weighed), weights_of(twice), atol=1e-9)


def test_what_is_forbidden_has_no_part_in_the_loss(task):
    X, y, _ = task
    y = [[0, 1, 2, 2], [1], [0, 1, 1], [1, 1]]
    rule = Constraints(forbidden_pairs=[(2, 0), (1, 0)], forbidden_starts=[2])
    model = SequenceAdaBoost(9, constraints=rule).fit(X, y)
    loss = 0.0
    for x, right in zip(X, y, strict=True):
        for other in product(range(L), repeat=len(x)):
            pairs = set(pairwise(other))
            if list(other) != right and not pairs & {(2, 0), (1, 0)} and other[0] != 2:
                loss += np.exp((parts_of(x, other) - parts_of(x, right)) @ weights_of(model))
    assert model.log_losses_[-1] == pytest.approx(np.log(loss), abs=1e-9)


def test_rounds_end_where_nothing_is_left_to_do():
    X, y = [np.eye(2)[[0, 1]], np.eye(2)[[1]]], [["a", "b"], ["b"]]
    separated = SequenceAdaBoost(1000, max_step=5.0).fit(X, y)
    assert separated.stop_reason_ == SEPARATED
    assert separated.n_iter_ < 100
    assert separated.predict(X) == y
    even = [np.ones((1, 1))] * 2, [["a"], ["b"]]  # no weight can tell these apart
    assert SequenceAdaBoost(10).fit(*even).stop_reason_ == NO_GAIN
    only = Constraints(forbidden_starts=["b"])
    alone = SequenceAdaBoost(10, classes=["a", "b"], constraints=only).fit([np.ones((1, 1))], [["a"]])
    assert (alone.stop_reason_, alone.log_losses_) == (SEPARATED, [-np.inf])
    without = SequenceAdaBoost(50, fit_intercept=False, boundaries=False).fit(X, y)
    assert not np.any([without.intercept_, without.start_, without.end_])


def test_a_long_sequence_does_not_outgrow_the_arithmetic():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=3000)
    model = SequenceAdaBoost(40).fit([np.eye(3)[labels]], [labels.tolist()])
    assert model.log_losses_[0] == pytest.approx(3000 * np.log(3))
    assert model.score([np.eye(3)[labels]], [labels.tolist()]) == 1.0


@pytest.mark.parametrize("model", [SequenceAdaBoost(30), SequenceAdaBoost(10, balanced=True, n_candidates=3)])
def test_conformance(model, rng):
    check_estimator(model, rng)
