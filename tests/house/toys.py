"""A fit and a prediction of every estimator, on data of a few rows."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

import kernelfields as kf
from kernelfields import Parts, estimators
from kernelfields.features import Windows
from kernelfields.models.clique_types import Edges

WORDS = [[("Anna", "N"), ("met", "V"), ("Bob", "N")], [("Rain", "N"), ("in", "P"), ("Paris", "N")]]
ENTITIES = [["B-PER", "O", "B-PER"], ["O", "O", "B-LOC"]]
VECTORS = [[[0.1, 1.0], [0.9, 0.0], [0.8, 0.5]], [[0.9, 0.3], [0.2, 0.7]], [[0.2, 0.9], [0.7, 0.1]]]
LABELS = [["low", "high", "high"], ["high", "low"], ["low", "high"]]
ROWS = [row for rows in VECTORS for row in rows]
CLASSES = [label for labels in LABELS for label in labels]


class Toy(NamedTuple):
    """An estimator with the arguments of its `fit`; it predicts for the first of them."""

    model: Any
    data: tuple[list[Any], ...]


def public_estimators() -> dict[str, type]:
    """Return the classes with `fit` in `kernelfields` and `kernelfields.estimators`, by name."""
    public = {name: getattr(module, name) for module in (estimators, kf) for name in module.__all__}
    return {name: thing for name, thing in public.items() if inspect.isclass(thing) and hasattr(thing, "fit")}


def toys() -> dict[str, Toy]:
    """Return a toy of every estimator by name, with default settings wherever these allow a quick fit."""
    names = [Toy(kf.CRF(features="ner"), (WORDS, ENTITIES))]
    sequences = [
        kf.AROW(random_state=0),
        kf.BoostedCRF(2, min_samples_leaf=1, random_state=0),
        kf.Cascade(kf.CRF(), kf.CRF(), folds=2, random_state=0),
        kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear")),
        kf.GPSequenceClassifier(random_state=0),
        kf.HMM(random_state=0),
        kf.HiddenStates(kf.CRF(), n_init=1, random_state=0),
        kf.HiddenUnitCRF(n_units=2, random_state=0),
        kf.KernelCRF(random_state=0),
        kf.KernelPerceptron(random_state=0),
        kf.MEMM(random_state=0),
        kf.PassiveAggressive(random_state=0),
        kf.SequenceAdaBoost(5, random_state=0),
        kf.SequencePipeline([Windows(3)], kf.CRF()),
        kf.StochasticCRF(random_state=0),
        kf.StructureLearner(kf.KernelCRF(parts=Parts(edges=None)), candidates=[Edges()]),
        kf.StructuredPerceptron(random_state=0),
        kf.StructuredSVM(random_state=0),
    ]
    rows = [kf.KernelLogisticRegression(random_state=0)]
    partly = [kf.LabelPropagation(), kf.LabelSpreading(), kf.PoissonLearning(), kf.TransductiveSVM()]
    clusters = [cls(2, n_init=1, random_state=0) for cls in (kf.FieldClustering, kf.SequenceClustering)]
    everything = [
        *names,
        *(Toy(model, (VECTORS, LABELS)) for model in sequences),
        *(Toy(model, (ROWS, CLASSES)) for model in rows),
        *(Toy(model, (ROWS, [*CLASSES[:-1], None])) for model in partly),
        *(Toy(model, (VECTORS,)) for model in clusters),
        Toy(kf.SelfTraining(kf.CRF()), (VECTORS, [*LABELS[:-1], None])),
        Toy(kf.MarkovField(), (LABELS,)),
    ]
    return {type(toy.model).__name__: toy for toy in everything}


def count_parameters(estimator: type) -> int:
    """Return the number of parameters of a constructor, without self."""
    return len(inspect.signature(estimator).parameters)
