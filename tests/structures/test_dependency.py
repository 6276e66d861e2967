"""Dependency trees against what does not share their code: formulas, determinants, fractions, programs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, milp

from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import DependencyBatch
from tests._listed_trees import trees

KINDS = [(projective, single) for projective in (True, False) for single in (True, False)]
EVERY = pytest.mark.parametrize(("projective", "single"), KINDS)


def arcs(n, rng, scale=1.0):
    return {"arc": scale * rng.normal(size=n * (n + 1))}


def matrix(n, scores):
    """Scores by head and word."""
    table = np.full((n + 1, n + 1), -np.inf)
    table[:, 1:] = scores["arc"].reshape(n, n + 1).T
    np.fill_diagonal(table, -np.inf)
    return table


def laplacian(n, scores, single):
    """The matrix whose determinant is Z; Koo's first row for a single root."""
    weight = np.exp(matrix(n, scores))
    result = -weight[1:, 1:]
    np.fill_diagonal(result, weight[1:, 1:].sum(axis=0))
    if single:
        result[0] = weight[0, 1:]
    else:
        result[np.diag_indices(n)] += weight[0, 1:]
    return result


@pytest.mark.parametrize("n", [1, 2, 5, 9, 30, 60])
def test_there_are_as_many_trees_as_formulas_say(n):
    zeros = {"arc": np.zeros(n * (n + 1))}
    log_count = {kind: DependencyBatch([n], None, *kind).log_partition(zeros)[0] for kind in KINDS}
    assert log_count[False, False] == pytest.approx((n - 1) * math.log(n + 1), rel=1e-12)
    assert log_count[False, True] == pytest.approx((n - 1) * math.log(n), rel=1e-12)
    assert log_count[True, False] == pytest.approx(math.log(math.comb(3 * n, n) / (2 * n + 1)), rel=1e-12)
    single = math.comb(3 * n - 2, n - 1) / n  # sequence A006013
    assert log_count[True, True] == pytest.approx(math.log(single), rel=1e-12)


@pytest.mark.parametrize("single", [True, False])
def test_sums_over_all_trees_are_determinants(single, rng):
    n = 25
    scores = arcs(n, rng)
    found = DependencyBatch([n], projective=False, single_root=single).marginals(scores)
    table = laplacian(n, scores, single)
    assert found.log_partition[0] == pytest.approx(np.linalg.slogdet(table)[1], rel=1e-12)
    inverse, weight = np.linalg.inv(table), np.exp(matrix(n, scores))
    diagonal, row = np.diag(inverse).copy(), inverse.copy()
    if single:
        diagonal[0], row[:, 0] = 0.0, 0.0
    expected = weight[1:, 1:] * (diagonal[None] - row.T)
    root = weight[0, 1:] * (inverse[:, 0] if single else np.diag(inverse))
    marginals = found.parts["arc"].reshape(n, n + 1)
    np.testing.assert_allclose(marginals[:, 1:].T, expected, atol=1e-12)
    np.testing.assert_allclose(marginals[:, 0], root, atol=1e-12)


def determinant(rows):
    """Determinant of a matrix of fractions."""
    rows, result = [list(row) for row in rows], Fraction(1)
    for k in range(len(rows)):
        pivot = next(r for r in range(k, len(rows)) if rows[r][k])
        if pivot != k:
            rows[k], rows[pivot], result = rows[pivot], rows[k], -result
        result *= rows[k][k]
        for r in range(k + 1, len(rows)):
            factor = rows[r][k] / rows[k][k]
            rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return result


