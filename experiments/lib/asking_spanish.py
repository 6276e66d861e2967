"""Spanish named entities: tokens and sentences that the model asks for, against sentences at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernelfields.active import ActiveLearner, RandomChoice, simulate
from kernelfields.datasets import load_conll2002
from kernelfields.estimators import CRF
from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import ner
from kernelfields.metrics import entity_f1_scorer

from .asking import AskingTask, Curves, asked_twice, first_labels, reporter
from .gram import sequences_of

TOKENS, SENTENCES, RANDOM = "tokens asked for", "sentences asked for", "random sentences"


class SpanishRuns(NamedTuple):
    """Curves, and F1 after training on everything."""

    curves: Curves
    full: float
    n_tokens: int
    asked_twice: float


def spanish_runs(settings: Any, task: AskingTask, report: Callable[[str], None]) -> SpanishRuns:
    """Run all choices from the same first sentences."""
    start = first_labels(task.y, settings.token_start, settings.seed)
    tokens = ActiveLearner(_model(settings), strategy=settings.token_strategy, complete=0.0)
    sentences = ActiveLearner(_model(settings), strategy=settings.sentence_strategy, unit="sequence")
    at_random = ActiveLearner(_model(settings), strategy=RandomChoice(settings.seed), unit="sequence")
    curves = {}
    for name, learner, budgets in (
        (TOKENS, tokens, settings.token_budgets),
        (SENTENCES, sentences, settings.sentence_budgets),
        (RANDOM, at_random, settings.sentence_budgets),
    ):
        curves[name] = simulate(
            learner,
            *task,
            budgets=budgets,
            y_start=start,
            scorer=entity_f1_scorer,
            report=reporter(report, name),
        )
    full = entity_f1_scorer(_model(settings).fit(task.X, task.y), task.X_test, task.y_test)
    report(f"all {task.n_labels} labels: {100 * full:.2f} %")
    return SpanishRuns(curves, full, task.n_labels, asked_twice(curves[TOKENS], settings.token_budgets))


def spanish_task(settings: Any) -> AskingTask:
    """Return sentences as sparse features, those that occur at least twice in the pool."""
    pool = load_conll2002("train", settings.n_sentences, settings.seed)
    test = load_conll2002(settings.test_part, settings.n_test_sentences, settings.seed)
    extractor = TemplateFeatures(ner(pos=False), min_count=2, dtype=np.float32)
    X = sequences_of(*extractor.fit_transform(pool.sentences))
    return AskingTask(X, pool.labels, sequences_of(*extractor.transform(test.sentences)), test.labels)


def _model(settings: Any) -> CRF:
    return CRF(settings.token_penalty, observed_only=True, tol=settings.token_tol, warm_start=True)
