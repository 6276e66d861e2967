"""A tree that is a path is a chain, however its vertices are numbered, with every option of estimators."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernelfields import (
    AROW,
    CRF,
    MEMM,
    BoostedCRF,
    Cascade,
    CliqueMeasures,
    FixedScores,
    FreeScores,
    GPSequenceClassifier,
    KernelCRF,
    KernelPerceptron,
    KernelScores,
    LinearScores,
    Parts,
    PassiveAggressive,
    Run,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    StructureLearner,
    TreeScores,
)
from kernelfields.approximation import IncompleteCholesky, Nystroem, RandomFourier
from kernelfields.constraints import Constraints
from kernelfields.kernels import RBF
from kernelfields.losses import ErrorFunction, Log
from kernelfields.models.clique_types import Boundaries, Edges, FurtherKernel, InputEdges
from kernelfields.objective import L1Norm, SpaceNorm
from kernelfields.selection import SGPS, SGSA, GreedyCliques, InTurn, WholeSequences
from kernelfields.testing import labelled_sequences

K, FINE = RBF(gamma=0.5), {"tol": 1e-9}
RULE = Constraints([("red", "blue")], ["zebra"], ["zebra"])
CONVEX = {
    "plain": CRF(**FINE),
    "bare": CRF(parts=Parts(bias=None, boundaries=None), **FINE),
    "edge features": CRF(parts=Parts(edge_features=LinearScores()), **FINE),
    "class weights": CRF(loss=Log(class_weight="balanced"), **FINE),
    "rule": CRF(constraints=RULE, **FINE),
    "more classes": CRF(classes=["red", "green", "blue", "zebra"], **FINE),
    "l1": CRF(l1=0.3, tol=1e-7),
    "cost": CRF(loss=Log({"red": 2.0}), **FINE),
    "cost of pairs": CRF(loss=Log(1.0 - np.eye(9).reshape(3, 3, 3, 3)), **FINE),
    "norm of pairs": CRF(parts=Parts(edges=FreeScores(norm=L1Norm(0.3))), tol=1e-7),
    "norm of a space": CRF(parts=Parts(features=LinearScores(norm=SpaceNorm(0.3))), tol=1e-7),
    "kernel, norm": KernelCRF(
        K, parts=Parts(kernel=KernelScores(norm=SpaceNorm(0.3))), run=Run(dtype="float64"), tol=1e-7
    ),
    "kernel of both ends": KernelCRF(
        K, parts=Parts(both_ends=KernelScores(K, on="edge", view="all", penalty=1.0)), **FINE
    ),
    "measure of pairs": CRF(
        parts=Parts(known=FixedScores(CliqueMeasures(edge=np.arange(9.0).reshape(3, 3) / 9))), **FINE
    ),
    "newton": CRF(solver="newton-cg", **FINE),
    "blocks": CRF(solver="block-jacobi", **FINE),
    "subspace": CRF(solver="subspace", **FINE),
    "conjugate": CRF(solver="conjugate-gradients", **FINE),
    "kernel": KernelCRF(K, **FINE),
    "kernel on edges": KernelCRF(K, parts=Parts(edge_kernel=KernelScores()), **FINE),
    "kernel on labels": KernelCRF(K, parts=Parts(kernel=KernelScores(labels=np.eye(3) + 0.5)), **FINE),
    "kernel by label": KernelCRF({"red": K, "green": RBF(gamma=2.0), "blue": K}, **FINE),
    "kernels": KernelCRF([K, "linear"], penalty=[1.0, 2.0], **FINE),
    "kernel, rule": KernelCRF(K, constraints=RULE, **FINE),
    "base measure": KernelCRF(K, parts=Parts(known=FixedScores({"red": 1.0})), **FINE),
    "kernel, class weights": KernelCRF(K, loss=Log(class_weight={"red": 2.0}), **FINE),
    "kernel, blocks": KernelCRF(K, solver="block-jacobi", **FINE),
    "process": GPSequenceClassifier(K, **FINE),
    "SVM": StructuredSVM(tol=1e-7),
    "SVM, slack": StructuredSVM(rescaling="slack", tol=1e-5),
    "SVM, 0/1": StructuredSVM(rescaling="zero-one", tol=1e-5),
    "SVM, rule": StructuredSVM(constraints=RULE, tol=1e-6),
    "SVM, function": StructuredSVM(cost=ErrorFunction(np.sqrt), tol=1e-6),
    "SVM, function, slack": StructuredSVM(cost=ErrorFunction(np.sqrt), rescaling="slack", tol=1e-5),
    "SVM, pairs": StructuredSVM(cost=1.0 - np.eye(9).reshape(3, 3, 3, 3), tol=1e-6),
    "MEMM": MEMM(**FINE),
    "learner": StructureLearner(
        KernelCRF(K, parts=Parts(edges=None, boundaries=None), **FINE),
        candidates=[Edges(), Boundaries(), InputEdges("linear"), FurtherKernel("linear", 1.0)],
        worth=1e-3,
    ),
}
OTHERS = {
    "log loss of labels": (CRF(loss="marginal-log", **FINE), 1e-3),
    "kernel, log loss of labels": (KernelCRF(K, loss="marginal-log", **FINE), 1e-3),
    "Nyström": (KernelCRF(K, basis=Nystroem(12), random_state=0, **FINE), 1e-3),
    "Cholesky": (KernelCRF(K, basis=IncompleteCholesky(12), **FINE), 1e-3),
    "Fourier": (KernelCRF(K, basis=RandomFourier(40), random_state=0, **FINE), 1e-3),
    "SGPS": (KernelCRF(K, basis=SGPS(size=30, order=InTurn()), **FINE), 1e-3),
    "SGSA": (KernelCRF(K, basis=SGSA(size=30, order=InTurn()), **FINE), 1e-3),
    "whole": (KernelCRF(K, basis=WholeSequences(size=30, order=InTurn()), **FINE), 1e-3),
    "cliques": (KernelCRF(K, basis=GreedyCliques(size=30), **FINE), 1e-3),
    "cliques on edges": (
        KernelCRF(K, parts=Parts(edge_kernel=KernelScores()), basis=GreedyCliques(size=30), **FINE),
        1e-3,
    ),
    "perceptron": (StructuredPerceptron(random_state=0), 1e-6),
    "PA": (PassiveAggressive(random_state=0), 1e-6),
    "AROW": (AROW(constraints=RULE, random_state=0), 1e-6),
    "descent": (StochasticCRF(random_state=0), 1e-5),
    "kernel perceptron": (KernelPerceptron(K, random_state=0), 1e-9),
    "vote": (KernelPerceptron(K, combination="voted", random_state=0), 1e-9),
    "boosting": (BoostedCRF(4, min_samples_leaf=2, random_state=0), 1e-5),
    "boosted edges": (
        BoostedCRF(
            4, min_samples_leaf=2, parts=Parts(edge_trees=TreeScores()), constraints=RULE, random_state=0
        ),
        1e-5,
    ),
    "cascade": (Cascade(CRF(**FINE), CRF(**FINE), window=5, folds=2, random_state=0), 1e-4),
}


def as_trees(X, y, order):
    """Return sequences as paths whose vertex ``order(T)[t]`` is position t."""
    trees, labels = [], []
    for x, one in zip(X, y, strict=True):
        place = order(len(one))
        parents = np.full(len(one), -1)
        parents[place[1:]] = place[:-1]
        back = np.argsort(place)
        trees.append((x[back], parents))
        labels.append([one[t] for t in back])
    return trees, labels


def on_trees(model):
    """Return a model of the same settings for trees."""
    settings = model.get_params(deep=False)
    names = {"first", "second", "estimator"} & settings.keys()
    if not names:
        return type(model)(**settings | {"structure": "tree"})
    return type(model)(**settings | {name: on_trees(settings[name]) for name in names})


def check(model, rng, atol, order=np.arange, given=None, change=lambda x: x, hide=0.0):
    """Fit both; marginals of new items must be the same."""
    X, y = labelled_sequences(rng, 10)
    y = [
        ["green" if a == "red" and b == "blue" else b for a, b in zip([None, *s], s, strict=False)] for s in y
    ]
    y = [[None if rng.random() < hide else label for label in labels] for labels in y]
    new, _ = labelled_sequences(rng, 4)
    settings = {} if given is None else given(len(X))
    X, new = [change(x) for x in X], [change(x) for x in new]
    expected = model.fit(X, y, **settings).predict_marginals(new)
    trees, labels = as_trees(X, y, order)
    tree_model = on_trees(model).fit(trees, labels, **settings)
    targets = as_trees(new, [[0] * x.shape[0] for x in new], order)[0]
    for a, b in zip(expected, tree_model.predict_marginals(targets), strict=True):
        np.testing.assert_allclose(b[order(len(b))], a, atol=atol)


def backwards(length):
    return np.arange(length)[::-1]


@pytest.mark.parametrize("order", [np.arange, backwards], ids=["forwards", "backwards"])
@pytest.mark.parametrize("name", list(CONVEX))
def test_convex(name, order, rng):
    check(CONVEX[name], rng, 1e-3 if "SVM" in name or name == "l1" or "norm" in name else 1e-4, order)


@pytest.mark.parametrize("name", list(OTHERS))
def test_other(name, rng):
    model, atol = OTHERS[name]
    chooses = name in ("Nyström", "Cholesky", "SGPS", "whole")  # among rows, the first of equals
    check(model, rng, atol, np.arange if chooses else backwards)


@pytest.mark.parametrize("name", ["plain", "kernel", "SVM", "edge features", "rule"])
def test_weights(name, rng):
    check(CONVEX[name], rng, 1e-3, backwards, lambda n: {"sample_weight": np.linspace(0.0, 2.0, n)})


@pytest.mark.parametrize("name", ["plain", "kernel", "rule", "kernel on edges"])
def test_labels_not_observed(name, rng):
    check(clone(CONVEX[name]).set_params(tol=1e-7), rng, 1e-2, backwards, hide=0.3)


@pytest.mark.parametrize("name", ["plain", "kernel", "SVM", "MEMM", "edge features"])
@pytest.mark.parametrize("change", [sparse.csr_matrix, np.float32], ids=["sparse", "single"])
def test_matrices(name, change, rng):
    check(clone(CONVEX[name]).set_params(tol=1e-6), rng, 1e-2, np.arange, change=change)