@pytest.mark.parametrize("spread", [10, 200, 3000])
@pytest.mark.parametrize("single", [True, False])
def test_no_scores_are_too_far_apart(single, spread, rng):
    """Weights are powers of two, and their determinant is a fraction."""
    n = 7
    powers = rng.integers(-spread, spread, (n, n + 1))
    weight = [[Fraction(2) ** int(p) for p in row] for row in powers]
    table = [
        [
            sum(weight[m][h] for h in range(1, n + 1) if h != m + 1) if m == k else -weight[m][k + 1]
            for m in range(n)
        ]
        for k in range(n)
    ]
    if single:
        table[0] = [weight[m][0] for m in range(n)]
    else:
        for m in range(n):
            table[m][m] += weight[m][0]
    exact = abs(determinant(table))
    wanted = math.log(exact.numerator) - math.log(exact.denominator)
    batch = DependencyBatch([n], projective=False, single_root=single)
    scores = {"arc": powers.ravel() * math.log(2.0)}
    assert batch.log_partition(scores)[0] == pytest.approx(wanted, rel=1e-11, abs=1e-11)
    likely = batch.marginals(scores).parts["arc"].reshape(n, n + 1)
    np.testing.assert_allclose(likely.sum(axis=1), 1.0, atol=1e-10)


@EVERY
def test_marginals_of_long_sentences_with_any_scores(projective, single, rng):
    """Every word has one head, and the best tree is all there is where it is far ahead."""
    n = 40
    batch = DependencyBatch([n], None, projective, single)
    for scale in (1.0, 30.0, 3000.0):
        scores = arcs(n, rng, scale)
        value, parts = batch.marginals(scores)
        likely = parts["arc"].reshape(n, n + 1)
        np.testing.assert_allclose(likely.sum(axis=1), 1.0, atol=1e-9)
        if single:
            assert likely[:, 0].sum() == pytest.approx(1.0, abs=1e-9)
        best = batch.argmax(scores)
        assert value[0] >= best.value[0] * (1 - 1e-14)
        if scale == 3000.0:
            assert value[0] == pytest.approx(best.value[0], rel=1e-12)
            np.testing.assert_allclose(likely[np.arange(n), best.labels], 1.0, atol=1e-6)


def cycle_of(heads):
    """Words, counted from 1, that are among their own ancestors; none if the heads are a tree."""
    for m in range(1, len(heads)):
        seen = []
        while m and m not in seen:
            seen.append(m)
            m = heads[m]
        if m:
            return seen[seen.index(m) :]
    return []


def programmed_heads(table, single):
    """The best heads by integer programs: one head a word, and an arc into every cycle found before."""
    n = len(table)
    into = [np.outer(np.ones(n), np.arange(n) == m) for m in range(1, n)]
    rows, least, most = into, [1] * (n - 1), [1] * (n - 1)
    if single:
        rows, least, most = [*rows, np.outer(np.arange(n) == 0, np.ones(n))], [*least, 1], [*most, 1]
    while True:
        arcs = LinearConstraint(np.array([row.ravel() for row in rows]), least, most)
        allowed = np.isfinite(table).ravel()
        found = milp(
            -np.where(allowed, table.ravel(), 0), integrality=1, bounds=(0, allowed), constraints=arcs
        )
        heads = found.x.reshape(n, n).argmax(axis=0)
        if not (cycle := cycle_of(heads)):
            return heads[1:].tolist()
        inside = np.isin(np.arange(n), cycle)
        rows, least, most = [*rows, np.outer(~inside, inside)], [*least, 1], [*most, np.inf]


@pytest.mark.parametrize("single", [True, False])
def test_the_best_tree_is_that_of_integer_programs(single, rng):
    for n in (6, 15, 30):
        scores = arcs(n, rng)
        found = DependencyBatch([n], projective=False, single_root=single).argmax(scores)
        assert found.labels.tolist() == programmed_heads(matrix(n, scores), single)


@EVERY
def test_all_best_trees_in_their_order(projective, single, rng):
    """More are asked for than there are; relations too."""
    batch = DependencyBatch([3, 2], 2, projective, single)
    scores = {"arc": rng.normal(size=batch.shapes["arc"])}
    outputs, value = batch.kbest(scores, 200)
    for s, n in enumerate((3, 2)):
        count = len(trees(n, projective, single)) * 2**n
        assert np.isfinite(value[s]).sum() == count
        mine = outputs[:count, batch.output_offsets[s] : batch.output_offsets[s + 1]]
        assert len({tuple(y) for y in mine.tolist()}) == count
        assert (np.diff(value[s][:count]) <= 1e-12).all()
        assert (outputs[count:, batch.output_offsets[s] : batch.output_offsets[s + 1]] == -1).all()


