"""Three small tasks with a kernel each: handwritten words, named entities, parts of speech."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kernelfields.datasets import (
    TaggedSentences,
    load_conll2002,
    load_letters,
    load_ptb_sample,
    load_ud_ewt,
    spelling_templates,
)
from kernelfields.features import TemplateFeatures, Templates
from kernelfields.features.sets import pos
from kernelfields.kernels import Kernel, Polynomial

from .contest import SequenceSet
from .gram import degree_kernel, sequences_of


class LearningTask(NamedTuple):
    """Training, validation and test sequences, with a kernel."""

    train: SequenceSet
    validation: SequenceSet
    test: SequenceSet
    kernel: Kernel

    @property
    def positions(self) -> int:
        """Number of labels in the training part."""
        return sum(map(len, self.train.labels))


class Texts(NamedTuple):
    """Training sentences in random order, and test sentences."""

    learn: TaggedSentences
    test: TaggedSentences


def letters_task(n_words: int, n_test: int, share: float, seed: int) -> LearningTask:
    """Return handwritten words: fold 0 to learn from, all others to test on, with a cubic kernel."""
    letters = load_letters()
    X, y = _drawn(*letters.split(0), n_words, seed)
    X_test, y_test = _drawn(*letters.split(*range(1, 10)), n_test, seed)
    train, validation = parted(SequenceSet(X, X, y), share)
    kernel = Polynomial(degree=3, gamma=0.05, offset=1.0)
    return LearningTask(train, validation, SequenceSet(X_test, X_test, y_test), kernel)


def entities_task(n_sentences: int, n_test: int, share: float, seed: int) -> LearningTask:
    """Return Spanish named entities with spelling features in a window of three, and a kernel of degree 2."""
    learn = load_conll2002("train", n_sentences, seed)
    test = load_conll2002("testb", n_test, seed)
    return text_task(Texts(TaggedSentences(*learn), TaggedSentences(*test)), spelling_templates(), share)


def web_task(n_sentences: int, n_test: int, share: float, seed: int) -> LearningTask:
    """Return parts of speech of the English Web Treebank with lexical features, and a kernel of degree 2."""
    texts = web_texts(n_test, seed)
    return text_task(Texts(first(texts.learn, n_sentences), texts.test), pos(), share)


def web_texts(n_test: int, seed: int) -> Texts:
    """Return sentences of the English Web Treebank in its published parts, each in random order."""
    learn, test = (TaggedSentences(*_drawn(*load_ud_ewt(part), None, seed)) for part in ("train", "test"))
    return Texts(learn, first(test, n_test))


def treebank_texts(n_test: int, seed: int) -> Texts:
    """Return sentences of the Penn Treebank; the last are for tests, so that documents stay whole."""
    every = load_ptb_sample()
    learn, test = (
        TaggedSentences(every.sentences[part], every.labels[part])
        for part in (slice(-n_test), slice(-n_test, None))
    )
    return Texts(TaggedSentences(*_drawn(*learn, None, seed)), test)


def first(texts: TaggedSentences, n: int) -> TaggedSentences:
    """Return the first sentences."""
    return TaggedSentences(texts.sentences[:n], texts.labels[:n])


def text_task(texts: Texts, templates: Templates, share: float) -> LearningTask:
    """Return all parts with the features that occur in the training part."""
    train, validation = parted(
        SequenceSet(texts.learn.sentences, texts.learn.sentences, texts.learn.labels), share
    )
    extractor = TemplateFeatures(templates, dtype=np.float32)
    matrix, lengths = extractor.fit_transform(train.tokens)
    size = float(matrix.multiply(matrix).sum(axis=1).mean())

    def seen(sentences: list[Any], labels: list[Any]) -> SequenceSet:
        features, lengths = extractor.transform(sentences)
        return SequenceSet(sentences, sequences_of(features, lengths), labels)

    return LearningTask(
        train._replace(features=sequences_of(matrix, lengths)),
        seen(validation.tokens, validation.labels),
        seen(*texts.test),
        degree_kernel(2, size),
    )


def parted(part: SequenceSet, share: float) -> tuple[SequenceSet, SequenceSet]:
    """Split off the last sequences, this share of all, to choose with."""
    n = len(part.labels) - max(1, round(share * len(part.labels)))
    return part.pick(np.arange(n)), part.pick(np.arange(n, len(part.labels)))


def _drawn(X: list[Any], y: list[Any], n: int | None, seed: int) -> tuple[list[Any], list[Any]]:
    order = np.random.default_rng(seed).permutation(len(X))[:n]
    return [X[i] for i in order], [y[i] for i in order]
