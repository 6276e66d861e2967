"""CoNLL-2000 again and again, with new words each time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from kernelfields import CRF, Run
from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import chunking

from . import _conll2000
from ._sharded_sides import Task

COMMON = 10
"""Words that occur as often are the same in every copy; the others are new."""


def corpus(tokens: int) -> tuple[Any, np.ndarray, list[list[str]]]:
    """Return features of at least so many tokens, lengths of sentences, and labels."""
    given = _conll2000.read("train", None if tokens >= 100_000 else tokens // 20)
    size = sum(map(len, given.sentences))
    counts = Counter(word for sentence in given.sentences for word, _ in sentence)
    copies = -(-tokens // size)
    sentences = [
        [(word if counts[word] >= COMMON else f"{word}#{k}", tag) for word, tag in sentence]
        for k in range(copies)
        for sentence in given.sentences
    ]
    X, lengths = TemplateFeatures(chunking(), min_count=20, dtype=bool).fit_transform(sentences)
    return X, lengths, given.labels * copies


def task(quick: bool) -> Task:
    """Return the fit that is shared out."""
    X, lengths, labels = corpus(2_000 if quick else 5_000_000)
    iterations = 3 if quick else 40
    return Task(X, lengths, labels, lambda: CRF(1.0, max_iter=iterations, tol=1e-4, run=Run(quick_start=0)))
