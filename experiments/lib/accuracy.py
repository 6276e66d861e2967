"""How good labels and their probabilities are, by figures that all models of a table have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.metrics import expected_calibration_error

SURE = 0.85
"""Share of positions that a model answers where it may abstain."""
SMALLEST = 1e-12
"""What probabilities of labels that were thought impossible count as."""

ERROR, SUREST, LIKELIHOOD, CALIBRATION = (
    "error %",
    f"error of the surest {100 * SURE:.0f} %",
    "log p per label",
    "calibration error",
)


def judged(y: Sequence[Any], marginals: Sequence[Array], classes: Any) -> dict[str, float]:
    """Return the figures of a model that answers the most probable label of every position.

    Labels that were not observed are skipped. Of the surest positions those with the largest probabilities
    are meant, whichever sequences they are in.
    """
    p = np.concatenate(list(marginals)).astype(np.float64)
    column = {label: k for k, label in enumerate(np.asarray(classes).tolist())}
    labels = [label for sequence in y for label in sequence]
    seen = np.array([label is not None for label in labels])
    # A label that the model does not know is never answered, and has no probability.
    truth = np.array([column.get(label, -1) for label in labels if label is not None])
    p = p[seen]
    wrong = p.argmax(axis=1) != truth
    surest = np.argsort(-p.max(axis=1), kind="stable")[: round(SURE * len(wrong))]
    own = np.where(truth < 0, 0.0, p[np.arange(len(truth)), truth])
    return {
        ERROR: 100 * float(wrong.mean()),
        SUREST: 100 * float(wrong[surest].mean()),
        LIKELIHOOD: float(np.log(np.maximum(own, SMALLEST)).mean()),
        CALIBRATION: expected_calibration_error(list(y), list(marginals), classes),
    }
