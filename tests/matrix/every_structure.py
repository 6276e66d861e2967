"""One small training set for every setting of ``structure=``, and estimators that take one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kernelfields import (
    AROW,
    CRF,
    MEMM,
    BoostedCRF,
    GPSequenceClassifier,
    HiddenUnitCRF,
    KernelCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    KernelScores,
    LinearScores,
    Parts,
    PassiveAggressive,
    StochasticCRF,
    StructuredPerceptron,
    StructuredSVM,
    TransductiveSVM,
    TreeScores,
)
from kernelfields.approximation import IncompleteCholesky, Nystroem, RandomFourier
from kernelfields.posterior import Laplace
from kernelfields.selection import SGPS, SGSA, GreedyCliques, ImportVectors, WholeSequences
from kernelfields.structures import (
    Alignment,
    BeliefPropagation,
    Bethe,
    CandidateSegments,
    Chain,
    Constituency,
    Dependency,
    DualDecomposition,
    Grammar,
    GrammarTrees,
    Graph,
    Grid,
    Hierarchy,
    LinearProgramMax,
    Matching,
    MeanField,
    MultiLabel,
    Segments,
    SiblingDependency,
    Tree,
    TreeReweighted,
    TreeReweightedMax,
)

RNG = np.random.default_rng(0)
SEQUENCES = [RNG.normal(size=(n, 2)) for n in (3, 2, 4, 3)]
LABELS = [["a", "b", "a"], ["b", "a"], ["a", "a", "b", "b"], ["b", "b", "a"]]
PARENTS = [[-1, 0, 0], [-1, 0], [-1, 0, 1, 1], [-1, 0, 1]]
EDGES = [[(0, 1), (1, 2), (0, 2)], [(0, 1)], [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2)]]
SPANS = [RNG.normal(size=(n * (n + 1) // 2, 2)) for n in (2, 2, 1)]
ARCS = [RNG.normal(size=(n * (n + 1), 2)) for n in (2, 3, 1)]
WORDS = [[("dog", "N"), ("barks", "V")], [("a", "D"), ("dog", "N"), ("barks", "V")], [("go", "V")]]
PAIRS = [RNG.normal(size=(2, 2, 2)) for _ in range(3)]


GRAMMAR = Grammar(("A", "a", "b"), (("A", "a", "b"),), roots=("A",), words=("a", "b"))


class Task(NamedTuple):
    """What a structure learns from."""

    structure: Any
    X: Any
    y: Any
    features: Any = None


def _on_graphs(inference: Any) -> Task:
    return Task(Graph(inference=inference), list(zip(SEQUENCES, EDGES, strict=True)), LABELS)


TASKS: Mapping[str, Task] = {
    "chain": Task(Chain(), SEQUENCES, LABELS),
    "chain2": Task("chain2", SEQUENCES, LABELS),
    "segments": Task(Segments(), SEQUENCES, LABELS),
    "candidates": Task(
        CandidateSegments(3), [(x, [(t, t + 1) for t in range(len(x))]) for x in SEQUENCES], LABELS
    ),
    "tree": Task(Tree(), list(zip(SEQUENCES, PARENTS, strict=True)), LABELS),
    "graph": Task(Graph(), list(zip(SEQUENCES, EDGES, strict=True)), LABELS),
    "propagated": _on_graphs(BeliefPropagation()),
    "reweighted": _on_graphs(TreeReweighted()),
    "mean field": _on_graphs(MeanField()),
    "searched": _on_graphs(TreeReweightedMax()),
    "decomposed": _on_graphs(DualDecomposition()),
    "programmed": _on_graphs(LinearProgramMax()),
    "grid": Task(Grid(), [RNG.normal(size=(2, 2, 2)) for _ in range(3)], [[["a", "b"], ["b", "a"]]] * 3),
    "labels": Task(MultiLabel(), RNG.normal(size=(4, 2)), [[0, 1], [1, 0], [1, 1], [0, 0]]),
    "hierarchy": Task(Hierarchy([-1, 0]), RNG.normal(size=(4, 2)), [[1, 1], [1, 0], [1, 1], [0, 0]]),
    "dependency": Task(Dependency(), ARCS, [[2, 0], [2, 0, 2], [0]]),
    "projective": Task(Dependency(projective=True), ARCS, [[2, 0], [2, 0, 2], [0]]),
    "siblings": Task(SiblingDependency(), WORDS, [[2, 0], [2, 0, 2], [0]], "arcs"),
    "constituency": Task(Constituency(("A", "B")), SPANS, [("A", 0, 1), ("B", 0, 1), ("A", 0)]),
    "grammar": Task(GrammarTrees(GRAMMAR), SPANS[:2], [("A", ("a", "x"), ("b", "y"))] * 2),
    "matching": Task(Matching(), PAIRS, [[(0, 0)], [(1, 0), (0, 1)], [(1, 1)]]),
    "bethe": Task(Matching(inference=Bethe()), PAIRS, [[(0, 0)], [(1, 0), (0, 1)], [(1, 1)]]),
    "alignment": Task(Alignment(), PAIRS, [[(0, 0)], [(1, 0), (0, 1)], [(1, 1)]]),
}

SELECTIONS = {
    "greedy": GreedyCliques(4, 2),
    "each kernel": GreedyCliques(4, 2, each_kernel=True),
    "sgps": SGPS(4, 2),
    "sgsa": SGSA(4, 2),
    "whole": WholeSequences(4, 2),
    "import": ImportVectors(4, sample=4),
}
APPROXIMATIONS = {"cholesky": IncompleteCholesky(3), "nystroem": Nystroem(3), "fourier": RandomFourier(4)}

MODELS: Mapping[str, Callable[[], Any]] = {
    "CRF": lambda: CRF(),
    "CRF newton": lambda: CRF(solver="newton-cg"),
    "CRF jacobi": lambda: CRF(solver="block-jacobi"),
    "CRF subspace": lambda: CRF(solver="subspace"),
    "CRF scaling": lambda: CRF(solver="iterative-scaling"),
    "CRF meta": lambda: CRF(solver="meta-descent"),
    "CRF pseudo": lambda: CRF(loss="pseudo"),
    "CRF piecewise": lambda: CRF(loss="piecewise"),
    "CRF marginal": lambda: CRF(loss="marginal-log"),
    "CRF entropy": lambda: CRF(loss="entropy"),
    "CRF laplace": lambda: CRF(posterior=Laplace(n_samples=2, probes=1, steps=2)),
    "CRF edges": lambda: CRF(parts=Parts(edge_features=LinearScores())),
    "KernelCRF": lambda: KernelCRF("rbf"),
    "KernelCRF edges": lambda: KernelCRF("rbf", parts=Parts(edge_kernel=KernelScores())),
    "KernelCRF labels": lambda: KernelCRF("rbf", parts=Parts(kernel=KernelScores(labels=np.eye(2)))),
    "GP": lambda: GPSequenceClassifier("rbf"),
    "GP sparse": lambda: GPSequenceClassifier("rbf", sparse=True),
    "SVM": lambda: StructuredSVM(max_iter=20),
    "SVM kernel": lambda: StructuredSVM("rbf", max_iter=20),
    **{
        f"SVM {s}": lambda s=s: StructuredSVM(max_iter=5, solver=s)
        for s in ("dual-ascent", "one-slack", "bcfw", "n-slack", "subgradient")
    },
    "SVM slack": lambda: StructuredSVM(max_iter=20, rescaling="slack"),
    "SVM zero-one": lambda: StructuredSVM(max_iter=20, rescaling="zero-one"),
    "SVM relaxed": lambda: StructuredSVM(max_iter=20, rescaling="relaxed"),
    "SVM l1": lambda: StructuredSVM(max_iter=20, norm="l1", solver="linear-program"),
    "perceptron": lambda: StructuredPerceptron(max_iter=2),
    "passive": lambda: PassiveAggressive(max_iter=2),
    "AROW": lambda: AROW(max_iter=2),
    "stochastic": lambda: StochasticCRF(max_iter=2),
    "kernel perceptron": lambda: KernelPerceptron(max_iter=2),
    "MEMM": lambda: MEMM(),
    "boosted": lambda: BoostedCRF(max_iter=2, min_samples_leaf=1),
    "boosted edges": lambda: BoostedCRF(max_iter=2, min_samples_leaf=1, parts=Parts(edge_trees=TreeScores())),
    "units": lambda: HiddenUnitCRF(n_units=2, max_iter=3),
    "logistic": lambda: KernelLogisticRegression("rbf"),
    "transductive": lambda: TransductiveSVM("rbf"),
    **{f"KernelCRF {n}": lambda s=s: KernelCRF("rbf", basis=s) for n, s in SELECTIONS.items()},
    **{f"GP {n}": lambda s=s: GPSequenceClassifier("rbf", sparse=s) for n, s in SELECTIONS.items()},
    **{f"KernelCRF {n}": lambda s=s: KernelCRF("rbf", basis=s) for n, s in APPROXIMATIONS.items()},
}
