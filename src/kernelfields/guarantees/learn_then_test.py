"""The laxest threshold that is proved to keep errors below a share of what is answered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..checks import require_whole, shown
from ..errors import InputError
from ._base import Gains, MeanTest, require_chance
from .answers import JudgedAnswers, ranks
from .betting import Betting
from .threshold import NOTHING, Threshold, gains_of

PLANNED = 0.15
"""Share of a calibration set that plans the tests."""


TOGETHER = 32
"""Thresholds that are tested at a time."""


class Guarantee(NamedTuple):
    """P(errors ≤ α of what is answered) ≥ 1 − δ over calibration sets, and what was seen of it."""

    threshold: Threshold
    """When to answer; never, if nothing could be proved."""
    error_at_most: float
    """α."""
    confidence: float
    """1 − δ."""
    p_value: float
    """Of the last threshold that was proved, at most δ; that of the first one tested if none was."""
    answered: float
    """Share of the calibration set's answers that are given."""
    error: float
    """Share of those that are wrong; NaN where none is given."""
    n_sequences: int
    """Calibration sequences that the tests had: those that planned them are not among them."""

    @property
    def holds(self) -> bool:
        """Whether any threshold was proved."""
        return self.threshold != NOTHING


def learn_threshold(
    answers: JudgedAnswers,
    error_at_most: float = 0.05,
    confidence: float = 0.95,
    *,
    test: MeanTest | None = None,
    planned: float = PLANNED,
    seed: int = 0,
) -> Guarantee:
    """Return the laxest threshold at which errors are at most a share α of what is answered.

    For a threshold, sequence i has a_i answers and e_i wrong ones. The share of errors, E[e]/E[a], is at most
    α if the mean of D_i = α a_i − e_i is not negative; sequences are drawn independently, positions within
    them need not be. E[D] ≤ 0 is tested for one threshold after the other, from strict to lax, until a
    p-value is above δ (fixed-sequence testing): the probability that any threshold is passed whose share of
    errors is α or more is at most δ, however many are tried [angelopoulos2021ltt]. The share of errors
    need not grow with the threshold.

    A random part of the sequences decides which thresholds are tested, from where on, and the limit M of
    answers per sequence; the tests have the others, which are independent of that choice.

    Parameters
    ----------
    answers : JudgedAnswers
        Of a calibration set that nothing else was fitted to.
    error_at_most : float
        α.
    confidence : float
        1 − δ.
    test : MeanTest, optional
        `Betting` by default.
    planned : float
        Share of the sequences that plan the tests.
    seed : int
        Of the order of the sequences, and of that share.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.5, 1.0, 4000)
    >>> answers = JudgedAnswers(p, rng.uniform(size=4000) > p, np.zeros(4000, int), np.arange(0, 4001, 4))
    >>> found = learn_threshold(answers, 0.1, 0.9)
    >>> found.holds, found.error < 0.1, 0.7 < found.threshold.least < 0.85
    (True, True, True)
    """
    alpha, level = (
        require_chance("error_at_most", error_at_most),
        1 - require_chance("confidence", confidence),
    )
    rng, test = np.random.default_rng(require_whole("seed", seed, 0)), test or Betting()
    if not isinstance(test, MeanTest):
        raise InputError(f"test is {shown(test)}; it must be a MeanTest, Betting() say.")
    order = rng.permutation(answers.n_sequences)
    n = round(require_chance("planned", planned) * len(order))
    first, rest = answers.take(order[:n]), answers.take(order[n:])
    path = plan(first, alpha, level, rest.n_sequences, test, rng)
    found = NOTHING, 1.0
    if path is not None and rest.n_sequences:
        found = _walk(first, rest, path, alpha, level, test)
    return _described(answers, *found, alpha, confidence, rest.n_sequences)


def _walk(
    first: JudgedAnswers, rest: JudgedAnswers, path: Path, alpha: float, level: float, test: MeanTest
) -> tuple[Threshold, float]:
    """Test thresholds in turn; return the last that passed, and its p-value."""
    chosen, last = NOTHING, 1.0
    parts = [(part, ranks(part.confidence, part.offsets)) for part in (first, rest)]
    for a in range(0, len(path.levels), TOGETHER):
        levels = path.levels[a : a + TOGETHER]
        before, draws = (gains_of(*part, levels, path.limit, alpha) for part in parts)
        p_values = test.p_values(Gains(draws, -(1 - alpha) * path.limit, alpha * path.limit), level, before)
        passed = int(np.argmax([*(p_values > level), True]))
        if passed:
            chosen, last = Threshold(float(levels[passed - 1]), path.limit), float(p_values[passed - 1])
        elif chosen == NOTHING:
            last = float(p_values[0])
        if passed < len(levels):
            break
    return chosen, last


