"""Thresholds with a guarantee: how often it is violated, what is answered, and in what it consists."""

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.guarantees import HoeffdingBentkus, JudgedAnswers, Threshold, learn_threshold
from kernelfields.guarantees.answers import ranks
from kernelfields.guarantees.threshold import NOTHING, gains_of


def drawn(rng, n, longest=9, shift=0.0):
    """Answers whose error is 1 − p + shift, a fifth of the sequences with twice as many."""
    sizes = rng.integers(0, longest + 1, size=n)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    p = 1 - 0.5 * rng.uniform(size=offsets[-1]) ** 1.5
    twice = np.repeat(np.where(rng.uniform(size=n) < 0.2, 2.0, 0.75), sizes)
    wrong = rng.uniform(size=len(p)) < np.minimum(twice * (1 - p + shift), 1)
    return JudgedAnswers(p, wrong, np.zeros(len(p), dtype=int), offsets)


def answered(threshold, answers):
    return threshold.answers(answers.confidence, answers.offsets)


@pytest.fixture(scope="module")
def population():
    return drawn(np.random.default_rng(0), 30_000)


def test_violated_as_seldom_as_promised_and_close_to_the_oracle(population):
    # 40 calibration sets: more than 0.1 + 4 standard errors of violations has probability 3e-5
    alpha, delta, repeats = 0.08, 0.1, 40
    rng, errors, shares = np.random.default_rng(1), [], []
    places = ranks(population.confidence, population.offsets)
    for number in range(repeats):
        known = population.take(rng.choice(population.n_sequences, 1000))
        found = learn_threshold(known, alpha, 1 - delta, seed=number).threshold
        mask = (population.confidence >= found.least) & (places < found.limit)
        errors.append(population.wrong[mask].mean() if mask.any() else 0.0)
        shares.append(mask.mean())
    assert np.mean(np.array(errors) > alpha) <= delta + 4 * np.sqrt(delta * (1 - delta) / repeats)
    order = np.argsort(-population.confidence)
    error = np.cumsum(population.wrong[order]) / np.arange(1, len(order) + 1)
    oracle = (np.flatnonzero(error <= alpha)[-1] + 1) / len(order)
    assert np.mean(shares) >= 0.85 * oracle


def test_a_model_that_is_always_wrong_proves_nothing():
    rng = np.random.default_rng(3)
    known = drawn(rng, 500, shift=1.0)
    found = learn_threshold(known, 0.05, 0.9)
    assert not found.holds
    assert found.threshold == NOTHING
    assert found.answered == 0
    assert np.isnan(found.error)
    assert not answered(found.threshold, known).any()


def test_a_model_that_is_always_right_answers_everything():
    known = drawn(np.random.default_rng(3), 2000)
    found = learn_threshold(known._replace(wrong=np.zeros(len(known.wrong), dtype=bool)), 0.05, 0.95)
    assert found.holds
    assert found.answered > 0.99
    assert found.error == 0


@pytest.mark.parametrize("n", [0, 1, 2, 10])
def test_few_sequences_or_none_prove_nothing(n):
    assert not learn_threshold(drawn(np.random.default_rng(0), n), 0.05, 0.95).holds


def test_hoeffding_bentkus_where_sequences_have_one_answer():
    rng = np.random.default_rng(1)
    p = 1 - 0.5 * rng.uniform(size=5000) ** 2
    known = JudgedAnswers(p, rng.uniform(size=5000) > p, np.zeros(5000, int), np.arange(5001))
    found = learn_threshold(known, 0.1, 0.9, test=HoeffdingBentkus())
    assert found.holds
    assert found.error < 0.1


@pytest.mark.filterwarnings("ignore:Fixed sequence testing")  # risks need not be monotone
def test_fixed_sequence_stops_where_that_of_mapie_does():
    pytest.importorskip("mapie.risk_control")
    from mapie.risk_control._base_controller import ltt_procedure

    rng, alpha, delta, n = np.random.default_rng(5), 0.1, 0.1, 4000
    p = 1 - 0.5 * rng.uniform(size=n) ** 2
    known = JudgedAnswers(p, rng.uniform(size=n) > p, np.zeros(n, int), np.arange(n + 1))
    order = np.random.default_rng(0).permutation(n)  # as `learn_threshold` draws it
    first, rest = known.take(order[: round(0.15 * n)]), known.take(order[round(0.15 * n) :])
    found = learn_threshold(known, alpha, 1 - delta, test=HoeffdingBentkus())
    grid = np.unique(np.quantile(first.confidence, np.linspace(0, 1, 200), method="higher"))
    # losses in [0, 1] whose mean is at most α if and only if errors are at most α of the answers
    given = rest.confidence[None, :] >= grid[:, None]
    loss = np.where(given, rest.wrong[None, :], alpha).mean(axis=1)
    tried = grid <= found.threshold.least + 0.1  # both go from there to the lax end
    path, count = grid[tried][::-1], np.full((1, tried.sum()), rest.n_sequences)
    valid, _ = ltt_procedure(
        loss[tried][::-1][None, :], np.array([[alpha]]), delta, count, fwer_method="fixed_sequence"
    )
    assert found.threshold.limit == 1
    assert min(path[valid[0]]) == found.threshold.least


def test_answers_of_each_kind(population):
    known = population.take(np.arange(200))
    kinds = np.random.default_rng(0).integers(0, 3, len(known.kinds))
    known = known._replace(kinds=kinds)
    parts = [known.of_kind(kind) for kind in range(3)]
    assert sum(len(part.confidence) for part in parts) == len(kinds)
    assert all(part.n_sequences == known.n_sequences for part in parts)
    assert (sum(np.diff(part.offsets) for part in parts) == np.diff(known.offsets)).all()


def test_gains_are_counted_as_by_hand(population):
    known, alpha, limit = population.take(np.arange(40)), 0.1, 3
    levels = np.array([0.95, 0.8, 0.6, 0.0])
    found = gains_of(known, ranks(known.confidence, known.offsets), levels, limit, alpha)
    for row, least in zip(found, levels, strict=True):
        for s in range(40):
            part = slice(known.offsets[s], known.offsets[s + 1])
            best = sorted(zip(-known.confidence[part], known.wrong[part], strict=True))[:limit]
            mine = [wrong for p, wrong in best if -p >= least]
            assert row[s] == pytest.approx(alpha * len(mine) - sum(mine))


def test_no_more_answers_than_the_limit_and_those_are_the_most_probable():
    confidence, offsets = np.array([0.7, 0.9, 0.8, 0.9, 0.6]), np.array([0, 4, 5])
    assert Threshold(0.65, 2).answers(confidence, offsets).tolist() == [False, True, False, True, False]


@pytest.mark.parametrize("value", [0, 1, -0.1, np.nan, "much", None])
def test_odd_shares_are_refused(population, value):
    known = population.take(np.arange(10))
    with pytest.raises(InputError, match="error_at_most"):
        learn_threshold(known, value)
    with pytest.raises(InputError, match="confidence"):
        learn_threshold(known, 0.05, value)
