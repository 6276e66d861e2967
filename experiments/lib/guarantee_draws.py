"""Many calibration sets from one pool: what each guarantees, and what came of it on the rest."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kernelfields.arrays import Array
from kernelfields.guarantees import (
    Betting,
    HoeffdingBentkus,
    JudgedAnswers,
    Missed,
    Threshold,
    control_misses,
    learn_threshold,
)

from .guarantee_tasks import AnswerTask

BETTING, BENTKUS, SEEN = "betting", "Hoeffding–Bentkus", "none: error seen there"
METHODS = (BETTING, BENTKUS, SEEN)


class ThresholdDraws(NamedTuple):
    """One number for each calibration set."""

    error: Array
    """Share of wrong ones among the answers to the rest; 0 where there is none."""
    answered: Array
    """Share of the rest that is answered."""
    oracle: Array
    """The share that the laxest threshold answers whose error on the rest is small enough."""


def draw_thresholds(
    task: AnswerTask, method: str, alpha: float, delta: float, repeats: int, seed: int
) -> ThresholdDraws:
    """Draw calibration sets without replacement, and judge each by the sequences that it does not have."""
    rows = []
    for number in range(repeats):
        order = np.random.default_rng([seed, number]).permutation(task.answers.n_sequences)
        known, rest = (task.answers.take(ids) for ids in np.split(order, [task.n_calibration]))
        threshold = _threshold(known, method, alpha, delta, number)
        given = threshold.answers(rest.confidence, rest.offsets)
        error = float(rest.wrong[given].mean()) if given.any() else 0.0
        rows.append((error, float(given.mean()), _oracle_share(rest, alpha)))
    return ThresholdDraws(*np.array(rows).T)


def _threshold(known: JudgedAnswers, method: str, alpha: float, delta: float, seed: int) -> Threshold:
    if method == SEEN:
        return Threshold(_laxest(known, alpha)[0], len(known.confidence))
    test = Betting() if method == BETTING else HoeffdingBentkus()
    return learn_threshold(known, alpha, 1 - delta, test=test, seed=seed).threshold


def _laxest(answers: JudgedAnswers, alpha: float) -> tuple[float, float]:
    """Return the lowest threshold whose error is at most α, and what it answers."""
    order = np.argsort(-answers.confidence, kind="stable")
    confidence, wrong = answers.confidence[order], np.cumsum(answers.wrong[order])
    last = np.append(confidence[1:] < confidence[:-1], True)  # equal ones are answered together
    fits = np.flatnonzero((wrong <= alpha * np.arange(1, len(wrong) + 1)) & last)
    return (float(confidence[fits[-1]]), (fits[-1] + 1) / len(wrong)) if len(fits) else (np.inf, 0.0)


def _oracle_share(rest: JudgedAnswers, alpha: float) -> float:
    return _laxest(rest, alpha)[1]


def draw_misses(task: AnswerTask, alpha: float, repeats: int, seed: int) -> Array:
    """Return the share that sets of labels miss in the rest, for each calibration set."""
    result = []
    sizes = np.diff(task.missed.offsets)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    for number in range(repeats):
        order = np.random.default_rng([seed, number]).permutation(len(sizes))
        inside = np.isin(np.arange(len(sizes)), order[: task.n_calibration])
        least = control_misses(_of(task.missed, inside, owner), alpha).least
        low = np.bincount(owner, task.missed.probability < least, minlength=len(sizes))
        judged = ~inside & (sizes > 0)
        result.append(float((low[judged] / sizes[judged]).mean()))
    return np.array(result)


def _of(missed: Missed, chosen: Array, owner: Array) -> Missed:
    sizes = np.diff(missed.offsets)[chosen]
    return Missed(missed.probability[chosen[owner]], np.concatenate([[0], np.cumsum(sizes)]))
