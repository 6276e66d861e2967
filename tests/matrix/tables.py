"""One or two telling values for every option of every estimator.

``sample_weight``, ``dev``, ``labels`` and ``groups`` are arguments of `fit` (see `cases`); all others, of the
constructor. ``emissions`` of `HMM` are in the names of its cases, and ``n_states`` comes with
``labels=none``; nothing else is left out, which `test_matrix` sees to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from kernelfields import (
    CRF,
    HMM,
    FixedScores,
    FreeScores,
    KernelCRF,
    KernelLogisticRegression,
    KernelScores,
    LinearScores,
    Parts,
    StructuredPerceptron,
    TreeScores,
)
from kernelfields.approximation import IncompleteCholesky, Nystroem, RandomFourier
from kernelfields.features import Windows, each
from kernelfields.graphs import NeighborGraph
from kernelfields.kernels import RBF, Linear, Polynomial, Spectrum, Standardized, Weighted
from kernelfields.losses import Log, MarginalLog, PseudoLikelihood
from kernelfields.models.clique_types import Boundaries, Edges, FurtherKernel, InputEdges, SecondOrder
from kernelfields.objective import L1Norm, SpaceNorm
from kernelfields.posterior import Laplace, SliceSampling, Variational
from kernelfields.selection import SGPS, SGSA, GreedyCliques, ImportVectors, WholeSequences

from .inputs import TEMPLATES
from .settings import CALLBACK, CHECKPOINT, CLASS_WEIGHTS, CONSTRAINTS, DECODERS, Setting, of_parts, options

FEATURES = {"templates": lambda: TEMPLATES}
OBSERVED = options(labels=("missing", "numbers", "whole"))
KERNELS = {
    "poly": lambda: Polynomial(degree=2),
    "narrow": lambda: RBF(gamma=2.0),
    "scale": lambda: RBF(gamma="scale"),
    "standardized": lambda: Standardized(RBF(gamma=0.5), centre=False) + Linear(),
    "spectrum": lambda: Spectrum(1),
}
SEVERAL = {
    "list": lambda: [RBF(gamma=0.5), Linear()],
    "dict": lambda: {"O": RBF(), "B-x": RBF(gamma=2.0), "I-x": Linear()},
}
WEIGHTED = {
    "alignment": lambda: Weighted([RBF(gamma=0.5), Linear()], by="alignment"),
    "certificate": lambda: Weighted([RBF(gamma=0.5), Linear()], by="certificate"),
}
APPROXIMATIONS = {
    "cholesky": lambda: IncompleteCholesky(8),
    "nystroem": lambda: Nystroem(8),
    "fourier": lambda: RandomFourier(8),
}
SELECTIONS = {
    "greedy": lambda: GreedyCliques(6, 2),
    "each": lambda: GreedyCliques(6, 2, each_kernel=True),
    "sgps": lambda: SGPS(6, 2),
    "sgsa": lambda: SGSA(6, 2),
    "whole": lambda: WholeSequences(6, 2),
    "import": lambda: ImportVectors(6, sample=4),
}
POSTERIORS = {
    "laplace": lambda: Laplace(n_samples=2, probes=1, steps=3),
    "folds": lambda: Laplace(n_samples=2, evidence=False, folds=2),
    "variational": lambda: Variational(n_samples=2, rounds=1, draws=2, probes=1, steps=3),
    "mcmc": lambda: SliceSampling(n_samples=2, thin=1, burn_in=1),
}
CLASSES = {"more": lambda: ["O", "B-x", "I-x", "B-y"]}
GONE = {"none": lambda: None}
TEN = {"10": lambda: FreeScores(penalty=10.0)}
KNOWN = {"dict": lambda: FixedScores({"O": 0.5, "I-x": -1.0}), "function": lambda: FixedScores(leaning)}
LABELS_ALONE = {
    "bias": {**GONE, "space": lambda: FreeScores(norm=SpaceNorm(0.1))},
    "boundaries": GONE,
    "edges": {**GONE, **TEN, "l1": lambda: FreeScores(norm=L1Norm(0.3))},
    "second_order": {**GONE, "3": lambda: FreeScores(penalty=3.0)},
    "durations": TEN,
    "known": KNOWN,
}
"""Parts that do not look at observations: taken away, with a penalty, with a norm, or known."""
LOG_LOSSES = {
    "cost": lambda: Log("hamming"),
    "costs": lambda: Log({"O": 0.5, "B-x": 2.0}),
    **{name: lambda make=make: Log(class_weight=make()) for name, make in CLASS_WEIGHTS.items()},
}
LOSSES = {
    **LOG_LOSSES,
    **{name: lambda name=name: name for name in ("marginal-log", "pseudo", "piecewise", "entropy")},
    "weighed": lambda: MarginalLog(class_weight="balanced"),
    "weighed-pseudo": lambda: PseudoLikelihood(class_weight={"I-x": 3.0, "O": 0.5}),
}


def leaning(observations: Any) -> Any:
    """A base measure that prefers the last label."""
    return np.tile([0.0, 0.25, 0.5], (observations.shape[0], 1))


def linear_field() -> list[Setting]:
    return (
        of_parts(
            **LABELS_ALONE,
            features={"space": lambda: LinearScores(norm=SpaceNorm(0.3))},
            edge_features={"linear": lambda: LinearScores()},
        )
        + options(
            posterior=POSTERIORS,
            penalty=(0.1, 0.0),
            features=FEATURES,
            structure=("chain2", "segments"),
            l1=0.1,
            observed_only=True,
            classes=CLASSES,
            loss=LOSSES,
            constraints=CONSTRAINTS,
            solver=(
                "newton-cg",
                "block-jacobi",
                "subspace",
                "conjugate-gradients",
                "meta-descent",
                "iterative-scaling",
            ),
            decoder=without(DECODERS, "viterbi"),
            tol=1e-6,
            max_iter=2,
            run__patience=1,
            run__quick_start=2,
            run__checkpoint=CHECKPOINT,
            run__checkpoint_seconds=0.0,
            warm_start=True,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            dev=True,
            X_unlabelled=True,
        )
        + OBSERVED
    )


def kernel_field() -> list[Setting]:
    return (
        of_parts(
            **LABELS_ALONE,
            kernel={
                "labels": lambda: KernelScores(labels=np.eye(3) + 0.25),
                "space": lambda: KernelScores(norm=SpaceNorm(0.3)),
            },
            edge_kernel={
                "same": lambda: KernelScores(),
                "linear": lambda: KernelScores("linear"),
                "3": lambda: KernelScores(penalty=3.0),
            },
            both_ends={
                "rbf": lambda: KernelScores(RBF(gamma=0.3), on="edge", view="all", penalty=1.0),
            },
        )
        + options(
            kernel={**KERNELS, **SEVERAL, **WEIGHTED},
            penalty={"0.1": lambda: 0.1, "list": lambda: [0.5, 2.0]},
            features=FEATURES,
            structure=("chain2", "segments"),
            classes=CLASSES,
            loss=LOSSES,
            constraints=CONSTRAINTS,
            basis={**APPROXIMATIONS, **SELECTIONS},
            posterior=POSTERIORS,
            warm_start=True,
            solver=("newton-cg", "subspace"),
            decoder=without(DECODERS, "viterbi"),
            tol=1e-5,
            max_iter=2,
            run__patience=1,
            run__dtype="float64",
            run__memory_limit=1000,
            run__checkpoint=CHECKPOINT,
            run__checkpoint_seconds=0.0,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            X_unlabelled=True,
            dev=True,
        )
        + OBSERVED
    )


def gaussian_process() -> list[Setting]:
    return (
        of_parts(edges=GONE, edge_kernel={"same": lambda: KernelScores()}, known=KNOWN)
        + options(
            structure="chain2",
            kernel=KERNELS,
            sparse={"True": lambda: True, **without(SELECTIONS, "sgps")},
            edge_variance=0.2,
            posterior=POSTERIORS,
            warm_start=True,
            classes=CLASSES,
            features=FEATURES,
            solver="newton-cg",
            decoder=without(DECODERS, "viterbi"),
            tol=1e-5,
            max_iter=2,
            run__patience=1,
            run__dtype="float64",
            run__memory_limit=1000,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            X_unlabelled=True,
            dev=True,
        )
        + OBSERVED
    )


def logistic() -> list[Setting]:
    return (
        of_parts(bias=GONE, kernel={"labels": lambda: KernelScores(labels=np.eye(3) + 0.25)}, known=KNOWN)
        + options(
            structure="chain2",
            kernel={**KERNELS, **SEVERAL, **WEIGHTED},
            penalty={"0.1": lambda: 0.1, "list": lambda: [0.5, 2.0]},
            class_weight=CLASS_WEIGHTS,
            basis={**APPROXIMATIONS, **SELECTIONS},
            posterior=POSTERIORS,
            solver="newton-cg",
            tol=1e-5,
            max_iter=2,
            run__dtype="float64",
            run__memory_limit=1000,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            X_unlabelled=True,
        )
        + OBSERVED
    )


def transductive() -> list[Setting]:
    return (
        options(
            structure="chain2",
            kernel=KERNELS,
            penalty=0.1,
            unlabelled_weight=0.3,
            first_share=0.1,
            class_shares={"dict": lambda: {"O": 0.5, "B-x": 0.25, "I-x": 0.25}},
            class_weight=CLASS_WEIGHTS,
            tol=1e-6,
            max_iter=2,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            X_unlabelled=True,
        )
        + OBSERVED
    )


def label_graph() -> list[Setting]:
    return (
        options(
            graph={
                "three": lambda: NeighborGraph(3),
                "mutual": lambda: NeighborGraph(4, symmetrise="mutual"),
                "local": lambda: NeighborGraph(3, weights="local"),
            },
            tol=1e-6,
            max_iter=2,
            run__callback=CALLBACK,
            verbose=1,
            X_unlabelled=True,
        )
        + OBSERVED
    )


def margin() -> list[Setting]:
    return (
        of_parts(bias=GONE, boundaries=GONE, edges={**GONE, **TEN}, known=KNOWN)
        + options(
            kernel=KERNELS,
            penalty=0.1,
            rescaling=("slack", "zero-one"),
            cost={"zero-one": lambda: "zero-one", "table": lambda: 2 * (1 - np.eye(3))},
            classes=CLASSES,
            features=FEATURES,
            structure="chain2",
            constraints=CONSTRAINTS,
            norm="l1",
            solver=("dual-ascent", "one-slack", "bcfw", "n-slack", "subgradient", "linear-program"),
            decoder=without(DECODERS, "viterbi"),
            tol=0.05,
            max_iter=2,
            warm_start=True,
            run__dtype="float64",
            run__memory_limit=1000,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            X_unlabelled=True,
        )
        + OBSERVED
    )


def online() -> list[Setting]:
    """What all estimators that learn sequence by sequence have."""
    return (
        of_parts(bias=GONE, boundaries=GONE, edges=GONE, edge_features={"linear": lambda: LinearScores()})
        + options(
            structure="chain2",
            max_iter=1,
            features=FEATURES,
            classes=CLASSES,
            observed_only=True,
            constraints=CONSTRAINTS,
            decoder=without(DECODERS, "viterbi"),
            shuffle=False,
            run__patience=1,
            warm_start=True,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            dev=True,
        )
        + OBSERVED
    )


def perceptron() -> list[Setting]:
    return options(averaging=False) + online()


def passive_aggressive() -> list[Setting]:
    own = options(variant=("PA", "PA-II"), aggressiveness=0.1, error_sensitive=False, averaging=False)
    return own + online()


def arow() -> list[Setting]:
    return options(variance=2.0, gamma=0.5) + online()


def stochastic_field() -> list[Setting]:
    own = options(penalty=0.1, learning_rate=0.05, averaging=False)
    return own + of_parts(edges=TEN) + online()


def kernel_perceptron() -> list[Setting]:
    return (
        options(
            structure="chain2",
            kernel=KERNELS,
            combination=("voted", "last"),
            budget=5,
            max_iter=1,
            features=FEATURES,
            edges=False,
            classes=CLASSES,
            decoder=without(DECODERS, "viterbi"),
            shuffle=False,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            X_unlabelled=True,
        )
        + OBSERVED
    )


def memm() -> list[Setting]:
    return (
        options(
            structure="chain2",
            penalty=(0.1, 0.0),
            edge_penalty=10.0,
            features=FEATURES,
            classes=CLASSES,
            constraints=CONSTRAINTS,
            solver=("newton-cg", "conjugate-gradients"),
            decoder=without(DECODERS, "viterbi"),
            tol=1e-6,
            max_iter=2,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
        )
        + OBSERVED
    )


def hidden() -> list[Setting]:
    return (
        options(
            start={"even": lambda: [0.5, 0.0, 0.5]},
            transitions={"uneven": lambda: np.array([[0.5, 0.25, 0.25], [0.2, 0.4, 0.4], [0.3, 0.4, 0.3]])},
            constraints={**CONSTRAINTS, "left-right": lambda: "left-right", "cyclic": lambda: "cyclic"},
            pseudocount=(0.0, 2.0),
            n_init=2,
            tol=1e-3,
            max_iter=2,
            decoder=without(DECODERS, "viterbi"),
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight="uneven",
            labels="none",
        )
        + OBSERVED
    )


def boosted() -> list[Setting]:
    return (
        of_parts(
            bias={**GONE, **TEN},
            boundaries={**GONE, **TEN},
            edges={**GONE, **TEN},
            edge_trees={"grown": lambda: TreeScores()},
        )
        + options(
            max_iter=1,
            learning_rate=0.1,
            max_leaf_nodes={"2": lambda: 2, "None": lambda: None},
            max_depth=1,
            min_samples_leaf=5,
            penalty=0.1,
            max_features=0.5,
            subsample=0.6,
            categorical={"number": lambda: [0], "name": lambda: ["a"]},
            structure="chain2",
            classes=CLASSES,
            class_weight=CLASS_WEIGHTS,
            constraints=CONSTRAINTS,
            decoder=without(DECODERS, "viterbi"),
            run__patience=1,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            dev=True,
        )
        + OBSERVED
    )


def sequence_boosting() -> list[Setting]:
    return (
        options(
            n_rounds=2,
            max_step=0.1,
            n_candidates=3,
            balanced=True,
            features=FEATURES,
            fit_intercept=False,
            boundaries=False,
            classes=CLASSES,
            constraints=CONSTRAINTS,
            decoder=without(DECODERS, "viterbi"),
            tol=0.1,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
        )
        + OBSERVED
    )


def classified() -> dict[str, Any]:
    """What every model of classifiers begins with, unless a case says otherwise."""
    return {"classifier": KernelLogisticRegression("linear")}


def classifiers() -> list[Setting]:
    return (
        options(
            classifier={"kernel": lambda: KernelLogisticRegression("rbf", penalty=0.1)},
            kind="pmm",
            pseudocount=(0.0, 2.0),
            features=FEATURES,
            classes=CLASSES,
            constraints=CONSTRAINTS,
            decoder=without(DECODERS, "viterbi"),
            random_state=7,
            verbose=1,
            sample_weight=("uneven", "zeros"),
        )
        + OBSERVED
    )


def cascaded() -> dict[str, Any]:
    """What every cascade is made of, unless a case says otherwise."""
    return {"first": CRF(0.1), "second": CRF(0.1), "window": 3, "folds": 3}


def cascade() -> list[Setting]:
    return (
        options(
            first={
                "HMM": lambda: HMM("gaussian"),
                "text": lambda: CRF(features=TEMPLATES),
                "kernel": lambda: KernelCRF("rbf"),
            },
            second={
                "ruled": lambda: CRF(constraints="iob2", decoder="posterior"),
                "perceptron": lambda: StructuredPerceptron(max_iter=2, random_state=0),
                "kernel": lambda: KernelCRF("rbf"),
            },
            window=5,
            folds={"2": lambda: 2, "None": lambda: None},
            keep_inputs=True,
            weight=2.0,
            refit=False,
            random_state=7,
            verbose=1,
            groups="pairs",
            sample_weight="uneven",
        )
        + OBSERVED
    )


def self_trained() -> dict[str, Any]:
    """What every self-training begins with, unless a case says otherwise."""
    return {"estimator": CRF(random_state=0)}


def self_training() -> list[Setting]:
    return (
        options(
            estimator={
                "kernel": lambda: KernelCRF("rbf", random_state=0),
                "order": lambda: CRF(structure="chain2", random_state=0),
                "words": lambda: CRF(features=TEMPLATES, random_state=0),
            },
            threshold=(0.0, 0.9),
            k_best=1,
            by=("average", "position"),
            max_iter=(0, None),
            verbose=1,
            sample_weight=("uneven", "zeros"),
            dev=True,
            X_unlabelled=True,
        )
        + OBSERVED
    )


def piped() -> dict[str, Any]:
    """What every pipeline begins with, unless a case says otherwise."""
    return {"transformers": [], "estimator": CRF(random_state=0)}


def pipeline() -> list[Setting]:
    return (
        options(
            transformers={
                "scaled": lambda: [each(StandardScaler())],
                "windows": lambda: [each(StandardScaler(), per_sequence=True), Windows(3)],
            },
            estimator={
                "kernel": lambda: KernelCRF("rbf", random_state=0),
                "order": lambda: CRF(structure="chain2", random_state=0),
            },
            sample_weight=("uneven", "zeros"),
            dev=True,
        )
        + OBSERVED
    )


def owning() -> dict[str, Any]:
    """What every learner of states begins with, unless a case says otherwise."""
    return {"estimator": CRF(random_state=0), "n_init": 1}


def hidden_states() -> list[Setting]:
    return (
        options(
            estimator={
                "kernel": lambda: KernelCRF("rbf", random_state=0),
                "order": lambda: CRF(structure="chain2", random_state=0),
                "words": lambda: CRF(features=TEMPLATES, random_state=0),
            },
            method="em",
            share=0.5,
            start=("random", "run"),
            n_init=2,
            decoder="viterbi",
            random_state=7,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            X_unlabelled=True,
        )
        + OBSERVED
    )


def hidden_units() -> list[Setting]:
    return (
        of_parts(
            bias=GONE,
            boundaries=GONE,
            edges={**GONE, **TEN},
            second_order={"3": lambda: FreeScores(penalty=3.0)},
        )
        + options(
            penalty=(1.0, 0.0),
            n_units=5,
            features=FEATURES,
            structure="chain2",
            classes=CLASSES,
            loss=LOG_LOSSES,
            constraints=CONSTRAINTS,
            n_init=2,
            solver="conjugate-gradients",
            decoder=without(DECODERS, "viterbi"),
            tol=1e-3,
            max_iter=5,
            run__patience=1,
            random_state=7,
            run__callback=CALLBACK,
            verbose=1,
            sample_weight=("uneven", "zeros"),
            dev=True,
        )
        + OBSERVED
    )


def extended() -> dict[str, Any]:
    """What every learner of structures begins with, unless a case says otherwise."""
    return {
        "estimator": KernelCRF("rbf", parts=Parts(edges=None, boundaries=None), random_state=0),
        "candidates": [Edges(), Boundaries()],
    }


def structure() -> list[Setting]:
    return (
        options(
            estimator={
                "penalty": lambda: KernelCRF("rbf", penalty=0.1, parts=Parts(edges=None)),
                "ruled": lambda: KernelCRF("linear", parts=Parts(edges=None), constraints="iob2"),
            },
            candidates={
                "order": lambda: [Edges(), SecondOrder()],
                "inputs": lambda: [Edges(), InputEdges("rbf")],
                "kernel": lambda: [FurtherKernel("linear", 1.0)],
                "none": list,
            },
            worth=(0.0, 0.5),
            search="gain",
            per_round=2,
            verbose=1,
            sample_weight="uneven",
            dev=True,
        )
        + OBSERVED
    )


def without(table: dict[str, Any], name: str) -> dict[str, Any]:
    """A table less the value that is the default."""
    return {key: value for key, value in table.items() if key != name}
