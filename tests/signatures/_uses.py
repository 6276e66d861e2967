"""How each public thing is used with one odd argument, on data of a few numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np

import kernelfields as kf
from kernelfields import (
    FreeScores,
    KernelScores,
    LinearScores,
    Parts,
    active,
    approximation,
    constraints,
    datasets,
    decoders,
    emissions,
    estimators,
    features,
    fields,
    gram,
    guarantees,
    kernels,
    losses,
    metrics,
    online,
    plot,
    report,
    selection,
    solvers,
    structures,
    trials,
)
from kernelfields import io as files
from kernelfields.models.clique_types import Edges
from tests._bookend import BookendBatch

Given = dict[str, Any]
Use = Callable[[Given], Any]

_rng = np.random.default_rng(0)
X = [_rng.normal(size=(length, 2)) for length in (4, 1, 3, 2, 4, 3)]
y = [["a" if row[0] > 0 else "b" for row in x] for x in X]
SYMBOLS = [[1, 0, 1], [0], [1, 0]]
STATES = [["a", "b", "a"], ["b"], ["a", "b"]]
COUNTS = [np.array([[1, 2], [2, 1], [3, 0]]), np.array([[0, 3]])]
IMAGES = [np.eye(128)[:2]]
MARGINALS = [np.full((len(x), 2), 0.5) for x in X]
FLAT, CODES = np.concatenate(X), np.array([k for labels in y for k in labels])

FAST: dict[str, Given] = {
    "AROW": {"max_iter": 2, "random_state": 0},
    "BoostedCRF": {"max_iter": 2, "random_state": 0, "min_samples_leaf": 1},
    "Cascade": {"first": kf.CRF(), "second": kf.CRF(), "folds": 2, "window": 3, "random_state": 0},
    "ClassifierMarkovModel": {"classifier": kf.KernelLogisticRegression("linear")},
    "HMM": {"emissions": "gaussian", "max_iter": 3, "n_states": 2, "random_state": 0, "tol": 1e-3},
    "HiddenStates": {"estimator": kf.CRF(max_iter=20), "n_init": 1, "random_state": 0},
    "HiddenUnitCRF": {"n_units": 2, "max_iter": 5, "random_state": 0},
    "KernelPerceptron": {"max_iter": 2, "random_state": 0},
    "PassiveAggressive": {"max_iter": 2, "random_state": 0},
    "SequencePipeline": {"transformers": [features.Windows(3)], "estimator": kf.CRF()},
    "SelfTraining": {"estimator": kf.CRF(), "by": "average", "max_iter": 2},
    "SequenceAdaBoost": {"n_rounds": 3, "random_state": 0},
    "StochasticCRF": {"max_iter": 2, "random_state": 0},
    "StructureLearner": {"estimator": kf.KernelCRF(parts=Parts(edges=None)), "candidates": [Edges()]},
    "StructuredPerceptron": {"max_iter": 2, "random_state": 0},
    "StructuredSVM": {"tol": 0.1},
}


ROWS = (
    "KernelLogisticRegression",
    "LabelPropagation",
    "LabelSpreading",
    "PoissonLearning",
    "TransductiveSVM",
)
"""Those that are fitted to rows."""


def _fitting(name: str) -> Use:
    cls = getattr(estimators, name)

    def use(given: Given) -> Any:
        model = cls(**{**FAST.get(name, {}), **given})
        if name in ROWS:
            return model.fit(FLAT, CODES).predict(FLAT)
        if name == "SelfTraining":
            return model.fit(X, [*y[:3], None, None, None]).predict(X)
        return (model.fit(X) if name == "HMM" else model.fit(X, y)).predict(X)

    return use


JUDGED = guarantees.JudgedAnswers(
    np.linspace(0.5, 1.0, 40), np.arange(40) % 9 == 0, np.zeros(40, dtype=np.int64), np.arange(0, 41, 2)
)


@cache
def _fitted(name: str) -> Any:
    return getattr(estimators, name)(**FAST.get(name, {})).fit(X, y)


def _axes() -> Any:
    from matplotlib.figure import Figure

    return Figure().subplots()


def _asking(name: str, method: str) -> Use:
    return lambda given: getattr(_fitted(name), method)(X, **given)


def _calibrated(name: str, method: str, *first: Any) -> Use:
    return lambda given: getattr(_fitted(name).calibrate(X, y), method)(*first, **given)


def _recalibrating(name: str) -> Use:
    made = getattr(estimators, name)
    return lambda given: made(**FAST.get(name, {})).fit(X, y).recalibrate(X, y, **given)


def _kernel(name: str, *first: Any) -> Use:
    cls = getattr(kernels, name)
    texts = {"Spectrum": ["uvu", "vv"], "Subsequence": ["uvu", "vv"], "TreeFragments": ["(S u)", "(S v)"]}
    observations = texts.get(name, np.abs(FLAT))
    return lambda given: cls(*first, **given)(observations)


def _family(name: str) -> Use:
    data = {"Categorical": SYMBOLS, "Multinomial": COUNTS, "Poisson": COUNTS}.get(name, X)
    if name == "Bernoulli":
        data = [(x > 0).astype(float) for x in X]
    return lambda given: kf.HMM(
        getattr(emissions, name)(**given), n_states=2, max_iter=3, tol=0.0, random_state=0
    ).fit(data)


def _solver(name: str) -> Use:
    cls = getattr(solvers, name)
    if issubclass(cls, solvers.MarginSolver | solvers.CuttingPlane | solvers.DualAscent):
        return lambda given: kf.StructuredSVM(solver=cls(**given), tol=0.1, max_iter=20).fit(X, y)
    if name == "ExponentiatedGradient":
        return lambda given: kf.KernelCRF("rbf", solver=cls(**given), max_iter=5).fit(X, y)
    if name == "OWLQN":
        return lambda given: kf.CRF(l1=0.1, solver=cls(**given), max_iter=5).fit(X, y)
    return lambda given: kf.CRF(solver=cls(**given), max_iter=5).fit(X, y)


def _selecting(name: str) -> Use:
    """A selection, or a part of one."""
    cls = getattr(selection, name)

    def use(given: Given) -> Any:
        made = cls(**given)
        if isinstance(made, selection.Order):
            made = selection.SGPS(6, step=2, order=made)
        elif isinstance(made, selection.Criterion):
            made = selection.GreedyCliques(6, step=2, by=made)
        elif isinstance(made, selection.Refit):
            made = selection.SGPS(6, step=2, refit=made)
        return kf.KernelCRF("rbf", basis=made, max_iter=20, run=kf.Run(dtype="float64")).fit(X, y)

    return use


def _approximating(name: str) -> Use:
    cls = getattr(approximation, name)

    def use(given: Given) -> Any:
        made = cls(**given)
        if isinstance(made, approximation.Landmarks):
            made = approximation.Nystroem(3, landmarks=made)
        return kf.KernelCRF("rbf", basis=made, max_iter=5, random_state=0).fit(X, y)

    return use


CHAIN = structures.ChainBatch([0, 3, 4], 2)
TREE = structures.TreeBatch([0, 3, 4], [-1, 0, 0, -1], 2)
SCORES = {"node": np.zeros((4, 2)), "edge": np.zeros((2, 2))}
GRAPH = structures.ExactGraphBatch([0, 3, 4], [[0, 1], [0, 2]], 2)
BOOKENDS = BookendBatch([0, 3, 4], 2)
SECOND = structures.SecondOrderChainBatch([0, 3, 4], 2)
ARCS = structures.DependencyBatch([2, 1])
SIBLINGS = structures.SiblingDependencyBatch([2, 1])
PAIRED = {"arc": np.zeros(8), "sibling": np.zeros(len(SIBLINGS.siblings))}
SPANS = structures.ConstituencyBatch([2, 1], 2)
DERIVATIONS = structures.GrammarBatch([2, 1], structures.Grammar(("A",), (("A", "A", "A"),), ("A",), ("A",)))
DERIVED = {"span": np.zeros((4, 1)), "rule": np.zeros(1)}
PAIRS, STEPS = structures.MatchingBatch([[2, 2]]), structures.AlignmentBatch([[2, 2]])
STEP_SCORES = {"pair": np.zeros(4), "jump": np.zeros(13)}


def _paired(given: dict[str, Any]) -> Any:
    svm = kf.StructuredSVM(structure=structures.Matching(**given))
    return svm.fit([np.eye(2)[:, :, None]], [[(0, 0), (1, 1)]])


SEGMENTS = structures.SegmentBatch([0, 3, 4], 2, [1, 2])
LENGTHS = {**SCORES, "duration": np.zeros((2, 2))}
PAIR = ([0, 2], [[0, 1]])
PAIR_SCORES = {"node": np.zeros((2, 2)), "edge": np.zeros((2, 2))}


def _drawn(inference: Any) -> Use:
    """Draw from a pair of vertices."""
    return lambda given: inference.on(*PAIR, 2).approximate_sample(
        PAIR_SCORES, **{"count": 2, "seed": 0, **given}
    )


SCORES2 = {**SCORES, "triple": np.zeros((2, 2, 2))}


def _decoding(make: Callable[[Given], decoders.Decoder]) -> Use:
    return lambda given: make(given).decode(CHAIN, SCORES)


def _differing(true: Any, guess: Any) -> float:
    return float((true != guess).sum())


def _callback(given: Given) -> Any:
    cost = losses.LabellingCost(_differing, **{"bound": 4.0, **given})
    return kf.StructuredSVM(cost=cost, tol=0.1, max_iter=20, rescaling="slack").fit(X, y)


def _searching(name: str) -> Use:
    scores = {"node": np.eye(3, 2), "edge": np.eye(2)}

    def use(given: Given) -> Any:
        search = getattr(structures, name)(**given)
        ring = structures.SearchedGraphBatch([0, 3], [[0, 1], [1, 2], [2, 0]], 2, search=search)
        return ring.approximate_argmax(scores)

    return use


def _ruled(name: str, **needed: Any) -> Use:
    def use(given: Given) -> Any:
        rule = getattr(structures, name)(**{**needed, **given})
        return _searching("DualDecomposition")({"rules": (rule,)})

    return use


def _sampled(structure: Any, scores: Any) -> Use:
    return lambda given: structure.sample(scores, **{"count": 2, "seed": 0, **given})


def _extracted(extractor: Any) -> Any:
    return extractor.fit_transform([["a", "b"]])


KNOWN = [*y[:3], *[None] * 3]
FIELD = kf.MarkovField(random_state=0).fit(y)
HOLES = [np.where(x > 1, np.nan, x) for x in X]


def _questions(name: str) -> Use:
    """Score positions by a strategy."""
    return lambda given: active.position_scores(
        _fitted("CRF"), X, getattr(active, name)(**given), known=KNOWN
    )


def _batches(name: str) -> Use:
    """Ask for a diverse batch."""
    return lambda given: (
        active.ActiveLearner(kf.CRF(), diversity=getattr(active, name)(**given)).fit(X, KNOWN).ask(2)
    )


USES: dict[str, Use] = {
    **{
        f"active.{name}": _questions(name)
        for name in ("Disagreement", "InformationDensity", "SampleDisagreement")
    },
    **{f"active.{name}": _batches(name) for name in ("Determinantal", "KCenter")},
    "active.ActiveLearner": lambda given: active.ActiveLearner(kf.CRF(), **given).fit(X, KNOWN),
    "active.ActiveLearner.ask": lambda given: active.ActiveLearner(kf.CRF()).fit(X, KNOWN).ask(**given),
    "active.LearningCurve.labels_to_reach": lambda given: active.LearningCurve(
        np.array([1, 2]), np.array([0.1, 0.2]), np.zeros(2)
    ).labels_to_reach(**given),
    **{
        f"estimators.{name}": _fitting(name)
        for name in (*FAST, *ROWS, "CRF", "GPSequenceClassifier", "KernelCRF", "MEMM")
    },
    **{
        f"estimators.{name}.{method}": _asking(name, method)
        for name in (*FAST, "CRF", "GPSequenceClassifier", "KernelCRF", "MEMM")
        for method in ("predict", "predict_kbest", "sample")
    },
    **{
        f"estimators.{name}.{method}": _calibrated(name, method, *first)
        for name in (*FAST, "CRF", "GPSequenceClassifier", "KernelCRF", "MEMM")
        for method, first in (("guarantees", ()), ("miss_control", ()), ("predict_sets", (X,)))
    },
    **{
        f"estimators.{name}.recalibrate": _recalibrating(name)
        for name in (*FAST, "CRF", "GPSequenceClassifier", "KernelCRF", "MEMM")
    },
    "trials.tune": lambda given: trials.tune(
        kf.CRF(), X, y, **{"settings": {"penalty": [1.0]}, "folds": 2, "refit": False, **given}
    ),
    "trials.compare": lambda given: trials.compare({"crf": kf.CRF()}, X, y, **{"folds": 2, **given}),
    "trials.budget_seconds": lambda given: trials.budget_seconds(**given),
    "guarantees.Betting": lambda given: guarantees.Betting(**given),
    "guarantees.mean_gains": lambda given: guarantees.mean_gains(
        [0.1, -0.1], **{"least": -1.0, "most": 1.0, **given}
    ),
    "guarantees.learn_threshold": lambda given: guarantees.learn_threshold(JUDGED, **given),
    "guarantees.control_misses": lambda given: guarantees.control_misses(
        guarantees.Missed(JUDGED.confidence, JUDGED.offsets), **given
    ),
    **{
        f"estimators.{name}": lambda given, name=name: (
            getattr(kf, name)(**{"n_init": 1, "max_iter": 5, "random_state": 0, **given}).fit(X).predict(X)
        )
        for name in ("FieldClustering", "SequenceClustering")
    },
    "losses.InformationMaximisation": lambda given: losses.InformationMaximisation(**given),
    "losses.OwnedStates": lambda given: losses.OwnedStates(**{"owners": (0, 1), **given}),
    "estimators.CRF.fit_stream": lambda given: kf.CRF(
        features=features.TemplateFeatures("columns: w\nw[0]", n_hash=16), max_iter=5
    ).fit_stream([(["a", "b"], ["x", "y"])], **given),
    "report.describe": lambda given: report.describe(_fitted("CRF"), **given),
    "decoders.Abstain": _decoding(lambda given: decoders.Abstain(decoders.Viterbi(), **given)),
    "decoders.Best": _decoding(lambda given: decoders.MinimumRisk(_differing, decoders.Best(**given))),
    "decoders.Draws": _decoding(lambda given: decoders.MinimumRisk(_differing, decoders.Draws(**given))),
    "structures.ChainBatch": lambda given: structures.ChainBatch([0, 1], **given),
    "structures.SumBatch": lambda given: BookendBatch([0, 1], **given),
    "structures.SecondOrderChainBatch": lambda given: structures.SecondOrderChainBatch([0, 1], **given),
    "structures.SegmentBatch": lambda given: structures.SegmentBatch([0, 1], **given),
    "structures.Segments": lambda given: kf.CRF(structure=structures.Segments(**given)).fit(X, y),
    "structures.CandidateSegments": lambda given: kf.CRF(structure=structures.CandidateSegments(**given)).fit(
        [(x, [(0, 1)]) for x in X], y
    ),
    "structures.TreeBatch": lambda given: structures.TreeBatch([0, 1], [-1], **given),
    "structures.ConstituencyBatch": lambda given: structures.ConstituencyBatch(
        [2], **{"n_labels": 2, **given}
    ),
    "structures.ConstituencyBatch.kbest": lambda given: SPANS.kbest({"span": np.zeros((4, 2))}, **given),
    "structures.ConstituencyBatch.sample": _sampled(SPANS, {"span": np.zeros((4, 2))}),
    "structures.GrammarBatch.kbest": lambda given: DERIVATIONS.kbest(DERIVED, **given),
    "structures.GrammarBatch.sample": _sampled(DERIVATIONS, DERIVED),
    "structures.GrammarTrees": lambda given: structures.GrammarTrees(**given).settled(
        [("S", ("A", "a"), ("B", "b"))]
    ),
    "structures.Grammar.of": lambda given: structures.Grammar.of([("S", ("A", "a"), ("B", "b"))], **given),
    "structures.count_symbols": lambda given: structures.count_symbols(
        [("S", ("A", "a"), ("B", "b"))], **given
    ),
    "structures.symbol_spans": lambda given: structures.symbol_spans(("S", ("A", "a"), ("B", "b")), **given),
    "structures.DependencyBatch": lambda given: structures.DependencyBatch([2], **given),
    "structures.DependencyBatch.kbest": lambda given: ARCS.kbest({"arc": np.zeros(8)}, **given),
    "structures.DependencyBatch.sample": _sampled(ARCS, {"arc": np.zeros(8)}),
    "structures.SiblingDependencyBatch": lambda given: structures.SiblingDependencyBatch([2], **given),
    "structures.SiblingDependencyBatch.kbest": lambda given: SIBLINGS.kbest(PAIRED, **given),
    "structures.SiblingDependencyBatch.sample": _sampled(SIBLINGS, PAIRED),
    "losses.PairCost": lambda given: losses.PairCost(**given),
    "structures.Alignment": lambda given: structures.Alignment(**given).on(None, [[2, 2]], 1),
    "structures.AlignmentBatch": lambda given: structures.AlignmentBatch([[2, 2]], **given),
    "structures.AlignmentBatch.kbest": lambda given: STEPS.kbest(STEP_SCORES, **given),
    "structures.AlignmentBatch.sample": _sampled(STEPS, STEP_SCORES),
    "structures.Bethe": lambda given: structures.BetheMatchingBatch(
        [[2, 2]], False, structures.Bethe(**given)
    ).log_partition({"pair": np.zeros(4)}),
    "structures.BetheMatchingBatch": lambda given: structures.BetheMatchingBatch([[2, 2]], **given),
    "structures.BetheMatchingBatch.kbest": lambda given: PAIRS.kbest({"pair": np.zeros(4)}, **given),
    "structures.LinkBatch": lambda given: structures.LinkBatch([[2, 2]], **given),
    "structures.Matching": _paired,
    "structures.MatchingBatch": lambda given: structures.MatchingBatch([[2, 2]], **given),
    "structures.MatchingBatch.kbest": lambda given: PAIRS.kbest({"pair": np.zeros(4)}, **given),
    "structures.GraphBatch": lambda given: structures.GraphBatch([0, 2], [[0, 1]], **given),
    "structures.SearchedGraphBatch": lambda given: structures.SearchedGraphBatch([0, 2], [[0, 1]], **given),
    **{
        f"structures.{name}": _searching(name)
        for name in (
            "AlphaExpansion",
            "DualDecomposition",
            "LabelSwap",
            "SemidefiniteMax",
            "TreeReweightedMax",
        )
    },
    "structures.AtMost": _ruled("AtMost", label=0),
    "structures.ExactlyOne": _ruled("ExactlyOne", label=0),
    "structures.Implies": _ruled("Implies", label=0, other=1),
    "structures.Exact": lambda given: structures.ExactGraphBatch(
        [0, 2], [[0, 1]], 2, exact=structures.Exact(**given)
    ).log_partition({"node": np.zeros((2, 2)), "edge": np.zeros((2, 2))}),
    "structures.ExactGraphBatch": lambda given: structures.ExactGraphBatch([0, 2], [[0, 1]], **given),
    **{
        f"structures.{kind.__name__}{tail}": use
        for kind in (
            structures.BeliefPropagation,
            structures.ConvexFreeEnergy,
            structures.MeanField,
            structures.TreeReweighted,
        )
        for tail, use in (
            ("", lambda given, kind=kind: kind(**given).on(*PAIR, 2).log_partition(PAIR_SCORES)),
            (".on", lambda given, kind=kind: kind().on(*PAIR, **given)),
            ("Batch", lambda given, kind=kind: kind().on(*PAIR, **given)),
        )
    },
    "structures.Gibbs": lambda given: structures.Gibbs(**given).on(*PAIR, 2),
    "structures.Gibbs.on": lambda given: structures.Gibbs().on(*PAIR, **given),
    **{
        f"structures.{kind.__name__}.on": (lambda given, kind=kind: kind().on(*PAIR, **given))
        for kind in (
            structures.AlphaExpansion,
            structures.DualDecomposition,
            structures.LabelSwap,
            structures.LinearProgramMax,
            structures.SemidefiniteMax,
            structures.TreeReweightedMax,
        )
    },
    "structures.GibbsBatch": lambda given: structures.Gibbs().on(*PAIR, **given),
    "structures.GibbsBatch.approximate_sample": _drawn(structures.Gibbs()),
    **{
        f"structures.{kind.__name__}Batch.approximate_sample": _drawn(kind())
        for kind in (
            structures.BeliefPropagation,
            structures.ConvexFreeEnergy,
            structures.MeanField,
            structures.TreeReweighted,
        )
    },
    "models.parts.FreeScores": lambda given: kf.CRF(parts=Parts(edges=FreeScores(**given))).fit(X, y),
    "models.parts.LinearScores": lambda given: kf.CRF(parts=Parts(features=LinearScores(**given))).fit(X, y),
    "models.parts.KernelScores": lambda given: kf.KernelCRF(
        "rbf", parts=Parts(both_ends=KernelScores("rbf", on="edge", view="all", **given)), max_iter=5
    ).fit(X, y),
    "structures.Chain": lambda given: kf.CRF(structure=structures.Chain(**given)).fit(X, y),
    "structures.Graph": lambda given: kf.CRF(structure=structures.Graph(**given), max_iter=5).fit(
        [(x, [[0, 1]] if len(x) > 1 else []) for x in X], y
    ),
    "structures.Grid": lambda given: kf.CRF(structure=structures.Grid(**given), max_iter=5).fit(
        [x[None] for x in X], [[labels] for labels in y]
    ),
    "features.stack_graph_windows": lambda given: features.stack_graph_windows(
        [X[0]], [[[1, 0], [2, 0]]], **given
    ),
    "features.stack_tree_windows": lambda given: features.stack_tree_windows(
        [X[0]], [[-1, 0, 0, 1]], **given
    ),
    "structures.ExactGraphBatch.kbest": lambda given: GRAPH.kbest(SCORES, **given),
    "structures.ExactGraphBatch.sample": _sampled(GRAPH, SCORES),
    "structures.SegmentBatch.kbest": lambda given: SEGMENTS.kbest(LENGTHS, **given),
    "structures.SegmentBatch.sample": _sampled(SEGMENTS, LENGTHS),
    "structures.TreeBatch.kbest": lambda given: TREE.kbest(SCORES, **given),
    "structures.ChainBatch.kbest": lambda given: CHAIN.kbest(SCORES, **given),
    "structures.SecondOrderChainBatch.kbest": lambda given: SECOND.kbest(SCORES2, **given),
    "structures.ChainBatch.sample": _sampled(CHAIN, SCORES),
    "structures.SumBatch.sample": _sampled(BOOKENDS, {**SCORES, "bookend": np.zeros((2, 2))}),
    "structures.SecondOrderChainBatch.sample": _sampled(SECOND, SCORES2),
    "structures.TreeBatch.sample": _sampled(TREE, SCORES),
    **{
        f"kernels.{name}": _kernel(name)
        for name in (
            *("RBF", "Constant", "ExponentialChiSquare", "Laplacian", "Matern", "Polynomial"),
            *("Spectrum", "Subsequence", "TreeFragments"),
        )
    },
    **{
        f"kernels.{name}": _kernel(name, kernels.Laplacian())
        for name in ("Power", "Scaled", "WindowProduct", "WindowSum")
    },
    "estimators.MarkovField": lambda given: kf.MarkovField(**given).fit(y),
    "estimators.MarkovField.sample": lambda given: FIELD.sample(shape=2, **given),
    "fields.Annealing": lambda given: kf.MarkovField(density=fields.Annealing(**given)).fit(y[:2]),
    "fields.PersistentChains": lambda given: kf.MarkovField(
        method=fields.PersistentChains(**{"steps": 5, **given}), random_state=0
    ).fit(y[:2]),
    "features.MissingValues": lambda given: features.MissingValues(**given).fit_transform(HOLES),
    "kernels.Expected": lambda given: kernels.Expected(kernels.RBF(), **given).on(np.concatenate(HOLES)),
    "features.DictFeatures": lambda given: features.DictFeatures(**given).fit_transform([[{"a": 1.0}]]),
    "features.BrownClusters": lambda given: features.BrownClusters(**given).fit([["a", "b"], ["a", "c"]]),
    "features.BrownClusters.restore": lambda given: features.BrownClusters().restore(
        {"a": "0"}, np.ones(1, np.int64), **given
    ),
    "features.TemplatePart": lambda given: _extracted(
        features.TemplateFeatures(
            features.Templates(("w",), (features.Template((features.TemplatePart("w", **given),)),))
        )
    ),
    "features.TemplateFeatures": lambda given: _extracted(
        features.TemplateFeatures("columns: w\nw[0]", **given)
    ),
    "features.neighbour_averages": lambda given: features.neighbour_averages(
        X[0], [[0, 1]], **{"hops": 1, **given}
    ),
    "features.diffused": lambda given: features.diffused(X[0], [[0, 1]], **given),
    "features.BlurredPixels": lambda given: features.BlurredPixels(**given).fit(IMAGES).transform(IMAGES),
    "features.OrientationChannels": lambda given: (
        features.OrientationChannels(**given).fit(IMAGES).transform(IMAGES)
    ),
    "features.Gazetteer": lambda given: features.Gazetteer(**given).fit([["a", "b"]], [["B-X", "O"]]),
    "features.TokensAndArrays": lambda given: features.TokensAndArrays(
        "columns: w\nw[0]", **given
    ).fit_transform([(["a", "b"], [[0.0, 1.0], [2.0, 3.0]])]),
    "features.Windows": lambda given: features.Windows(**given).fit_transform(X),
    "features.stack_windows": lambda given: features.stack_windows(X, **{"width": 3, **given}),
    "metrics.expected_calibration_error": lambda given: metrics.expected_calibration_error(
        y, MARGINALS, ["a", "b"], **given
    ),
    "metrics.reliability": lambda given: metrics.reliability(y, MARGINALS, ["a", "b"], **given),
    "metrics.log_likelihood_scorer": lambda given: metrics.log_likelihood_scorer(
        _fitted("CRF"), X, y, **given
    ),
    "constraints.LeftRight": lambda given: constraints.LeftRight(**given).forbidden(["a", "b"]),
    "constraints.RunParts": lambda given: constraints.RunParts(**given).split([["a", "a"]]),
    "constraints.Forbidden.nothing": lambda given: constraints.Forbidden.nothing(**given),
    **{
        f"emissions.{name}": _family(name)
        for name in (
            *("Bernoulli", "Categorical", "DiagonalGaussian", "FullGaussian", "GaussianMixture"),
            *("Multinomial", "Poisson", "SphericalGaussian", "TiedGaussian"),
        )
    },
    "emissions.UnknownWords": lambda given: kf.HMM(
        emissions.Categorical(unknown=emissions.UnknownWords(**given))
    ).fit(SYMBOLS, STATES),
    **{
        f"solvers.{name}": _solver(name)
        for name in (
            *("LBFGS", "OWLQN", "BlockFrankWolfe", "BlockJacobi", "ConjugateGradients", "CuttingPlane"),
            *(
                "DualAscent",
                "ExponentiatedGradient",
                "MetaDescent",
                "NewtonCG",
                "ProximalQuasiNewton",
                "Subgradient",
                "Subspace",
                "WorkingSet",
            ),
        )
    },
    "solvers.Stop": lambda given: solvers.Stop(**given),
    "solvers.simplex_qp": lambda given: solvers.simplex_qp(
        np.eye(2), np.ones(2), np.array([1.0, 0.0]), **given
    ),
    "losses.CallbackHinge": lambda given: losses.CallbackHinge(
        CHAIN, np.zeros(4, dtype=np.int64), _differing, **{"bound": 4.0, **given}
    ),
    "losses.LabellingCost": _callback,
    "losses.EntropyRegularised": lambda given: kf.CRF(
        loss=losses.EntropyRegularised(**given), max_iter=2
    ).fit(X, [*y[:4], [None] * 4, [None] * 3]),
    "losses.VariationalEM": lambda given: kf.CRF(
        loss=losses.VariationalEM(**{"sweeps": 2, "rounds": 1, **given}), max_iter=2
    ).fit(X, [[None, *labels[1:]] for labels in y]),
    **{
        f"selection.{name}": _selecting(name)
        for name in (
            *("SGPS", "SGSA", "GreedyCliques", "WholeSequences", "AtRandom", "InTurn", "LargestGradient"),
            *("ExactGain", "GainBound", "ImportVectors", "RefitAll", "RefitNew"),
        )
    },
    **{
        f"approximation.{name}": _approximating(name)
        for name in ("IncompleteCholesky", "KMeans", "LeverageScores", "Nystroem", "RandomFourier")
    },
    "approximation.Storage": lambda given: approximation.Storage(**given).empty((2, 2), np.dtype(float)),
    "online.ArowRule": lambda given: online.ArowRule(**given),
    "online.Descent": lambda given: online.Descent(**{"step": 1.0, **given}),
    "online.PassiveAggressiveRule": lambda given: online.PassiveAggressiveRule(**given),
    "datasets.Letters.split": lambda given: datasets.load_letters().split(given["folds"]),
    "datasets.load_conll2002": lambda given: datasets.load_conll2002(**{"n_sentences": 2, **given}),
    "datasets.load_prosody": lambda given: datasets.load_prosody(**{"n_sentences": 2, **given}),
    "datasets.prosody_templates": lambda given: datasets.prosody_templates(**given),
    "datasets.spelling_templates": lambda given: datasets.spelling_templates(**given),
    "gram.PackedGram": lambda given: gram.PackedGram(np.zeros(8), **given),
    "gram.PackedGram.bytes_for": lambda given: gram.PackedGram.bytes_for(dtype=np.dtype(float), **given),
    "gram.PackedGram.empty": lambda given: gram.PackedGram.empty(dtype=np.dtype(float), **given),
    "kernels.GraphKernel": lambda given: kernels.GraphKernel(**given).on(FLAT)(FLAT),
    "gram.memory_budget": lambda given: gram.memory_budget(**given),
    "gram.gram_of": lambda given: gram.gram_of(kernels.RBF(), FLAT, **given),
    "gram.blocks_times": lambda given: gram.blocks_times(
        gram.KernelBlocks(kernels.RBF(), FLAT, FLAT, FLAT.dtype), FLAT, **given
    ),
    "gram.kernel_times": lambda given: gram.kernel_times(kernels.RBF(), FLAT, FLAT, FLAT, **given),
    "metrics.segment_scores": lambda given: metrics.segment_scores(y, y, **given),
    "io.AlignmentLink": lambda given: files.write_naacl(
        {1: files.WordAlignment((files.AlignmentLink(**{"source": 0, "target": 0, **given}),))}, BytesIO()
    ),
    "io.SequenceFeature": lambda given: files.write_gff3(
        [files.SequenceFeature(**{"sequence": "a", "start": 0, "end": 2, "type": "b", **given})], BytesIO()
    ),
    "io.TextSpan": lambda given: files.write_prodigy(
        [files.TextDocument("abc", (files.TextSpan(**{"start": 0, "end": 2, "label": "b", **given}),))],
        BytesIO(),
    ),
    "io.ParsedSentence.with_column": lambda given: files.ParsedSentence(
        (("1", "a", *["_"] * 8),)
    ).with_column(**{"values": ["b"], "column": 3, **given}),
    "io.read_stockholm": lambda given: list(
        files.read_stockholm(BytesIO(b"# STOCKHOLM 1.0\na AC\n//\n"), **given)
    ),
    "io.read_pharaoh": lambda given: list(files.read_pharaoh(BytesIO(b"1-1"), **given)),
    "io.read_parallel": lambda given: list(files.read_parallel(BytesIO(b"a b ||| c d ||| 1-1"), **given)),
    "io.write_pharaoh": lambda given: files.write_pharaoh([files.WordAlignment()], BytesIO(), **given),
    "io.write_parallel": lambda given: files.write_parallel(
        [files.SentencePair(["a"], ["b"], files.WordAlignment())], BytesIO(), **given
    ),
    "report.evaluate": lambda given: report.evaluate(_fitted("CRF"), X, y, **given),
    "plot.answered": lambda given: plot.answered(
        _fitted("CRF").calibrate(X, y), X, y, **{"ax": _axes(), **given}
    ),
    "plot.reliability": lambda given: plot.reliability(_fitted("CRF"), X, y, **{"ax": _axes(), **given}),
    "plot.segmentation": lambda given: plot.segmentation([["a"]], **{"ax": _axes(), **given}),
}

RECORDS = (
    "fields.AnnealedSum",
    "fields.LogPartition",
    "fields.MarkovField",  # as of estimators
    *("decoders.Relaxation", "features.BinaryRows", "metrics.AverageScores", "metrics.EntityScore"),
    *(
        "solvers.Progress",
        "io.Sentence",
        "losses.LossValue",
        "selection.Atoms",
        "selection.SelectionStep",
        "report.Description",
        "report.Evaluation",
        "report.ParseEvaluation",
        "metrics.AlignmentScores",
        "metrics.AttachmentScores",
        "metrics.BracketScores",
        "metrics.SegmentScores",
        "metrics.Segment",
        "kernels.Alignments",
        "active.Query",
        "guarantees.Gains",
        "guarantees.Guarantee",
        "guarantees.RiskControl",
        "guarantees.Threshold",
        "metrics.EntitySpan",
    ),
)
"""What is computed, in the hands of those who ask: nothing is made of their numbers."""

INSIDE = (
    *("guarantees.Betting.", "guarantees.HoeffdingBentkus.", "guarantees.JudgedAnswers."),
    *("guarantees.MeanTest.", "guarantees.label_sets", "structures.drawn_outputs", "losses.Minimiser."),
    *("structures.Chain.on", "structures.Structure.on", "structures.Tree.on", "structures.Words"),
    *("structures.Exact.on", "structures.Graph.on", "structures.GraphInference", "structures.Grid.on"),
    *("structures.Constituency.on", "structures.Dependency.on", "structures.GrammarTrees.on"),
    *("structures.SiblingDependency.on", "structures.warn_of_unsettled"),
    *("structures.Hierarchy.on", "structures.MultiLabel.on"),
    *("structures.Alignment.on", "structures.Matching.on", "structures.PairStructure"),
    "structures.Segments.on",
    *("structures.Segments.on", "structures.CandidateSegments.on"),
    *("structures.AlphaExpansion.on", "structures.DualDecomposition.on", "structures.LabelSwap.on"),
    *("structures.LinearProgramMax.on", "structures.MaxSearch.on", "structures.TreeReweightedMax.on"),
    *(
        "emissions.",
        "gram.KernelBlocks.",
        "approximation.",
        "selection.",
        "online.InstanceSweep",
        "online.Sweep",
        "online.InstanceSweep",
        "online.descend_first",
    ),
    *("structures.KBestOracle", "structures.SampleOracle", "structures.SequenceBatch"),
    *("structures.MaxSearch", "structures.ApproximateSample", "structures.Gibbs.draw"),
    *(
        "estimators.SequenceLabeller",
        "estimators.StructureLearner.",
        "estimators.Cascade.",
        "estimators.SelfTraining.",
        "estimators.SequencePipeline.",
        "estimators.FieldClustering.",
    ),
    *("models.parts.Part", "models.parts.compose"),
    *("active.Determinantal.", "active.Diversity", "active.KCenter.", "active.LabelPool."),
)
"""Methods that the package itself calls, with checked numbers; bases; what hands on to another model."""

NEEDS_FILES = (
    "datasets.load_cb513",
    "datasets.CitationGraph.",
    "datasets.Genome.",
    "datasets.Proteins.",
    "io.read_npz",
)


def exempt(target: str) -> bool:
    """Whether nothing needs to be tried."""
    return target.startswith((*RECORDS, *INSIDE, *NEEDS_FILES))


def tried(target: str, given: Given) -> None:
    """Use a thing, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        USES[target](given)
