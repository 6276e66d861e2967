"""Answers of models that many calibration sets are drawn from: letters, Spanish tokens and entities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernelfields.datasets import load_conll2002, load_letters
from kernelfields.estimators import CRF, KernelCRF
from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import ner
from kernelfields.guarantees import JudgedAnswers, Missed
from kernelfields.kernels import RBF

LETTERS, TOKENS, ENTITIES = "letters", "Spanish tokens", "Spanish entities"


class AnswerTask(NamedTuple):
    """What a model answered about a pool of sequences, and what sets of labels would miss there."""

    answers: JudgedAnswers
    missed: Missed
    n_calibration: int
    """Sequences of each calibration set."""


def letter_task(settings: Any, report: Callable[[str], None]) -> AnswerTask:
    """Train on one fold of the letters, and let the others be the pool."""
    letters = load_letters()
    others = [fold for fold in range(10) if fold != settings.train_fold]
    X, y = letters.split(settings.train_fold)
    pool = letters.split(*others)
    limit = settings.max_words
    model = KernelCRF(
        RBF(settings.gamma),
        penalty=settings.letter_penalty,
        basis="nystroem",
        tol=settings.tol,
        decoder="posterior",
        random_state=settings.seed,
    )
    model.fit(X[:limit], y[:limit])
    model.calibrate(pool[0][:limit], pool[1][:limit])
    record = model.calibration_
    report(f"{LETTERS}: {record.answers.n_sequences} words, error {record.answers.wrong.mean():.3f}")
    return AnswerTask(record.answers, record.true_labels, settings.n_words)


def spanish_tasks(settings: Any, report: Callable[[str], None]) -> dict[str, AnswerTask]:
    """Train on a part of the training sentences; the others and both test parts are the pool."""
    texts, labels = _spanish_sentences(settings)
    n = settings.n_train_sentences
    features = TemplateFeatures(ner(pos=False), min_count=2, dtype=np.float32)
    model = CRF(settings.token_penalty, features=features, tol=settings.tol, decoder="posterior")
    model.fit(texts[:n], labels[:n])
    tasks = {}
    for name, units in ((TOKENS, "positions"), (ENTITIES, "entities")):
        model.calibrate(texts[n:], labels[n:], units=units)
        record = model.calibration_
        missed = (
            record.true_labels if record.true_entities is None or name == TOKENS else record.true_entities
        )
        tasks[name] = AnswerTask(record.answers, missed, settings.n_sentences)
        report(f"{name}: {record.answers.n_sequences} sentences, error {record.answers.wrong.mean():.3f}")
    return tasks


def _spanish_sentences(settings: Any) -> tuple[list[Any], list[Any]]:
    """Return sentences to train on, then those of the pool.

    The order of the training part is a random one, from its end: sentences at its beginning were used when
    constants of the method were chosen, and are trained on here.
    """
    train = load_conll2002("train")
    order = np.random.default_rng(settings.order_seed).permutation(len(train.sentences))[::-1]
    texts, labels = [train.sentences[k] for k in order], [train.labels[k] for k in order]
    for part in settings.pool_parts:
        more = load_conll2002(part)
        texts, labels = texts + more.sentences, labels + more.labels
    return texts[: settings.max_sentences], labels[: settings.max_sentences]