@EVERY
def test_draws_of_long_sentences_have_the_marginals(projective, single, rng):
    n = 12
    batch = DependencyBatch([n], None, projective, single)
    scores = arcs(n, rng, 1.5)
    drawn = batch.sample(scores, 4000, 3)
    often = np.stack([(drawn == h).mean(axis=0) for h in range(n + 1)], axis=1)
    likely = batch.marginals(scores).parts["arc"].reshape(n, n + 1)
    error = np.sqrt(likely * (1 - likely) / 4000)
    assert (np.abs(often - likely) <= 6 * error + 1e-9).all()  # false alarm below 1e-6
    np.testing.assert_array_equal(drawn[:7], batch.sample(scores, 7, 3))
    assert (drawn != batch.sample(scores, 4000, 4)).any()


@EVERY
def test_threads_change_nothing(projective, single, rng):
    """A batch large enough for several threads, and its sentences one by one."""
    lengths = rng.integers(0, 18, 70)
    batch = DependencyBatch(lengths, None, projective, single)
    scores = {"arc": rng.normal(size=batch.offsets[-1])}
    whole = batch.marginals(scores)
    for s in (0, 33, 69):
        one, cut = batch.take([s]), batch.cut(scores, [s])
        np.testing.assert_array_equal(one.marginals(cut).parts["arc"], batch.cut(whole.parts, [s])["arc"])


@EVERY
def test_what_cannot_be_is_refused(projective, single):
    batch = DependencyBatch([1, 2], None, projective, single)
    scores = np.zeros(8)
    scores[5:8] = -np.inf  # no head for the second word of the second sentence
    for oracle in (batch.argmax, batch.log_partition, batch.marginals, batch.entropy):
        with pytest.raises(InfeasibleError, match=r"Sentence 1 has no allowed tree\."):
            oracle({"arc": scores})
    with pytest.raises(InfeasibleError, match="Sentence 1"):
        batch.kbest({"arc": scores}, 2)
    with pytest.raises(InfeasibleError, match="Sentence 1"):
        batch.sample({"arc": scores}, 2, 0)
    scores[5:8] = [0.0, np.nan, 0.0]
    with pytest.raises(ScoreError, match="Sentence 1 has scores that are NaN"):
        batch.log_partition({"arc": scores})
    with pytest.raises(InputError, match="arc scores have shape"):
        batch.log_partition({"arc": scores[:-1]})


@pytest.mark.parametrize("projective", [True, False])
def test_two_words_that_must_both_be_roots(projective):
    scores = np.zeros(6)
    scores[[2, 4]] = -np.inf  # neither is the head of the other
    many = DependencyBatch([2], projective=projective, single_root=False)
    assert many.argmax({"arc": scores}).labels.tolist() == [0, 0]
    assert many.log_partition({"arc": scores})[0] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InfeasibleError):
        DependencyBatch([2], projective=projective).log_partition({"arc": scores})
    with pytest.raises(InfeasibleError):
        DependencyBatch([2], projective=projective).argmax({"arc": scores})


@pytest.mark.parametrize("words", [[-1], [[1]], 3, [1.5], ["a"], [40000]])
def test_odd_lengths_are_refused(words):
    with pytest.raises(InputError):
        DependencyBatch(words)


def test_arcs_from_a_word_to_itself_are_never_looked_at(rng):
    scores = arcs(3, rng)
    odd = scores["arc"].copy()
    odd[[1, 6, 11]] = [np.nan, np.inf, -np.inf]
    for projective in (True, False):
        batch = DependencyBatch([3], projective=projective)
        wanted, found = batch.marginals(scores), batch.marginals({"arc": odd})
        np.testing.assert_array_equal(found.parts["arc"], wanted.parts["arc"])
        np.testing.assert_array_equal(found.log_partition, wanted.log_partition)
