"""The models that ``kf demo`` compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..approximation import Nystroem
from ..estimators import CRF, HMM, KernelCRF, StructuredPerceptron, StructuredSVM
from ..features.images import OrientationChannels
from ..kernels import RBF
from ..models.parts import Parts

KERNEL = RBF(gamma=0.03)
PENALTY = 0.05
STROKES = OrientationChannels((16, 8), blur=0.85)
BASIS = 600
"""Basis functions of the sparse model, an eighth of those of the dense one."""


@dataclass(frozen=True)
class DemoModel:
    """One model of the demo, a row of its table."""

    name: str
    linear: bool
    """Whether scores of letters are linear in the pixels."""
    make: Callable[[], Any]
    """Return the estimator, unfitted; settings are those of the experiments letters and letters-svm."""
    strokes: bool = False
    """Whether it sees directions of strokes instead of pixels."""

    def inputs(self, words: list[Any]) -> list[Any]:
        """Return what the model sees of words."""
        return STROKES.transform(words) if self.strokes else words


# Models with probabilities answer label by label; those without, by their best sequence.
ENTRIES = (
    DemoModel("HMM", True, lambda: HMM("bernoulli", decoder="posterior")),
    DemoModel("perceptron", True, lambda: StructuredPerceptron(random_state=0)),
    DemoModel("CRF", True, lambda: CRF(penalty=2.0, decoder="posterior")),
    DemoModel("structured SVM", True, lambda: StructuredSVM(penalty=5.0, tol=1e-2)),
    DemoModel(
        "kernel CRF, dense",
        False,
        lambda: KernelCRF(KERNEL, penalty=PENALTY, parts=Parts(bias=None), decoder="posterior"),
    ),
    DemoModel(
        "kernel CRF, sparse",
        False,
        lambda: KernelCRF(
            KERNEL,
            penalty=PENALTY,
            basis=Nystroem(BASIS),
            random_state=0,
            parts=Parts(bias=None),
            decoder="posterior",
        ),
    ),
    DemoModel(
        "kernel CRF, strokes",
        False,
        lambda: KernelCRF(RBF(gamma=0.45), penalty=0.03, parts=Parts(bias=None), decoder="posterior"),
        strokes=True,
    ),
)
