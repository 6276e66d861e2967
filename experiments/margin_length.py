"""When the cost dominates the margin: margin and slack rescaling on short and on long sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelfields.estimators import StructuredSVM
from kernelfields.losses import Hinge, MarginHinge, SlackHinge, hamming_cost
from kernelfields.metrics import token_error
from kernelfields.structures import ChainBatch

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.results import Outcome, Row


@dataclass(frozen=True)
class MarginLengthSettings:
    """The training folds and the models trained on them."""

    lengths: list[int]
    """Of sequences; each in turn."""
    positions: int
    """To train on, and to test on, whatever the length."""
    noise: float
    """Standard deviation of the observation of a label, a unit vector."""
    stay: float
    """Probability that a label is that of its neighbour."""
    penalty: float
    tol: float
    seed: int


def run(settings: MarginLengthSettings, report: Report) -> Outcome:
    """Train with both rescalings on the same number of positions, cut into sequences of each length."""
    rows = []
    for length in settings.lengths:
        report(f"sequences of length {length}")
        rows += [_row(length, rescaling, settings) for rescaling in ("margin", "slack")]
    claims = [Claim("largest_relative_gap", max(row["gap"] for row in rows), at_most=settings.tol)]
    notes = [
        "Three labels seen through noise, chains that tend to keep their label. 'worst' is the labelling "
        "whose constraint is violated most: its share of wrong labels, and how far its score is below "
        "that of the observed labels."
    ]
    return Outcome("margin-length", claims, rows, notes=notes)


def _row(length: int, rescaling: str, settings: MarginLengthSettings) -> Row:
    random = np.random.default_rng(settings.seed)
    X, y = _sequences(length, settings, random)
    X_test, y_test = _sequences(length, settings, random)
    svm = StructuredSVM(penalty=settings.penalty, rescaling=rescaling, tol=settings.tol).fit(X, y)
    chain, scores, _ = svm._batch(X, None, None)
    assert isinstance(chain, ChainBatch)
    assert svm.certificate_ is not None
    labels = np.searchsorted(svm.classes_, np.concatenate(y)).astype(np.int32)
    slack = rescaling == "slack"
    loss: Hinge = (
        SlackHinge(chain, labels) if slack else MarginHinge(chain, labels, hamming_cost(chain, labels))
    )
    worst = loss.planes(scores)
    below = chain.score(scores, labels) - chain.score(scores, worst.outputs)
    return {
        "length": length,
        "rescaling": rescaling,
        "worst, wrong %": 100 * float(np.mean(worst.outputs != labels)),
        "worst, score below": float(below.mean()),
        "test error %": 100 * token_error(y_test, svm.predict(X_test)),
        "gap": svm.certificate_.relative_gap,
        "iterations": float(svm.n_iter_),
    }


def _sequences(
    length: int, settings: MarginLengthSettings, random: np.random.Generator
) -> tuple[list[Any], list[Any]]:
    X, y = [], []
    for _ in range(settings.positions // length):
        labels = [int(random.integers(3))]
        for _ in range(length - 1):
            stays = random.random() < settings.stay
            labels.append(labels[-1] if stays else int(random.integers(3)))
        X.append(np.eye(3)[labels] + settings.noise * random.normal(size=(length, 3)))
        y.append(labels)
    return X, y


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the wrong labels of the worst labelling, and the test error, against the length."""
    panels = figure.subplots(1, 2)
    for panel, column in zip(panels, ("worst, wrong %", "test error %"), strict=True):
        for rescaling in ("margin", "slack"):
            mine = [row for row in outcome.rows if row["rescaling"] == rescaling]
            panel.plot([row["length"] for row in mine], [row[column] for row in mine], "o-", label=rescaling)
        panel.set_xscale("log")
        panel.set_xlabel("length of sequences")
        panel.set_ylabel(column)
        panel.grid(alpha=0.3)
        panel.legend()


MARGIN_LENGTH = Experiment(
    "margin-length",
    "structured SVMs: when the cost dominates the margin on long sequences",
    "none: the sequences are drawn",
    MarginLengthSettings,
    run,
    draw,
)
