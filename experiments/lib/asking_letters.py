"""Handwritten words: single letters that the model asks for, against letters and words at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernelfields import Parts
from kernelfields.active import ActiveLearner, LearningCurve, RandomChoice, simulate
from kernelfields.datasets import load_letters
from kernelfields.estimators import CRF
from kernelfields.kernels import RBF

from .asking import AskingTask, Curves, asked_twice, first_labels, landmark_features, mean_curve, reporter

ASKED, LETTERS, WORDS = "letters asked for", "random letters", "random words"


class LetterRuns(NamedTuple):
    """Mean curves over repetitions."""

    curves: Curves
    asked_twice: float


def letter_runs(settings: Any, report: Callable[[str], None]) -> LetterRuns:
    """Run all choices with several seeds."""
    found: dict[str, list[LearningCurve]] = {ASKED: [], LETTERS: [], WORDS: []}
    twice = 0.0
    for seed in range(settings.letter_repeats):
        task = letter_task(settings, seed)
        start = first_labels(task.y, settings.letter_start, seed)
        asked = ActiveLearner(
            _model(settings), strategy=settings.letter_strategy, per_sequence=1, random_state=seed
        )
        at_random = ActiveLearner(_model(settings), strategy=RandomChoice(seed))
        words = ActiveLearner(_model(settings), strategy=RandomChoice(seed), unit="sequence")
        for name, learner, budgets, y_start in (
            (ASKED, asked, settings.letter_budgets, start),
            (LETTERS, at_random, settings.random_letter_budgets, None),
            (WORDS, words, settings.random_letter_budgets, None),
        ):
            line = reporter(report, f"{name}, seed {seed}")
            curve = simulate(learner, *task, budgets=budgets, y_start=y_start, random_state=seed, report=line)
            found[name].append(curve)
            twice += 0.0 if name == WORDS else asked_twice(curve, budgets)
    return LetterRuns({name: mean_curve(curves) for name, curves in found.items()}, twice)


def letter_task(settings: Any, seed: int) -> AskingTask:
    """Return words as features of a Gaussian kernel, whose landmarks are letters of the pool."""
    letters = load_letters()
    X, y = _some(*letters.split(*settings.pool_folds), settings.max_words)
    X_test, y_test = _some(*letters.split(*settings.test_folds), settings.max_words)
    rows = np.concatenate(X)
    chosen = np.random.default_rng(seed).choice(len(rows), settings.n_landmarks, replace=False)
    features = landmark_features(RBF(settings.gamma), rows[chosen])

    def singles(words: list[Any]) -> list[Any]:
        return [features(x).astype(np.float32) for x in words]  # fits take half the time

    return AskingTask(singles(X), y, singles(X_test), y_test)


def _model(settings: Any) -> CRF:
    return CRF(
        settings.letter_penalty,
        parts=Parts(bias=None),
        decoder="posterior",
        tol=settings.letter_tol,
        warm_start=True,
    )


def _some(X: list[Any], y: list[Any], most: int) -> tuple[list[Any], list[Any]]:
    step = max(1, len(X) // most)  # words of one kind stand together
    return X[::step][:most], y[::step][:most]
