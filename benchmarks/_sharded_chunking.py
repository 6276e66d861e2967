"""CoNLL-2000 again and again, with new words each time: one thread here, one worker, two workers."""

from __future__ import annotations

import statistics
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

from kernelfields import CRF, distributed
from kernelfields.features import TemplateFeatures
from kernelfields.features.sets import chunking

from . import _conll2000

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


def measured(quick: bool, tokens: int = 5_000_000) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Return ratios of whole fits, and a row for every side: fits take turns."""
    X, lengths, labels = corpus(2_000 if quick else tokens)
    # The same shards, so that both searches take the same steps, whoever evaluates them.
    sides: dict[str, tuple[int, int] | None] = {
        "here": None,
        "one worker": (1, 1),
        "one worker, two shards": (1, 2),
        "two workers": (2, 2),
    }
    rounds, iterations = (1, 3) if quick else (1, 60)
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    values = {}
    for _ in range(rounds):
        for name, shares in sides.items():
            took, values[name] = _fit(X, lengths, labels, shares, iterations)
            seconds[name].append(took)
    median = {name: statistics.median(each) for name, each in seconds.items()}
    rows = [
        {
            "side": name,
            "seconds": median[name],
            "objective": values[name],
            "tokens": X.shape[0],
            "features": X.shape[1],
        }
        for name in sides
    ]
    for value in values.values():  # searches end at the limit of iterations, by paths that differ in digits
        np.testing.assert_allclose(value, values["here"], rtol=1e-2)
    return {
        "two_workers_speedup": median["one worker, two shards"] / median["two workers"],
        "one_worker_over_local": median["one worker"] / median["here"],
    }, rows


def _fit(
    X: Any, lengths: Any, labels: Any, shares: tuple[int, int] | None, iterations: int
) -> tuple[float, float]:
    """Return the seconds of a fit by so many workers with so many shards, and where it came to."""
    model = CRF(1.0, max_iter=iterations, tol=1e-4, quick_start=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if shares is None:
            started = time.perf_counter()
            model.fit(X, labels, lengths=lengths)
            return time.perf_counter() - started, model.certificate_.value
        with cluster(shares[0]) as client, distributed.use(client, shards=shares[1]):
            started = time.perf_counter()
            model.fit(X, labels, lengths=lengths)
            return time.perf_counter() - started, model.certificate_.value


class cluster:  # noqa: N801  # used like a function
    """A cluster of single-threaded workers of this machine, listening on loopback only."""

    def __init__(self, workers: int) -> None:
        from distributed import Client, LocalCluster

        self._cluster = LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            host="127.0.0.1",
            memory_limit=0,
        )
        self._client = Client(self._cluster)

    def __enter__(self) -> Any:
        return self._client

    def __exit__(self, *_: object) -> None:
        self._client.close()
        self._cluster.close()
