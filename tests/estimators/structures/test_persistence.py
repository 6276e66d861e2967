"""Every estimator on every structure: saved to the bit, pickled, cloned; or refused in a sentence."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from kernelfields import (
    AROW,
    CRF,
    HMM,
    MEMM,
    BoostedCRF,
    Cascade,
    GPSequenceClassifier,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    Parts,
    PassiveAggressive,
    SelfTraining,
    SequencePipeline,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    StructureLearner,
    TreeScores,
    load,
)
from kernelfields.features import each
from kernelfields.models.clique_types import Boundaries, Edges
from kernelfields.structures import Chain, Graph, Segments, Tree

from ._explicit import STRUCTURES, random_task

OBJECTS = {
    "chain": Chain(),
    "chain2": Chain(order=2),
    "segments": Segments(),
    "tree": Tree(),
    "graph": Graph(),
}
MODELS = {
    "CRF": lambda s: CRF(structure=s),
    "KernelCRF": lambda s: KernelCRF(structure=s),
    "GPSequenceClassifier": lambda s: GPSequenceClassifier(structure=s),
    "KernelLogisticRegression": lambda s: KernelLogisticRegression(structure=s),
    "StructuredSVM": lambda s: StructuredSVM(structure=s),
    "kernel SVM": lambda s: StructuredSVM("rbf", structure=s),
    "StructuredPerceptron": lambda s: StructuredPerceptron(structure=s, max_iter=2, random_state=0),
    "PassiveAggressive": lambda s: PassiveAggressive(structure=s, max_iter=2, random_state=0),
    "AROW": lambda s: AROW(structure=s, max_iter=2, random_state=0),
    "StochasticCRF": lambda s: StochasticCRF(structure=s, max_iter=2, random_state=0),
    "KernelPerceptron": lambda s: KernelPerceptron(structure=s, max_iter=2, random_state=0),
    "voting perceptron": lambda s: KernelPerceptron(
        combination="voted", structure=s, max_iter=2, random_state=0
    ),
    "BoostedCRF": lambda s: BoostedCRF(
        3, structure=s, min_samples_leaf=2, parts=Parts(edge_trees=TreeScores()), random_state=0
    ),
    "MEMM": lambda s: MEMM(structure=s),
    "Cascade": lambda s: Cascade(CRF(structure=s), CRF(structure=s), window=3, folds=2, random_state=0),
    "SelfTraining": lambda s: SelfTraining(CRF(structure=s)),
    "SequencePipeline": lambda s: SequencePipeline([each(StandardScaler())], CRF(structure=s)),
    "StructureLearner": lambda s: StructureLearner(
        KernelCRF(structure=s, parts=Parts(edges=None, boundaries=None)),
        candidates=[Edges(), Boundaries()],
        worth=0.0,
    ),
}
ABSENT = {
    ("KernelPerceptron", "chain2"): "has no scores of label triples",
    ("voting perceptron", "chain2"): "has no scores of label triples",
    ("KernelPerceptron", "segments"): "scores of labels and of one type of edges only",
    ("voting perceptron", "segments"): "scores of labels and of one type of edges only",
    ("MEMM", "segments"): "conditions a label on one other label",
    ("MEMM", "chain2"): "conditions a label on one other label",
    ("MEMM", "graph"): "conditions a label on one other label",
    ("StructureLearner", "graph"): "has no first and last",
}


def answers(model, X):
    if isinstance(model, KernelLogisticRegression):
        return model.predict_proba(X), model.predict(X)
    return model.predict_marginals(X), model.predict(X)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", list(MODELS))
def test_model(name, structure, rng, tmp_path):
    task = random_task(rng, structure, sizes=(4, 0, 5, 1, 6, 7, 3, 4, 8))
    X, y = task.inputs, task.labels
    model = MODELS[name](structure)
    if (name, structure) in ABSENT:
        with pytest.raises(InputError, match=rf"^[^.]*{ABSENT[name, structure]}[^.]*\.$"):
            model.fit(X, y)
        return
    model.fit(X, y)
    model.save(tmp_path / "model.kf")
    new = random_task(rng, structure).inputs
    expected = answers(model, new)
    for probabilities in expected[0]:
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-5)
    for other in (load(tmp_path / "model.kf"), pickle.loads(pickle.dumps(model))):
        found = answers(other, new)
        for a, b in zip(expected[0], found[0], strict=True):
            np.testing.assert_array_equal(a, b)
        assert [list(labels) for labels in found[1]] == [list(labels) for labels in expected[1]]
    copy = clone(model)
    assert copy.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert not hasattr(copy, "classes_")
    assert [list(each) for each in answers(copy.fit(X, y), new)[1]] == [list(each) for each in expected[1]]


@pytest.mark.parametrize("structure", STRUCTURES)
def test_objects_are_the_names(structure, rng):
    task = random_task(rng, structure)
    named, given = (CRF(structure=s).fit(task.inputs, task.labels) for s in (structure, OBJECTS[structure]))
    np.testing.assert_array_equal(named.coef_, given.coef_)
    assert named.structure_ == given.structure_ == OBJECTS[structure]


def test_a_hidden_markov_model_is_a_chain(rng):
    task = random_task(rng, "tree")
    with pytest.raises(InputError, match=r"^Sequence 0 of X is not an array of numbers"):
        HMM().fit(task.inputs, task.labels)
