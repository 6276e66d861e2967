"""Matchings against what does not share their code: SciPy's assignment, linear programs, enumerated sums."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.special import logsumexp

from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import Bethe, BetheMatchingBatch, LinkBatch, MatchingBatch
from kernelfields.testing import check_gradient
from kernelfields.testing.brute import Enumerated
from tests._listed_pairs import ListedBethe, tables

SHAPES = [(20, 20), (7, 31), (31, 7), (1, 9), (9, 1), (64, 65)]


def best_by_scipy(scores, complete):
    """The value of the best matching; leaving a row alone is a column of its own that gains nothing."""
    if not complete:
        scores = np.concatenate([scores, np.zeros((len(scores), len(scores)))], axis=1)
    return scores[linear_sum_assignment(scores, maximize=True)].sum()


@pytest.mark.parametrize("complete", [True, False])
@pytest.mark.parametrize("kind", ["normal", "whole", "negative", "huge"])
def test_the_best_matching_is_that_of_scipy(complete, kind, rng):
    shapes = SHAPES * 3
    draw = {
        "normal": lambda shape: rng.normal(size=shape),
        "whole": lambda shape: rng.integers(-3, 4, shape).astype(float),  # ties everywhere
        "negative": lambda shape: rng.normal(size=shape) - 3.0,
        "huge": lambda shape: 1e8 * rng.normal(size=shape),
    }[kind]
    tables = [draw(shape) for shape in shapes]
    found = MatchingBatch(shapes, complete).argmax({"pair": np.concatenate([t.ravel() for t in tables])})
    wanted = [best_by_scipy(table, complete) for table in tables]
    np.testing.assert_allclose(found.value, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("complete", [True, False])
def test_rows_that_want_the_same_columns(complete, rng):
    """Bids raise prices by so little that they are broken off; sizes change from item to item."""
    shapes = [(int(m), int(n)) for m, n in rng.integers(1, 40, (60, 2))]
    tables = [rng.normal(size=n) + 1e-3 * rng.normal(size=(m, n)) for m, n in shapes]
    found = MatchingBatch(shapes, complete).argmax({"pair": np.concatenate([t.ravel() for t in tables])})
    wanted = [best_by_scipy(table, complete) for table in tables]
    np.testing.assert_allclose(found.value, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("complete", [True, False])
def test_forbidden_pairs_are_in_no_matching(complete, rng):
    """Few pairs are left, a permutation among them."""
    for n in (5, 17, 40):
        scores = np.where(rng.random((n, n)) < 2.0 / n, rng.normal(size=(n, n)), -np.inf)
        scores[np.arange(n), rng.permutation(n)] = -1.0
        found = MatchingBatch([[n, n]], complete).argmax({"pair": scores.ravel()})
        assert np.isfinite(found.value).all()
        if complete:
            row, column = linear_sum_assignment(np.where(np.isinf(scores), -1e6, scores), maximize=True)
            wanted = scores[row, column].sum()
        else:
            wanted = best_by_scipy(np.where(np.isinf(scores), -1e6, scores), False)
        assert found.value[0] == pytest.approx(wanted, abs=1e-9)


def test_what_cannot_be_is_refused():
    batch = MatchingBatch([[1, 1], [2, 2]], complete=True)
    scores = np.zeros(5)
    scores[[1, 3]] = -np.inf  # nothing is left for the first column
    with pytest.raises(InfeasibleError, match="Item 1 has no allowed matching"):
        batch.argmax({"pair": scores})
    with pytest.raises(InfeasibleError):
        batch.kbest({"pair": scores}, 2)
    with pytest.raises(InfeasibleError):
        BetheMatchingBatch([[1, 1], [2, 2]], complete=True).log_partition({"pair": scores})
    assert MatchingBatch([[1, 1], [2, 2]]).argmax({"pair": scores}).value.tolist() == [0.0, 0.0]
    for bad in (np.nan, np.inf):
        with pytest.raises(ScoreError, match="Item 0 has scores that are NaN or"):
            MatchingBatch([[1, 1]]).argmax({"pair": np.array([bad])})
        with pytest.raises(ScoreError):
            LinkBatch([[1, 1]]).argmax({"pair": np.array([bad]), "fertility": np.zeros((2, 3))})
    for shapes in ([[1, -1]], [[1.0, 2.0]], [1, 2], [[1, 2, 3]], [[2**20, 2]]):
        with pytest.raises(InputError, match="shapes must have a row"):
            MatchingBatch(shapes)


@pytest.mark.parametrize("complete", [True, False])
def test_all_best_matchings_in_their_order(complete, rng):
    """More are asked for than there are."""
    batch = MatchingBatch([[3, 4], [0, 1], [3, 2]], complete)
    scores = {"pair": rng.normal(size=batch.shapes["pair"])}
    outputs, value = batch.kbest(scores, 100)
    for s, (m, n) in enumerate(batch.item_shapes.tolist()):
        every = tables(m, n, 1, complete)
        mine = scores["pair"][batch.offsets[s] : batch.offsets[s + 1]]
        np.testing.assert_allclose(value[s][: len(every)], np.sort(every @ mine)[::-1], atol=1e-12)
        assert np.isneginf(value[s][len(every) :]).all()
        own = outputs[:, batch.offsets[s] : batch.offsets[s + 1]]
        assert {tuple(y) for y in own[: len(every)].tolist()} == {tuple(y) for y in every.tolist()}
        assert (own[len(every) :] == -1).all()


def test_threads_change_nothing(rng):
    """A batch large enough for several threads, and its items one by one."""
    shapes = rng.integers(0, 12, (3000, 2))
    batch = MatchingBatch(shapes)
    scores = {"pair": rng.normal(size=batch.shapes["pair"])}
    whole = batch.argmax(scores)
    for s in range(0, 3000, 300):
        one = batch.take([s]).argmax(batch.cut(scores, [s]))
        assert one.value[0] == whole.value[s]
        np.testing.assert_array_equal(one.labels, batch.cut_outputs(whole.labels, [s]))


def permanent_bounds(shapes, complete, rng, scale=1.0):
    batch = ListedBethe(shapes, complete)
    scores = {"pair": scale * rng.normal(size=batch.shapes["pair"])}
    found = batch.marginals(scores)
    return found, Enumerated(batch, scores)


@pytest.mark.parametrize("scale", [0.1, 1.0, 5.0, 100.0])
@pytest.mark.parametrize("complete", [True, False])
def test_bethe_is_below_the_sum_and_close(complete, scale, rng):
    """perm_B ≤ perm ≤ 2^(n/2) perm_B, the latter where it is proved."""
    for _ in range(20):
        found, exact = permanent_bounds([[3, 3], [2, 4], [4, 2], [1, 3]], complete, rng, scale)
        log_sum = exact.log_partition()
        state = found.convergence
        assert state.converged.all()
        assert (found.log_partition <= log_sum + 1e-8 * np.maximum(1, np.abs(log_sum))).all()
        assert (state.lower <= log_sum + 1e-6).all()
        assert (log_sum <= state.upper + 1e-6).all()
        assert np.isfinite(state.upper).tolist() == [complete, False, False, False]


@pytest.mark.parametrize("complete", [True, False])
def test_bethe_is_exact_without_cycles(complete, rng):
    """With one row, and where forbidden pairs leave a forest."""
    batch = ListedBethe([[1, 5], [3, 3]], complete)
    scores = {"pair": rng.normal(size=14)}
    scores["pair"][5:] = np.where(
        np.tri(3, 3, 1, bool) & ~np.tri(3, 3, -1, bool), scores["pair"][5:].reshape(3, 3), -np.inf
    ).ravel()
    exact, found = Enumerated(batch, scores).marginals(), batch.marginals(scores)
    np.testing.assert_allclose(found.log_partition, exact.log_partition, atol=1e-9)
    np.testing.assert_allclose(found.parts["pair"], exact.parts["pair"], atol=1e-8)
    np.testing.assert_allclose(batch.entropy(scores), Enumerated(batch, scores).entropy(), atol=1e-7)


@pytest.mark.parametrize("complete", [True, False])
def test_beliefs_are_the_gradient_and_the_sum_is_convex(complete, rng):
    batch = BetheMatchingBatch([[4, 4], [3, 6], [5, 2]], complete, Bethe(tol=1e-13, max_iter=100_000))
    scores = {"pair": rng.normal(size=batch.shapes["pair"])}
    weights = np.array([0.5, 2.0, 1.0])
    check_gradient(
        lambda theta: weights @ batch.log_partition(theta),
        lambda theta: batch.marginals(theta, weights).parts,
        scores,
        {"pair": rng.normal(size=batch.shapes["pair"])},
    )
    for _ in range(20):
        a, b = (rng.normal(size=batch.shapes["pair"]) * 3 for _ in range(2))
        middle = batch.log_partition({"pair": (a + b) / 2})
        assert (
            middle <= (batch.log_partition({"pair": a}) + batch.log_partition({"pair": b})) / 2 + 1e-9
        ).all()


def test_beliefs_of_known_matrices():
    """All ones: beliefs 1/n, and log perm_B = n log n + n(n − 1) log(1 − 1/n), Bethe's energy there."""
    for n in (2, 3, 10):
        found = BetheMatchingBatch([[n, n]], complete=True).marginals({"pair": np.zeros(n * n)})
        np.testing.assert_allclose(found.parts["pair"], 1.0 / n, atol=1e-12)
        wanted = n * np.log(n) + n * (n - 1) * np.log1p(-1.0 / n)
        assert found.log_partition[0] == pytest.approx(wanted, rel=1e-10)


