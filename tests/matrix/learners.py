"""The estimators of the matrix, each with the values that its options take."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kernelfields import (
    AROW,
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    Cascade,
    ClassifierMarkovModel,
    GPSequenceClassifier,
    HiddenStates,
    HiddenUnitCRF,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    LabelPropagation,
    LabelSpreading,
    PassiveAggressive,
    PoissonLearning,
    SelfTraining,
    SequenceAdaBoost,
    SequencePipeline,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    StructureLearner,
    TransductiveSVM,
)

from . import tables
from .settings import Setting


@dataclass(frozen=True)
class Learner:
    """An estimator: how cases make it, and what they may set."""

    name: str
    make: Callable[..., Any]
    settings: list[Setting]
    base: Mapping[str, Any] = field(default_factory=dict)
    """What every case sets: small sizes and a seed."""
    values: str = "fractions"
    """Which numbers it learns from: "fractions", "counts", "binary", or "symbols" in a single column."""

    @property
    def fit_parameters(self) -> list[str]:
        """Names of what its `fit` takes."""
        return list(inspect.signature(self.make.fit).parameters)

    def default(self, option: str) -> Any:
        """Give what an option is where nobody sets it."""
        name, _, inner = option.partition("__")
        default = self.base.get(name, inspect.signature(self.make).parameters[name].default)
        return getattr(default, inner) if inner else default


SEED = {"random_state": 0}
FAMILIES = {
    "gaussian": "fractions",
    "gaussian-spherical": "fractions",
    "gaussian-full": "fractions",
    "gaussian-tied": "fractions",
    "gaussian-mixture": "fractions",
    "categorical": "symbols",
    "multinomial": "counts",
    "poisson": "counts",
    "bernoulli": "binary",
}
HIDDEN = [
    Learner(f"HMM-{family}", HMM, tables.hidden(), {"emissions": family, **SEED}, values)
    for family, values in FAMILIES.items()
]
LEARNERS = {
    learner.name: learner
    for learner in (
        Learner("CRF", CRF, tables.linear_field(), SEED),
        Learner("KernelCRF", KernelCRF, tables.kernel_field(), SEED),
        Learner("GPSequenceClassifier", GPSequenceClassifier, tables.gaussian_process(), SEED),
        Learner("KernelLogisticRegression", KernelLogisticRegression, tables.logistic(), SEED),
        Learner("TransductiveSVM", TransductiveSVM, tables.transductive()),
        Learner("LabelSpreading", LabelSpreading, [*tables.label_graph(), *tables.options(alpha=0.9)]),
        Learner("LabelPropagation", LabelPropagation, tables.label_graph()),
        Learner("PoissonLearning", PoissonLearning, tables.label_graph()),
        Learner("StructuredSVM", StructuredSVM, tables.margin(), {"max_iter": 10, **SEED}),
        Learner("StructuredPerceptron", StructuredPerceptron, tables.perceptron(), {"max_iter": 3, **SEED}),
        Learner("PassiveAggressive", PassiveAggressive, tables.passive_aggressive(), {"max_iter": 3, **SEED}),
        Learner("AROW", AROW, tables.arow(), {"max_iter": 3, **SEED}),
        Learner("StochasticCRF", StochasticCRF, tables.stochastic_field(), {"max_iter": 3, **SEED}),
        Learner("KernelPerceptron", KernelPerceptron, tables.kernel_perceptron(), {"max_iter": 3, **SEED}),
        Learner("MEMM", MEMM, tables.memm(), SEED),
        *HIDDEN,
        Learner("BoostedCRF", BoostedCRF, tables.boosted(), {"max_iter": 3, "min_samples_leaf": 2, **SEED}),
        Learner("SequenceAdaBoost", SequenceAdaBoost, tables.sequence_boosting(), {"n_rounds": 10, **SEED}),
        Learner(
            "ClassifierMarkovModel",
            ClassifierMarkovModel,
            tables.classifiers(),
            {**tables.classified(), **SEED},
        ),
        Learner("Cascade", Cascade, tables.cascade(), {**tables.cascaded(), **SEED}),
        Learner("HiddenStates", HiddenStates, tables.hidden_states(), {**tables.owning(), **SEED}),
        Learner("HiddenUnitCRF", HiddenUnitCRF, tables.hidden_units(), {"n_units": 3, **SEED}),
        Learner("SelfTraining", SelfTraining, tables.self_training(), tables.self_trained()),
        Learner("SequencePipeline", SequencePipeline, tables.pipeline(), tables.piped()),
        Learner("StructureLearner", StructureLearner, tables.structure(), tables.extended()),
    )
}
