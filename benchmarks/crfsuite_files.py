"""Twenty models that CRFsuite trained and wrote, tagged by it and by compat: CoNLL-2002, 1,000 sentences.

Tags must be identical, marginals equal within 1e-6. What is timed is reading the largest of them, of more
than 10⁵ attributes.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pycrfsuite

from kernelfields.compat import pycrfsuite as compat

from . import _entities as entities
from ._run import Bar, Result

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "lbfgs": ("lbfgs", {"max_iterations": 30}),
    "lbfgs, c2 = 0.1": ("lbfgs", {"c2": 0.1, "max_iterations": 30}),
    "lbfgs, c2 = 0": ("lbfgs", {"c2": 0, "max_iterations": 20}),
    "l1": ("lbfgs", {"c1": 0.5, "c2": 0, "max_iterations": 30}),
    "l1 and l2": ("lbfgs", {"c1": 0.1, "c2": 0.1, "max_iterations": 30}),
    "l1, sparse": ("lbfgs", {"c1": 5.0, "c2": 0, "max_iterations": 30}),
    "all transitions": ("lbfgs", {"feature.possible_transitions": 1, "max_iterations": 20}),
    "all states": ("lbfgs", {"feature.possible_states": 1, "max_iterations": 10}),
    "frequent": ("lbfgs", {"feature.minfreq": 5, "max_iterations": 20}),
    "one step": ("lbfgs", {"max_iterations": 1}),
    "l2sgd": ("l2sgd", {"max_iterations": 5}),
    "l2sgd, c2 = 0.1": ("l2sgd", {"c2": 0.1, "max_iterations": 5}),
    "ap": ("ap", {"max_iterations": 5}),
    "ap, all transitions": ("ap", {"feature.possible_transitions": 1, "max_iterations": 5}),
    "pa": ("pa", {"max_iterations": 5}),
    "pa 2, not averaged": ("pa", {"type": 2, "averaging": 0, "max_iterations": 5}),
    "arow": ("arow", {"max_iterations": 5}),
    "real values": ("lbfgs", {"max_iterations": 20}),
    "one label": ("lbfgs", {}),
    "many attributes": ("lbfgs", {"max_iterations": 3}),
}


def run(quick: bool) -> Result:
    count, tests = (60, 20) if quick else (1000, 1000)
    training, test = entities.read("train", count), entities.read("testb", tests)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (algorithm, settings) in MODELS.items():
            path = Path(folder) / "model"
            X, y, X_test = _variant(name, training, test, quick)
            _train(path, algorithm, settings, X, y)
            rows.append({"model": name, **_compare(path, X_test)})
    bars = [
        Bar("models", len(rows), at_least=20),
        Bar("share_of_sentences_tagged_alike", min(row["alike"] for row in rows), at_least=1.0),
        Bar("largest_difference_of_marginals", max(row["difference"] for row in rows), at_most=1e-6),
        Bar("attributes_of_the_largest", rows[-1]["attributes"], at_least=1e5),
        Bar("seconds_to_read_the_largest", rows[-1]["seconds"], at_most=1.0),
    ]
    return Result("crfsuite_files", bars, {"sentences": len(test.items), "models": rows})


def _variant(
    name: str, training: entities.Sentences, test: entities.Sentences, quick: bool
) -> tuple[Any, ...]:
    """Give training sentences, labels and test sentences of a model."""
    items, labels, test_items = training.items, training.labels, test.items
    if name == "real values":
        items, test_items = ([_real(sentence) for sentence in part] for part in (items, test_items))
    elif name == "one label":
        labels = [["O"] * len(sentence) for sentence in labels]
    elif name == "many attributes":
        items = [[item | _many(s, t, quick) for t, item in enumerate(x)] for s, x in enumerate(items)]
        test_items = [
            [item | _many(s, t, quick) for t, item in enumerate(x)] for s, x in enumerate(test_items)
        ]
    return items, labels, test_items


def _real(sentence: list[entities.Item]) -> list[entities.Item]:
    return [
        {**item, "length": len(item["word.lower()"]) / 7 - 1, "place": t / len(sentence)}
        for t, item in enumerate(sentence)
    ]


def _many(s: int, t: int, quick: bool) -> entities.Item:
    """Attributes that hardly any other token has."""
    return {f"rare{k}": str(100 * s + t) for k in range(2 if quick else 4)}


def _train(path: Path, algorithm: str, settings: dict[str, Any], X: Any, y: Any) -> None:
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params=settings, verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, labels)
    trainer.train(str(path))


def _compare(path: Path, X: list[Any]) -> dict[str, Any]:
    original, ours = pycrfsuite.Tagger(), compat.Tagger()
    original.open(str(path))
    started = time.perf_counter()
    ours.open(path)
    seconds = time.perf_counter() - started
    labels, tags, marginals = original.labels(), ours.tag_all(X), ours.marginals_all(X)
    alike, difference = 0, 0.0
    for items, found, probabilities in zip(X, tags, marginals, strict=True):
        alike += original.tag(items) == found
        expected = [[original.marginal(label, t) for label in labels] for t in range(len(items))]
        given = [[p[label] for label in labels] for p in probabilities]
        difference = max(difference, float(np.abs(np.subtract(expected, given)).max()))
    return {
        "attributes": len(ours.info().attributes),
        "alike": alike / len(X),
        "difference": max(difference, 1e-300),
        "seconds": seconds,
    }
