"""CRFsuite, where python-crfsuite is installed, on attributes by their names."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from kernelfields.arrays import Array

Attributes = Sequence[Sequence[Sequence[str]]]
"""Names of the attributes of every token of every sentence."""


class CrfsuiteAnswers(NamedTuple):
    """What it says of test sentences."""

    labels: list[list[str]]
    marginals: list[Array]
    classes: list[str]
    seconds: float
    """Time of the training."""


def crfsuite_answers(
    train: Attributes, labels: Sequence[Sequence[str]], test: Attributes, penalty: float
) -> CrfsuiteAnswers | None:
    """Train with L-BFGS and the penalty (λ/2)‖w‖²; None if it is not installed."""
    try:
        import pycrfsuite  # type: ignore[import-untyped]
    except ImportError:
        return None
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": penalty / 2})  # its penalty is c2 ‖w‖²
    for tokens, tags in zip(train, labels, strict=True):
        trainer.append([list(token) for token in tokens], list(tags))
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "model"))
        started = perf_counter()
        trainer.train(path)
        seconds = perf_counter() - started
        tagger: Any = pycrfsuite.Tagger()
        tagger.open(path)
        classes = list(tagger.labels())
        found, marginals = [], []
        for tokens in test:
            found.append(list(tagger.tag([list(token) for token in tokens])))
            table = [[tagger.marginal(label, t) for label in classes] for t in range(len(tokens))]
            marginals.append(np.array(table).reshape(len(tokens), len(classes)))
        tagger.close()
    return CrfsuiteAnswers(found, marginals, classes, seconds)
