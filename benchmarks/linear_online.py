"""Online learning of linear chains: CoNLL-2000 with the CRF++ template, against CRFsuite's algorithms.

Both sides get the same attributes (only pairs of attribute and label that occur have weights), the same
settings and the same number of epochs, in turn. What is compared is the processor time of an epoch:
CRFsuite reports its own, ours is taken between two epochs. Orders differ, since each side shuffles by
itself. F1 depends on them by a tenth of a percent: means are compared, over all rounds, and of ours
over several seeds in each.
"""

from __future__ import annotations

import re
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pycrfsuite
from threadpoolctl import threadpool_limits

from kernelfields import AROW, Parts, PassiveAggressive, StructuredPerceptron
from kernelfields.metrics import entity_f1

from . import _conll2000 as conll
from ._run import Bar, Result

SEEDS = 4
SAME = {"parts": Parts(bias=None, boundaries=None), "observed_only": True}
SIDES = {
    "perceptron": ("ap", {}, StructuredPerceptron(**SAME)),
    "pa": (
        "pa",
        {"type": 1, "c": 1.0, "error_sensitive": True, "averaging": True},
        PassiveAggressive(**SAME),
    ),
    "arow": ("arow", {"variance": 1.0, "gamma": 1.0}, AROW(**SAME)),
}


def run(quick: bool) -> Result:
    rounds, limit, epochs = (1, 300, 2) if quick else (5, None, 10)
    corpus, test = conll.read("train", limit), conll.read("test", limit)
    data, extractor = conll.featurise(corpus)
    X_test, test_lengths = extractor.transform(test.sentences)
    lists = conll.attribute_lists(conll.Featurised(X_test, test_lengths, extractor.names()))
    items = [pycrfsuite.ItemSequence(tokens) for tokens in conll.attribute_lists(data)]
    found: dict[str, list[dict[str, float]]] = {name: [] for name in SIDES}
    for k in range(rounds):
        for name, (algorithm, settings, model) in SIDES.items():
            theirs, tags = _crfsuite(algorithm, settings, epochs, items, corpus.labels, lists)
            seconds, f1 = [], []
            for seed in range(SEEDS):
                model.set_params(max_iter=epochs, random_state=k * SEEDS + seed)
                with threadpool_limits(1):
                    seconds.append(_ours(model, data, corpus.labels))
                predicted = model.predict(X_test, lengths=test_lengths)
                f1.append(100 * entity_f1(test.labels, predicted))
            found[name].append(
                {
                    "crfsuite_seconds": theirs,
                    "seconds": median(seconds),
                    "crfsuite_f1": 100 * entity_f1(test.labels, tags),
                    "f1": fmean(f1),
                }
            )
    table = [{"rule": name, **_summary(runs)} for name, runs in found.items()]
    bars = [Bar(f"{row['rule']}_epoch_speedup", row["speedup"], at_least=4) for row in table]
    bars.append(Bar("worst_f1_difference", min(row["f1_difference"] for row in table), at_least=-0.1))
    return Result("linear_online", bars, {"rounds": rounds, "epochs": epochs, "rules": table})


def _summary(runs: list[dict[str, float]]) -> dict[str, float]:
    """Medians of times, means of F1."""
    result = {key: (fmean if key.endswith("f1") else median)([run[key] for run in runs]) for key in runs[0]}
    result["speedup"] = result["crfsuite_seconds"] / result["seconds"]
    result["f1_difference"] = result["f1"] - result["crfsuite_f1"]
    return result


def _ours(model: Any, data: conll.Featurised, labels: list[list[str]]) -> float:
    """Fit; give the median processor time of an epoch."""
    ends: list[float] = []
    model.set_params(run__callback=lambda progress: ends.append(time.process_time()))
    model.fit(data.X, labels, lengths=data.lengths)
    return median(after - before for before, after in pairwise(ends))


def _crfsuite(
    algorithm: str,
    settings: dict[str, Any],
    epochs: int,
    items: list[Any],
    labels: list[list[str]],
    test: list[list[list[str]]],
) -> tuple[float, list[list[str]]]:
    """Train; give the median processor time of an epoch but the first, and labels of the test part."""
    trainer = pycrfsuite.Trainer(algorithm=algorithm, verbose=True)
    lines: list[str] = []
    trainer.message = lines.append
    for sequence, right in zip(items, labels, strict=True):
        trainer.append(sequence, right)
    trainer.set_params({**settings, "max_iterations": epochs, "epsilon": 0.0})
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        tags = [tagger.tag(tokens) for tokens in test]
    seconds = re.findall(r"Seconds required for this iteration: ([\d.]+)", "".join(lines))
    return median(map(float, seconds[1:])), tags
