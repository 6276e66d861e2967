"""Learning curves of strategies: questions answered by labels that are known all along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_number, require_whole
from ..data.seeds import random_state
from ..errors import InputError
from .learner import ActiveLearner, Query
from .pool import LabelPool, structure_in

Scorer = Callable[[Any, Any, Any], float]


@dataclass(frozen=True)
class LearningCurve:
    """How good a model was after so many labels."""

    labels: Array
    """Number of labels told."""
    scores: Array
    """What the scorer said of the model that learnt from them."""
    seconds: Array
    """How long its questions and its fit took."""

    def labels_to_reach(self, score: float) -> float:
        """Return after how many labels a score was reached first, by linear interpolation; inf if never.

        Examples
        --------
        >>> import numpy as np
        >>> curve = LearningCurve(np.array([10, 20]), np.array([0.5, 0.7]), np.zeros(2))
        >>> curve.labels_to_reach(0.6), curve.labels_to_reach(0.9), curve.labels_to_reach(0.1)
        (15.0, inf, 10.0)
        """
        score = require_number("score", score)
        reached = np.flatnonzero(self.scores >= score)
        if not len(reached):
            return float("inf")
        k = int(reached[0])
        if k == 0:
            return float(self.labels[0])
        share = (score - self.scores[k - 1]) / (self.scores[k] - self.scores[k - 1])
        return float(self.labels[k - 1] + share * (self.labels[k] - self.labels[k - 1]))


def simulate(
    learner: ActiveLearner,
    X: Any,
    y: Any,
    X_test: Any,
    y_test: Any,
    *,
    budgets: Sequence[int],
    y_start: Any = None,
    scorer: Scorer | None = None,
    random_state: Any = 0,
    report: Callable[[int, float], None] | None = None,
) -> LearningCurve:
    """Let a learner ask for labels that are known, and score its models on test sequences.

    Parameters
    ----------
    learner : ActiveLearner
        With the strategy to try; ``"random"`` is what to compare it with. It keeps what it learns.
    X, y : lists
        The pool, and all its labels; where y has None nothing can be told.
    X_test, y_test : lists
        What models are scored on.
    budgets : list of int
        Numbers of labels, rising: after each there is a fit and a score. Sequences come whole, so that the
        number may be passed by the last of them.
    y_start : list, optional
        Labels to begin with. If not given, the first budget is spent at random.
    scorer : callable, optional
        ``scorer(model, X_test, y_test)``, greater is better; the share of right labels if not given.
    random_state : int, RandomState or None
        Seed of that.
    report : callable, optional
        Called with the number of labels and the score after every fit.
    """
    steps = [require_whole(f"budgets[{k}]", n) for k, n in enumerate(budgets)]
    if not steps or any(a >= b for a, b in pairwise(steps)):
        raise InputError("budgets must be a list of rising numbers of labels.")
    truth = LabelPool(structure_in(learner.estimator), X, y)
    started = perf_counter()
    if y_start is None:
        learner.fit(X)
        _tell(learner, truth, _at_random(learner, truth, steps[0], random_state))
    else:
        learner.fit(X, y_start)
    found: list[tuple[int, float, float]] = []
    for n in [learner.n_labels, *steps]:
        if n > learner.n_labels:
            _tell(learner, truth, _asked(learner, truth, n - learner.n_labels))
        if found and learner.n_labels == found[-1][0]:
            continue  # nothing was left to tell, or a whole sequence was told at once
        seconds = perf_counter() - started
        found.append((learner.n_labels, _score(learner, scorer, X_test, y_test), seconds))
        if report is not None:
            report(found[-1][0], found[-1][1])
        started = perf_counter()
    counts, scores, times = zip(*found, strict=True)
    return LearningCurve(np.array(counts), np.array(scores), np.array(times))


def _score(learner: ActiveLearner, scorer: Scorer | None, X_test: Any, y_test: Any) -> float:
    if learner.model_ is None:
        raise InputError("There is no model to score: raise the first budget, or give y_start.")
    if scorer is None:
        return float(learner.model_.score(X_test, y_test))
    return float(scorer(learner.model_, X_test, y_test))


def _asked(learner: ActiveLearner, truth: LabelPool, n_labels: int) -> list[Query]:
    """Ask for about as many labels."""
    if learner.unit == "position":
        return learner.ask(n_labels)
    lengths = np.diff(truth.offsets)
    queries = learner.ask(
        max(1, int(np.ceil(n_labels / max(1.0, float(lengths[lengths > 0].min(initial=1))))))
    )
    return _within(queries, truth, n_labels)


def _within(queries: list[Query], truth: LabelPool, n_labels: int) -> list[Query]:
    """Return the first questions that make up so many labels, the last of them perhaps more."""
    total = np.cumsum([len(truth.labels[query.sequence]) for query in queries])
    return queries[: int(np.searchsorted(total, n_labels)) + 1]


def _at_random(learner: ActiveLearner, truth: LabelPool, n_labels: int, seed: Any) -> list[Query]:
    """Draw positions, or sequences, that make up so many labels."""
    rng = random_state(seed)
    if learner.unit == "sequence":
        order = rng.permutation(len(truth.X)).tolist()
        return _within([Query(s, None) for s in order], truth, n_labels)
    places = rng.permutation(int(truth.offsets[-1]))[:n_labels]
    return [Query(*truth.place(int(t))) for t in places]


def _tell(learner: ActiveLearner, truth: LabelPool, queries: list[Query]) -> None:
    whole = truth.known()
    answers = [whole[s] if t is None else truth.labels[s][t] for s, t in queries]
    learner.tell(queries, answers)