def test_an_iteration_that_was_stopped_says_so(rng):
    batch = BetheMatchingBatch([[6, 6]], True, Bethe(max_iter=2))
    found = batch.marginals({"pair": 3 * rng.normal(size=36)})
    assert not found.convergence.converged.any()
    assert np.isneginf(found.convergence.lower).all()
    assert np.isposinf(found.convergence.upper).all()
    assert np.isposinf(found.convergence.slack).all()


def links_by_linear_program(pair, fertility):
    """Links, and for every row and column how many units of each rank it uses."""
    m, n = pair.shape
    F = fertility.shape[1] - 1
    gains = np.diff(fertility, axis=1)
    cost = -np.concatenate([pair.ravel(), gains.ravel()])
    equal = np.zeros((m + n, len(cost)))
    for i in range(m):
        equal[i, i * n : (i + 1) * n] = 1
    for j in range(n):
        equal[m + j, j : m * n : n] = 1
    for v in range(m + n):
        equal[v, m * n + v * F : m * n + (v + 1) * F] = -1
    solved = linprog(cost, A_eq=equal, b_eq=np.zeros(m + n), bounds=(0, 1), method="highs")
    return fertility[:, 0].sum() - solved.fun


@pytest.mark.parametrize("prices", [[0.5], [0.2, 1.0], [0.0, 0.0, 0.0]])
def test_links_are_those_of_a_linear_program(prices, rng):
    shapes = [(8, 9), (12, 5), (1, 6), (6, 1), (15, 15)]
    batch = LinkBatch(shapes, prices)
    pairs = [rng.normal(size=shape) for shape in shapes]
    scores = {"pair": np.concatenate([p.ravel() for p in pairs]), **batch.known_scores()}
    found = batch.argmax(scores)
    ends = np.cumsum([0, *(m + n for m, n in shapes)])
    wanted = [
        links_by_linear_program(p, scores["fertility"][a:b])
        for p, a, b in zip(pairs, ends, ends[1:], strict=False)
    ]
    np.testing.assert_allclose(found.value, wanted, atol=1e-9)
    np.testing.assert_allclose(batch.score(scores, found.labels), found.value, atol=1e-9)
    assert batch.degrees(found.labels).max() <= len(prices) + 1


