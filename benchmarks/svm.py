"""Structured SVMs beside CRFs on the same data: CPU seconds on one core.

Margin rescaling to a certified relative gap of 1e-2 against the log loss to 1e-3: CoNLL-2000 with the CRF++
template, parts of speech of 8,000 sentences (a tenth of which is not learnt from, as in the experiment
``pos-table``), universal ones on 8,000 dependency trees, and handwritten letters, fold 0, with a cubic
kernel. Both sides have all weights and the same penalty. ``observed`` is a CRF with weights for those pairs
only that occur, which an SVM does not have.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from experiments.lib.gram import sequences_of
from experiments.lib.tasks import Texts, first, text_task, web_texts
from kernelfields import CRF, KernelCRF, Parts, StructuredSVM
from kernelfields.datasets import load_letters, load_ud_trees
from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import pos
from kernelfields.kernels import Polynomial

from . import _conll2000 as conll
from ._run import Bar, Result

GAP = 1e-2


def run(quick: bool) -> Result:
    rounds = 1 if quick else 3
    parts = {
        "conll2000_over_crf": _chunks(quick, rounds),
        "pos_over_crf": _tags(quick, rounds),
        "trees_over_crf": _trees(quick, rounds),
        "letters_over_kernel_crf": _letters(quick, rounds),
    }
    bars = [Bar(name, part["svm"] / part["crf"], at_most=3) for name, part in parts.items()]
    return Result("svm", bars, {"rounds": rounds, **parts})


def _chunks(quick: bool, rounds: int) -> dict[str, float]:
    corpus = conll.read("train", 100 if quick else None)
    data, _ = conll.featurise(corpus)
    labels = np.array([label for sequence in corpus.labels for label in sequence])
    settings = {"penalty": 2.0, "parts": Parts(bias=None, boundaries=None)}
    return _linear(data.X, labels, data.lengths, settings, rounds)


def _tags(quick: bool, rounds: int) -> dict[str, float]:
    texts = web_texts(20 if quick else 1600, 0)
    task = text_task(Texts(first(texts.learn, 60 if quick else 8000), texts.test), pos(), 0.1)
    labels = np.array([label for sequence in task.train.labels for label in sequence])
    lengths = np.array([len(sequence) for sequence in task.train.labels])
    X = sparse.vstack(task.train.features).tocsr()
    return _linear(X, labels, lengths, {"penalty": 10.0}, rounds)


def _trees(quick: bool, rounds: int) -> dict[str, float]:
    """Parts of speech of words given those of their heads."""
    bank = load_ud_trees("train")
    chosen = np.random.default_rng(0).permutation(len(bank.sentences))[: 60 if quick else 8000]
    matrix, lengths = TemplateFeatures(pos(), dtype=np.float32).fit_transform(
        [bank.sentences[k] for k in chosen]
    )
    parents = [bank.parents[k] for k in chosen]
    X = list(zip(sequences_of(matrix, lengths), parents, strict=True))
    y = [bank.labels[k] for k in chosen]
    settings = {"penalty": 10.0, "structure": "tree"}
    sides = {
        "svm": lambda: StructuredSVM(tol=GAP, **settings).fit(X, y),
        "crf": lambda: CRF(tol=1e-3, **settings).fit(X, y),
    }
    return _sides(sides, rounds)


def _linear(X: Any, y: Any, lengths: Any, settings: dict[str, Any], rounds: int) -> dict[str, float]:
    sides = {
        "svm": lambda: StructuredSVM(tol=GAP, **settings).fit(X, y, lengths=lengths),
        "crf": lambda: CRF(tol=1e-3, **settings).fit(X, y, lengths=lengths),
        "observed": lambda: CRF(tol=1e-3, observed_only=True, **settings).fit(X, y, lengths=lengths),
    }
    return _sides(sides, rounds)


def _letters(quick: bool, rounds: int) -> dict[str, float]:
    X, y = (part[:40] if quick else part for part in load_letters().split(0))
    kernel = Polynomial(degree=3, gamma=0.05, offset=1.0)
    settings = {"penalty": 1.0, "parts": Parts(bias=None)}
    sides = {
        "svm": lambda: StructuredSVM(kernel, tol=GAP, **settings).fit(X, y),
        "crf": lambda: KernelCRF(kernel, **settings).fit(X, y),
    }
    return _sides(sides, rounds)


def _sides(sides: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Medians of CPU seconds, in turn on one thread, with what the SVM reached."""
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    with ThreadpoolController().limit(limits=1):
        for _ in range(rounds):
            for name, call in sides.items():
                started = time.process_time()
                model = call()
                seconds[name].append(time.process_time() - started)
                if name == "svm":
                    reached = {"gap": model.certificate_.relative_gap, "passes": float(model.n_iter_)}
                    assert reached["gap"] <= GAP
    return {**{name: median(values) for name, values in seconds.items()}, **reached}
