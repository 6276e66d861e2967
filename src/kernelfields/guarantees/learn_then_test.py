"""The laxest threshold that is proved to keep errors below a share of what is answered."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import require_whole, shown
from ..errors import InputError
from ._base import Gains, MeanTest, require_chance
from .answers import JudgedAnswers, ranks
from .betting import Betting
from .path import PLANNED, Path, plan
from .threshold import NOTHING, Threshold, gains_of

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
