"""What training a linear CRF costs as data and labels grow: seconds, and the exponent of a power law.

Data: CoNLL-2000 with the CRF++ template, 1/8 to 8 times its sentences. Beyond the corpus, sentences come
again with every word replaced by one that has the same part of speech somewhere in the corpus: label
sequences stay what they are, word pairs are new, and the vocabulary keeps growing. Labels: one pass over
random sparse features with 5 to 200 labels. Bars: seconds of a fit grow at most as the 1.1th power of tokens,
and seconds of a pass over L², the number of label pairs, at most as L to the 0.1.
"""

from __future__ import annotations

import time
from collections import defaultdict
from typing import Any

import numpy as np
from scipy import sparse

from kernelfields import CRF, Parts
from kernelfields.losses import LogLoss
from kernelfields.objective import Term, linear_chain_problem
from kernelfields.spaces import Free, SparseFeatures
from kernelfields.structures import ChainBatch

from . import _conll2000 as conll
from ._run import Bar, Result

SHARES = (1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
LABELS = (5, 10, 20, 50, 100, 200)


def run(quick: bool) -> Result:
    corpus = conll.read("train", 100 if quick else None)
    rows = [_fit(corpus, share) for share in (SHARES[:3] if quick else SHARES)]
    passes = [_one_pass(L, 20 if quick else 2000) for L in (LABELS[:3] if quick else LABELS)]
    details: dict[str, Any] = {
        "data": rows,
        "labels": passes,
        "exponent_data": _exponent([r["tokens"] for r in rows], [r["seconds"] for r in rows]),
        "exponent_data_per_evaluation": _exponent(
            [r["tokens"] for r in rows], [r["seconds_per_evaluation"] for r in rows]
        ),
        "exponent_labels": _exponent([r["labels"] for r in passes], [r["seconds"] for r in passes]),
        "exponent_labels_from_50": _exponent(
            [r["labels"] for r in passes][-3:], [r["seconds"] for r in passes][-3:]
        ),
    }
    bars = [
        Bar("exponent_data", details["exponent_data"], at_most=1.1),
        Bar("exponent_labels_per_pair", details["exponent_labels"] - 2, at_most=0.1),
    ]
    return Result("linear_crf_cost", bars, details)


def grown(corpus: conll.Corpus, share: float) -> conll.Corpus:
    """A share of the corpus, or several times the corpus with other words."""
    count = round(share * len(corpus.sentences))
    if share <= 1:
        return conll.Corpus(corpus.sentences[:count], corpus.labels[:count])
    rng = np.random.default_rng(0)
    words = defaultdict(list)
    for sentence in corpus.sentences:
        for word, tag in sentence:
            words[tag].append(word)
    sentences = list(corpus.sentences)
    for _ in range(round(share) - 1):
        for sentence in corpus.sentences:
            picks = rng.random(len(sentence))
            sentences.append(
                [
                    (words[tag][int(u * len(words[tag]))], tag)
                    for (_, tag), u in zip(sentence, picks, strict=True)
                ]
            )
    return conll.Corpus(sentences, corpus.labels * round(share))


def _fit(corpus: conll.Corpus, share: float) -> dict[str, Any]:
    part = grown(corpus, share)
    data, _ = conll.featurise(part)
    flat = np.array([label for labels in part.labels for label in labels])
    model = CRF(penalty=2.0, parts=Parts(bias=None, boundaries=None), observed_only=True, tol=1e-3)
    started = time.perf_counter()
    model.fit(data.X, flat, lengths=data.lengths)
    seconds = time.perf_counter() - started
    return {
        "share": share,
        "tokens": len(flat),
        "features": data.X.shape[1],
        "seconds": seconds,
        "iterations": model.n_iter_,
        "seconds_per_evaluation": seconds / (model.n_iter_ + 1),
    }


def _one_pass(n_labels: int, sequences: int) -> dict[str, Any]:
    """Value and gradient once, the median of three; 25 positions of 20 features each."""
    rng = np.random.default_rng(n_labels)
    lengths = np.full(sequences, 25)
    N = int(lengths.sum())
    columns = np.minimum(rng.zipf(1.3, size=20 * N) - 1, 50_000).astype(np.int32)
    X = sparse.csr_matrix((np.ones(20 * N, np.float32), columns, np.arange(0, 20 * N + 1, 20)), (N, 50_001))
    X.sum_duplicates()
    X.data[:] = 1
    labels = rng.integers(n_labels, size=N).astype(np.int32)
    chain = ChainBatch(np.concatenate([[0], np.cumsum(lengths)]), n_labels)
    terms = [Term("features", SparseFeatures(chain, "node", X), 1.0), Term("edges", Free(chain, "edge"), 1.0)]
    problem = linear_chain_problem(LogLoss(chain, labels), terms, None, np.float32)
    element = rng.normal(size=problem.size).astype(np.float32)
    seconds = []
    for _ in range(3):
        started = time.perf_counter()
        problem.at(element)
        seconds.append(time.perf_counter() - started)
    return {"labels": n_labels, "seconds": float(np.median(seconds))}


def _exponent(sizes: list[float], seconds: list[float]) -> float:
    """The slope of log seconds over log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