def test_links_without_a_second_are_matchings(rng):
    shapes = rng.integers(1, 9, (200, 2))
    pair = rng.normal(size=int(shapes.prod(axis=1).sum()))
    dear = LinkBatch(shapes, [1e9])
    matched = MatchingBatch(shapes).argmax({"pair": pair})
    found = dear.argmax({"pair": pair, **dear.known_scores()})
    np.testing.assert_allclose(found.value, matched.value, atol=1e-12)
    np.testing.assert_array_equal(found.labels, matched.labels)


def test_fertilities_that_are_not_concave_are_refused():
    batch = LinkBatch([[1, 1]])
    for table in ([0.0, 1.0, 3.0], [-np.inf, 0.0, 0.0]):
        with pytest.raises(ScoreError, match="concave in the number of pairs"):
            batch.argmax({"pair": np.zeros(1), "fertility": np.array([table, [0.0, 0.0, 0.0]])})
    for prices in ([2.0, 1.0], [-1.0], "ab", 3.0, [np.nan]):
        with pytest.raises(InputError, match="prices"):
            LinkBatch([[1, 1]], prices)


def test_sums_of_logarithms_are_what_they_are_compared_with(rng):
    """Two ways to the sum over all matchings of a 2 × 2 table."""
    a, b, c, d = rng.normal(size=4)
    wanted = logsumexp([0, a, b, c, d, a + d, b + c])
    batch = ListedBethe([[2, 2]])
    assert Enumerated(batch, {"pair": np.array([a, b, c, d])}).log_partition()[0] == pytest.approx(wanted)
