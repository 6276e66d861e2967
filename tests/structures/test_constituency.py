"""Constituency trees against what does not share their code: formulas, fractions, a chart in Python."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp

from kernelfields.errors import InfeasibleError, InputError, ScoreError
from kernelfields.structures import ConstituencyBatch
from tests._listed_parses import ListedParses, row_of

EITHER = pytest.mark.parametrize("empty", [False, True])


def spans(batch, rng, scale=1.0):
    return {"span": scale * rng.normal(size=batch.shapes["span"])}


@pytest.mark.parametrize("n", [1, 2, 3, 10, 40, 100, 600])
def test_there_are_as_many_trees_as_formulas_say(n):
    """Catalan numbers, and little Schröder numbers for trees with any number of children."""
    zeros = {"span": np.zeros((n * (n + 1) // 2, 1))}
    found = ConstituencyBatch([n], 1).log_partition(zeros)[0]
    assert found == pytest.approx(math.log(math.comb(2 * n - 2, n - 1) // n), rel=1e-11)
    schroeder = [1, 1]
    for m in range(3, n + 1):
        schroeder.append(((6 * m - 9) * schroeder[-1] - (m - 3) * schroeder[-2]) // m)
    both = np.zeros((n * (n + 1) // 2, 2))
    both[[row_of(n, k, k + 1) for k in range(n)], 1] = -np.inf  # single words are empty
    found = ConstituencyBatch([n], 2, empty=True).log_partition({"span": both})[0]
    assert found == pytest.approx(math.log(schroeder[n - 1]), rel=1e-11)


def chart_in_fractions(n, weight):
    """Z of spans with weights (i, j) → fraction."""
    table = {}
    for size in range(1, n + 1):
        for i in range(n + 1 - size):
            j = i + size
            below = sum(table[i, k] * table[k, j] for k in range(i + 1, j)) if size > 1 else 1
            table[i, j] = weight[i, j] * below
    return table[0, n]


@pytest.mark.parametrize("spread", [5, 60, 400, 3000])
def test_no_scores_are_too_far_apart(spread, rng):
    """Weights are powers of two, and their sum a fraction."""
    n = 12
    powers = {(i, j): int(rng.integers(-spread, spread)) for i in range(n) for j in range(i + 1, n + 1)}
    exact = chart_in_fractions(n, {span: Fraction(2) ** p for span, p in powers.items()})
    scores = {"span": np.array([[math.log(2.0) * p] for p in powers.values()])}
    batch = ConstituencyBatch([n], 1)
    wanted = math.log(exact.numerator) - math.log(exact.denominator)
    assert batch.log_partition(scores)[0] == pytest.approx(wanted, rel=1e-11, abs=1e-11)


@EITHER
@pytest.mark.parametrize("scale", [0.0, 1.0, 30.0, 1e6])
def test_marginals_of_long_sentences_with_any_scores(empty, scale, rng):
    """A tree of n words has 2n − 1 spans, all single words among them; the best is all where far ahead."""
    n = 50
    batch = ConstituencyBatch([n], 3, empty)
    scores = spans(batch, rng, scale)
    value, parts = batch.marginals(scores)
    likely = parts["span"].sum(axis=1)
    assert likely.sum() == pytest.approx(2 * n - 1, rel=1e-9)
    np.testing.assert_allclose(likely[[row_of(n, k, k + 1) for k in range(n)]], 1.0, atol=1e-9)
    assert likely[row_of(n, 0, n)] == pytest.approx(1.0, abs=1e-9)
    best = batch.argmax(scores)
    assert value[0] >= best.value[0] * (1 - 1e-14)
    if scale == 1e6:
        assert value[0] == pytest.approx(best.value[0], rel=1e-12)
        np.testing.assert_allclose(parts["span"].ravel()[best.labels], 1.0, atol=1e-6)
        assert batch.entropy(scores)[0] == pytest.approx(0.0, abs=1e-6)


@EITHER
def test_wider_numbers_and_doubles_agree(empty, rng):
    """One span that is out of reach sends a sentence to wider numbers, and changes next to nothing."""
    n = 9
    batch = ConstituencyBatch([n], 2, empty)
    scores = spans(batch, rng)
    scores["span"][row_of(n, 1, n), 1] = -np.inf
    far = {"span": scores["span"].copy()}
    far["span"][row_of(n, 1, n), 1] = -900.0
    near, wide = batch.marginals(scores), batch.marginals(far)
    np.testing.assert_allclose(wide.parts["span"], near.parts["span"], atol=1e-12)
    lift = {"span": scores["span"] + 1000.0 * (np.arange(n * (n + 1) // 2) % 7 == 3)[:, None]}
    by_log = _log_chart(n, lift["span"], empty)
    assert batch.log_partition(lift)[0] == pytest.approx(by_log, rel=1e-13)


@EITHER
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lift", [20.0, 60.0, 120.0, 800.0, -800.0])
def test_words_that_score_far_above_spans_change_nothing(empty, dtype, lift, rng):
    """Words are in every tree. Labels of spans are compared with the highest score, or by themselves."""
    n, labels = 7, 19
    batch = ConstituencyBatch([n], labels, empty)
    scores = spans(batch, rng)["span"]
    words = [row_of(n, k, k + 1) for k in range(n)]
    lifted = scores.copy()
    lifted[words] += lift
    wanted = batch.marginals({"span": scores})
    found = batch.marginals({"span": lifted.astype(dtype)})
    np.testing.assert_allclose(
        found.parts["span"], wanted.parts["span"], atol=2e-4 if dtype == np.float32 else 1e-10
    )
    assert found.log_partition[0] - n * lift == pytest.approx(wanted.log_partition[0], abs=1e-2)
    assert found.log_partition[0] == pytest.approx(_log_chart(n, lifted, empty), rel=1e-6)


@EITHER
def test_labels_far_below_others_of_their_span_have_nothing(empty, rng):
    batch = ConstituencyBatch([5], 40, empty)
    scores = spans(batch, rng)["span"].astype(np.float32)
    scores[:, 3::2] -= 200
    scores[4:8] = -300
    scores[9, 1:] = -np.inf
    found = batch.marginals({"span": scores}).parts["span"]
    exact = batch.marginals({"span": scores.astype(np.float64)}).parts["span"]
    np.testing.assert_allclose(found, exact, atol=1e-5)
    assert (found[:4, 3::2] == 0).all()


def _log_chart(n, scores, empty):
    """Log Z by logarithms, span by span."""
    full, right = {}, {}
    for size in range(1, n + 1):
        for i in range(n + 1 - size):
            j, row = i + size, scores[row_of(n, i, i + size)]
            below = logsumexp([full[i, k] + right[k, j] for k in range(i + 1, j)]) if size > 1 else 0.0
            full[i, j] = below + logsumexp(row[1 if empty and size > 1 else 0 :])
            right[i, j] = below + logsumexp(row)
    return full[0, n]


@EITHER
def test_sums_and_the_best_of_long_sentences(empty, rng):
    n = 35
    batch = ConstituencyBatch([n], 4, empty)
    scores = spans(batch, rng, 2.0)
    assert batch.log_partition(scores)[0] == pytest.approx(_log_chart(n, scores["span"], empty), rel=1e-12)
    cold = batch.log_partition({"span": 1e4 * scores["span"]})[0] / 1e4
    assert batch.argmax(scores).value[0] == pytest.approx(cold, rel=1e-3)
    single = batch.marginals({"span": scores["span"].astype(np.float32)})
    np.testing.assert_allclose(single.parts["span"], batch.marginals(scores).parts["span"], atol=1e-5)
    assert single.parts["span"].dtype == np.float32


@EITHER
def test_all_best_trees_in_their_order(empty, rng):
    """More are asked for than there are."""
    batch = ListedParses([3, 2, 0, 1], 2, empty)
    scores = spans(batch, rng)
    outputs, value = batch.kbest(scores, 100)
    for s in range(4):
        count = len(batch.take([s]).every_output())
        assert np.isfinite(value[s]).sum() == count
        mine = outputs[:, batch.output_offsets[s] : batch.output_offsets[s + 1]]
        assert {tuple(y) for y in mine[:count].tolist()} == set(
            map(tuple, batch.take([s]).every_output().tolist())
        )
        assert (np.diff(value[s][:count]) <= 1e-12).all()
        assert (mine[count:] == -1).all()


@EITHER
def test_draws_of_long_sentences_have_the_marginals(empty, rng):
    n, L, count = 12, 3, 4000
    batch = ConstituencyBatch([n], L, empty)
    scores = spans(batch, rng, 1.5)
    drawn = batch.sample(scores, count, 3)
    often = np.bincount(drawn.ravel(), minlength=n * (n + 1) // 2 * L) / count
    likely = batch.marginals(scores).parts["span"].ravel()
    error = np.sqrt(likely * (1 - likely) / count)
    assert (np.abs(often - likely) <= 6 * error + 1e-9).all()  # false alarm below 1e-6
    np.testing.assert_array_equal(drawn[:7], batch.sample(scores, 7, 3))
    assert (drawn != batch.sample(scores, count, 4)).any()


@EITHER
def test_threads_change_nothing(empty, rng):
    """A batch large enough for several threads, and its sentences one by one."""
    batch = ConstituencyBatch(rng.integers(0, 25, 60), 5, empty)
    scores = spans(batch, rng)
    whole = batch.marginals(scores)
    for s in (0, 33, 59):
        one, cut = batch.take([s]), batch.cut(scores, [s])
        np.testing.assert_array_equal(one.marginals(cut).parts["span"], batch.cut(whole.parts, [s])["span"])


@EITHER
def test_what_cannot_be_is_refused(empty):
    batch = ConstituencyBatch([1, 3], 2, empty)
    scores = np.zeros((7, 2))
    scores[[2, 5]] = -np.inf  # neither the first two nor the last two words of the second sentence
    for oracle in (batch.argmax, batch.log_partition, batch.marginals, batch.entropy):
        with pytest.raises(InfeasibleError, match=r"Sentence 1 has no allowed tree\."):
            oracle({"span": scores})
    for ask in (
        lambda: batch.kbest({"span": scores}, 2),
        lambda: batch.sample({"span": scores}, 2, 0),
        lambda: batch.covariance({"span": scores}, {"span": scores}),
    ):
        with pytest.raises(InfeasibleError, match="Sentence 1"):
            ask()
    for bad, (row, label) in itertools.product((np.nan, np.inf), ((5, 0), (5, 1), (1, 1))):
        scores = np.zeros((7, 2))
        scores[row, label] = bad
        for oracle in (batch.argmax, batch.log_partition, batch.marginals, batch.entropy):
            with pytest.raises(ScoreError, match="Sentence 1 has scores that are NaN"):
                oracle({"span": scores})
    with pytest.raises(InputError, match="span scores have shape"):
        batch.log_partition({"span": scores[:-1]})
    with pytest.raises(InputError, match="words must be a vector"):
        ConstituencyBatch([5000], 2)
    with pytest.raises(InputError, match="more labelled spans than"):
        ConstituencyBatch([4000], 1000)


def test_only_the_empty_label():
    """One word is a tree; more are none."""
    assert ConstituencyBatch([1], 1, empty=True).log_partition({"span": np.zeros((1, 1))})[0] == 0.0
    with pytest.raises(InfeasibleError):
        ConstituencyBatch([2], 1, empty=True).log_partition({"span": np.zeros((3, 1))})


def test_a_span_that_is_all_but_empty(rng):
    """Its other labels have weights that a float, and a double, would lose beside the empty one."""
    batch = ListedParses([3], 2, empty=True)
    scores = rng.normal(size=(6, 2))
    scores[1, 0] = 900.0  # words 0 and 1, which are a left part: the empty label does not count
    for dtype in (np.float64, np.float32):
        given = {"span": scores.astype(dtype)}
        assert batch.log_partition(given)[0] == pytest.approx(_log_chart(3, given["span"], True), rel=1e-5)
        assert batch.marginals(given).parts["span"][1, 0] == 0.0


@EITHER
def test_spans_of_one_tree_that_are_in_another(empty, rng):
    batch = ConstituencyBatch([4, 0, 3], 2, empty)
    (a,), (b,) = batch.sample(spans(batch, rng), 1, 0), batch.sample(spans(batch, rng), 1, 1)
    wanted = []
    for start, end in itertools.pairwise(batch.output_offsets):
        wanted += [y in b[start:end] for y in a[start:end]]
    assert batch.agree(a, b).tolist() == wanted
    assert batch.agree(a, a).all()
    assert not batch.agree(np.full_like(a, -2), np.full_like(a, -2)).any()
