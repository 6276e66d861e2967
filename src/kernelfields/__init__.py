"""Structured prediction with probabilities.

Names are looked up when they are first used: ``import kernelfields`` alone loads nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .lazy import submodule

if TYPE_CHECKING:
    from . import distributed
    from .errors import InfeasibleError, InputError, ModelFormatError, ScoreError
    from .estimators import (
        AROW,
        CRF,
        HMM,
        MEMM,
        BoostedCRF,
        Cascade,
        ClassifierMarkovModel,
        CliqueMeasures,
        FieldClustering,
        GPSequenceClassifier,
        HiddenStates,
        HiddenUnitCRF,
        KernelCRF,
        KernelLogisticRegression,
        KernelPerceptron,
        LabelPropagation,
        LabelSpreading,
        MarkovField,
        PassiveAggressive,
        PoissonLearning,
        SelfTraining,
        SequenceAdaBoost,
        SequenceClustering,
        SequencePipeline,
        StochasticCRF,
        StructuredPerceptron,
        StructuredSVM,
        StructureLearner,
        TransductiveSVM,
        load,
    )
    from .files.read import read
    from .fitting.evidence_tuning import tune_by_evidence
    from .fitting.run_settings import Run
    from .models.parts import FixedScores, FreeScores, KernelScores, LinearScores, Parts, TreeScores
    from .persistence.registered import register
    from .trials.comparing import compare
    from .trials.tuning import tune

    __version__: str

__all__ = [
    "AROW",
    "CRF",
    "HMM",
    "MEMM",
    "BoostedCRF",
    "Cascade",
    "ClassifierMarkovModel",
    "CliqueMeasures",
    "FieldClustering",
    "FixedScores",
    "FreeScores",
    "GPSequenceClassifier",
    "HiddenStates",
    "HiddenUnitCRF",
    "InfeasibleError",
    "InputError",
    "KernelCRF",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "KernelScores",
    "LabelPropagation",
    "LabelSpreading",
    "LinearScores",
    "MarkovField",
    "ModelFormatError",
    "Parts",
    "PassiveAggressive",
    "PoissonLearning",
    "Run",
    "ScoreError",
    "SelfTraining",
    "SequenceAdaBoost",
    "SequenceClustering",
    "SequencePipeline",
    "StochasticCRF",
    "StructureLearner",
    "StructuredPerceptron",
    "StructuredSVM",
    "TransductiveSVM",
    "TreeScores",
    "__version__",
    "compare",
    "distributed",
    "load",
    "read",
    "register",
    "tune",
    "tune_by_evidence",
]

_ESTIMATORS = "estimators"
_HOMES = {
    "InfeasibleError": "errors",
    "InputError": "errors",
    "ModelFormatError": "errors",
    "ScoreError": "errors",
    "Run": "fitting.run_settings",
    **dict.fromkeys(
        ["FixedScores", "FreeScores", "KernelScores", "LinearScores", "Parts", "TreeScores"], "models.parts"
    ),
    "read": "files",
    "register": "persistence.registered",
    "compare": "trials.comparing",
    "tune": "trials.tuning",
    "tune_by_evidence": "fitting.evidence_tuning",
}
"""Where names are from that are no estimators."""


def __getattr__(name: str) -> Any:
    """Return a name of `__all__`, a package or a module, imported now."""
    if name == "__version__":
        from importlib.metadata import version

        found: Any = version(__name__)
    elif name in __all__ and name != "distributed":
        found = getattr(import_module(f".{_HOMES.get(name, _ESTIMATORS)}", __name__), name)
    else:
        found = submodule(__name__, name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return what there is for users."""
    return sorted({*globals(), *__all__})