def _described(
    answers: JudgedAnswers, chosen: Threshold, p_value: float, alpha: float, confidence: float, n: int
) -> Guarantee:
    """Return a threshold with what it does to the calibration set."""
    answered = chosen.answers(answers.confidence, answers.offsets)
    given = int(answered.sum())
    share = given / len(answered) if len(answered) else 0.0
    error = float((answered & answers.wrong).sum() / given) if given else float("nan")
    return Guarantee(chosen, alpha, confidence, p_value, share, error, n)


STEPS = 200
"""Thresholds, at equal steps of the share that is answered."""
COARSE = 4
"""Of which every one so many is tried when limits are compared."""
EASE = 1.5
"""How much more evidence than enough there should be at the first threshold."""
NEAR = 0.8
"""Share of the most evidence that is enough where there is less than that."""
SHARES = (0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
"""Shares of sequences that have no more answers than a limit that is tried."""


class Path(NamedTuple):
    """The thresholds to test."""

    levels: Array
    """λ, falling: from the one that is passed most surely."""
    limit: int
    """M."""


def plan(
    answers: JudgedAnswers, alpha: float, level: float, n: int, test: MeanTest, rng: np.random.Generator
) -> Path | None:
    """Return what n further sequences should test; None where there is no answer to learn from.

    For every limit M, the test is tried on n sequences that are drawn with replacement from those at hand;
    the limit is the one with which most is answered. The path begins at the strictest threshold that should
    be passed with ease, and goes on until everything is answered.
    """
    if len(answers.confidence) == 0:
        return None
    grid = _grid(answers, STEPS)
    drawn = rng.integers(answers.n_sequences, size=n)
    places = ranks(answers.confidence, answers.offsets)
    best, path = (-1.0, -1.0), None
    for limit in limits_of(np.diff(answers.offsets)):
        gains = gains_of(answers, places, grid, limit, alpha)
        start = _start(gains, alpha, limit, test, -np.log(level), n)
        tried = Gains(gains[start::COARSE, drawn], -(1 - alpha) * limit, alpha * limit)
        p_values = test.p_values(tried, level, gains[start::COARSE])
        passed = int(np.argmax([*(p_values > level), True]))
        least = grid[start::COARSE][passed - 1] if passed else np.inf
        found = float(np.minimum(_answered(answers, least), limit).sum()), -float(p_values[0])
        if found >= best:
            best, path = found, Path(grid[start:], limit)
    return path


def _grid(answers: JudgedAnswers, steps: int) -> Array:
    """Return thresholds at equal steps of the share that is answered, falling, and 0 at the end."""
    shares = np.linspace(0, 1, steps)
    return np.append(np.unique(np.quantile(answers.confidence, shares, method="higher"))[::-1], 0.0)


def limits_of(sizes: Array) -> list[int]:
    """Return the limits of answers per sequence to try, rising; larger sequences may come."""
    found = {max(int(np.quantile(sizes, share, method="higher")), 1) for share in SHARES}
    return sorted({*found, 2 * max(found)})


def _start(gains: Array, alpha: float, limit: int, test: MeanTest, needed: float, n: int) -> int:
    """Return the first row with more evidence than is needed; if there is none, with nearly the most.

    One more sequence that has one answer, a wrong one, is added: else few answers that happen to be right
    would look too good.
    """
    wrong = np.full((len(gains), 1), alpha - 1)
    more = Gains(np.concatenate([gains, wrong], axis=1), -(1 - alpha) * limit, alpha * limit)
    evidence = test.evidence(more, n)
    return int(np.argmax(evidence >= min(EASE * needed, NEAR * evidence.max())))


def _answered(answers: JudgedAnswers, least: float) -> Array:
    """Return how many answers each sequence has from a threshold on."""
    numbers = answers.sequence_numbers()[answers.confidence >= least]
    return np.bincount(numbers, minlength=answers.n_sequences)
