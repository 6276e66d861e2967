"""Write the model files of the present version, with their predictions:

    python -m tests.regression.write

Before every release, and whenever an estimator is new; files that are there are never written again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

import kernelfields as kf
from kernelfields import FixedScores, FreeScores, KernelScores, Parts, kernels
from kernelfields.approximation import Nystroem, RandomFourier
from kernelfields.emissions import Categorical, UnknownWords
from kernelfields.estimators.registry import REGISTRY
from kernelfields.features import Windows, each
from kernelfields.graphs import NeighborGraph
from kernelfields.models.clique_types import Edges, InputEdges
from kernelfields.objective import L1Norm
from kernelfields.posterior import Laplace
from kernelfields.selection import SGPS, GreedyCliques

HERE = Path(__file__).parent
WORDS = [["the", "dog", "barks"], ["a", "cat", "sleeps", "now"], ["dogs", "bark"], ["thé", "cat"]]
TAGS = [["B-D", "I-D", "O"], ["B-D", "I-D", "O", "O"], ["B-D", "O"], ["B-D", "I-D"]]
DICTS = [[{"w": word, "len": len(word) / 5} for word in sentence] for sentence in WORDS]
TEMPLATES = "columns: w\nw[-1..1]\nsuffix2(w[0])\nw[-1] & w[0]"


def rows() -> tuple[Any, Any]:
    """Small sequences of numbers; their labels are numbers too."""
    rng = np.random.default_rng(7)
    y = [rng.integers(0, 3, size=n).tolist() for n in (3, 5, 1, 4)]
    return [(np.eye(3)[labels] + 0.3 * rng.normal(size=(len(labels), 3))).round(3) for labels in y], y


def names() -> tuple[Any, Any]:
    """Sequences of a name and a number, enough of each name for trees to split by."""
    rng = np.random.default_rng(8)
    names = [rng.integers(0, 4, size=n) for n in (30, 30, 20)]
    return [np.column_stack([x, rng.normal(size=len(x)).round(2)]) for x in names], [
        (x % 3).tolist() for x in names
    ]


def trees(X: Any) -> Any:
    """The same rows, each the child of the one two before it."""
    return [(x, [-1, *(max(0, v - 2) for v in range(1, len(x)))]) for x in X]


def models() -> dict[str, tuple[Any, Any, Any]]:
    """The models, each with its training set."""
    X, y = rows()
    mixed = [[("a", 1) if label == 0 else 1.5 if label == 1 else "z" for label in labels] for labels in y]
    rbf = kernels.RBF(gamma=0.5)
    return {
        "arow": (kf.AROW(random_state=0), X, y),
        "boosted-crf": (
            kf.BoostedCRF(2, max_leaf_nodes=3, min_samples_leaf=2, categorical=[0], random_state=0),
            *names(),
        ),
        "cascade": (kf.Cascade(kf.CRF(), kf.KernelCRF(rbf), window=3, folds=2, random_state=0), X, y),
        "crf": (kf.CRF(), X, mixed),
        "crf-calibrated": (kf.CRF(), X, y),
        "crf-dicts": (kf.CRF(observed_only=True), DICTS, TAGS),
        "crf-order-2": (kf.CRF(structure="chain2", penalty=0.5), X, y),
        "crf-posterior": (kf.CRF(posterior=Laplace(n_samples=2), random_state=0), X, y),
        "crf-tree": (
            kf.CRF(
                structure="tree",
                parts=Parts(
                    edges=FreeScores(norm=L1Norm(0.1)),
                    known=FixedScores(kf.CliqueMeasures(edge=np.eye(3).tolist())),
                ),
            ),
            trees(X),
            y,
        ),
        "crf-words": (kf.CRF(features=TEMPLATES, constraints="iob2"), WORDS, TAGS),
        "gp-sequence-classifier": (kf.GPSequenceClassifier(2 * rbf), X, y),
        "gp-sequence-classifier-sparse": (
            kf.GPSequenceClassifier(2 * rbf, sparse=SGPS(size=4, step=2), random_state=0),
            X,
            y,
        ),
        "hmm": (kf.HMM("gaussian-full"), X, y),
        "hmm-bernoulli": (kf.HMM("bernoulli"), [(x > 0.5).astype(float) for x in X], y),
        "hmm-counts": (kf.HMM("poisson"), [np.floor(np.abs(4 * x)) for x in X], y),
        "hmm-mixture": (kf.HMM("gaussian-mixture"), X, y),
        "hmm-multinomial": (kf.HMM("multinomial"), [np.floor(np.abs(4 * x)) for x in X], y),
        "hmm-words": (kf.HMM(Categorical(unknown=UnknownWords(least=1))), WORDS, TAGS),
        "kernel-crf": (
            kf.KernelCRF(rbf + kernels.Linear(), parts=Parts(edge_kernel=KernelScores("linear"))),
            X,
            y,
        ),
        "kernel-crf-cliques": (
            kf.KernelCRF(
                rbf,
                parts=Parts(both_ends=KernelScores(rbf, on="edge", view="mean", penalty=1.0)),
                structure="tree",
            ),
            trees(X),
            y,
        ),
        "kernel-crf-fourier": (kf.KernelCRF(basis=RandomFourier(8), random_state=0), X, y),
        "kernel-crf-nystroem": (kf.KernelCRF(basis=Nystroem(rank=5), random_state=0), X, y),
        "kernel-crf-posterior": (
            kf.KernelCRF(rbf, posterior=Laplace(n_samples=2), random_state=0),
            X,
            y,
        ),
        "kernel-crf-selection": (
            kf.KernelCRF([rbf, "linear"], basis=GreedyCliques(size=4, step=2)),
            X,
            y,
        ),
        "kernel-crf-strings": (kf.KernelCRF(kernels.Normalized(kernels.Spectrum())), WORDS, TAGS),
        "kernel-crf-words": (kf.KernelCRF("linear", features=TEMPLATES), WORDS, TAGS),
        "kernel-logistic-regression": (kf.KernelLogisticRegression(rbf), X, y),
        "kernel-perceptron": (
            kf.KernelPerceptron(rbf, combination="voted", max_iter=2, random_state=0),
            X,
            y,
        ),
        "label-propagation": (
            kf.LabelPropagation(NeighborGraph(3, weights="local")),
            X,
            [*y[:2], None, None],
        ),
        "label-spreading": (
            kf.LabelSpreading(NeighborGraph(3, weights="rbf"), alpha=0.9),
            X,
            [*y[:2], None, None],
        ),
        "classifier-markov-model": (
            kf.ClassifierMarkovModel(kf.KernelLogisticRegression("linear")),
            X[:2],
            y[:2],
        ),
        "markov-field": (
            kf.MarkovField(structure="graph", links=[[0, 1], [1, 2], [0, 2]], tables="own"),
            [["a", "b", None], ["b", None, "a"], ["a", "a", "b"], [None, "a", "a"]],
            None,
        ),
        "field-clustering": (kf.FieldClustering(3, kernel=rbf, n_init=1, random_state=0), X, None),
        "hidden-states": (kf.HiddenStates(kf.CRF(), n_states={0: 2}, n_init=1, random_state=0), X, y),
        "hidden-unit-crf": (kf.HiddenUnitCRF(n_units=3, random_state=0), X, y),
        "sequence-clustering": (kf.SequenceClustering(2, kernel=rbf, n_init=1, random_state=0), X, None),
        "memm": (kf.MEMM(), X, y),
        "passive-aggressive": (kf.PassiveAggressive(random_state=0), X, y),
        "poisson-learning": (kf.PoissonLearning(NeighborGraph(3)), X, [*y[:2], None, None]),
        "sequence-pipeline": (
            kf.SequencePipeline([each(StandardScaler()), Windows(3, padding="edge")], kf.CRF()),
            X,
            y,
        ),
        "self-training": (kf.SelfTraining(kf.CRF(), by="average"), X, [*y[:3], None]),
        "sequence-adaboost": (kf.SequenceAdaBoost(5), X[:2], y[:2]),
        "stochastic-crf": (kf.StochasticCRF(max_iter=2, random_state=0), X, y),
        "structure-learner": (
            kf.StructureLearner(
                kf.KernelCRF(rbf, parts=Parts(edges=None)),
                candidates=[Edges(), InputEdges("linear")],
                worth=1e-4,
            ),
            X,
            y,
        ),
        "structured-perceptron": (kf.StructuredPerceptron(features=TEMPLATES, random_state=0), WORDS, TAGS),
        "structured-svm": (kf.StructuredSVM(features=TEMPLATES, constraints="iob2", tol=0.1), WORDS, TAGS),
        "structured-svm-kernel": (kf.StructuredSVM(rbf, tol=0.1), X, y),
        "transductive-svm": (kf.TransductiveSVM(rbf), X, [[None, *labels[1:]] for labels in y]),
    }


def _noisy(X: Any, y: Any) -> tuple[Any, Any]:
    """The sequences many times, every tenth time with other labels."""
    wrong = [[(label + 1) % 3 for label in labels] for labels in y]
    return X * 50, (wrong + y * 9) * 5


AFTER_FIT: dict[str, Callable[[Any, Any, Any], Any]] = {
    "crf-calibrated": lambda model, X, y: model.recalibrate(*_noisy(X, y)).calibrate(*_noisy(X, y)),
}
"""What is done to models before they are saved."""


def marginals(model: Any, X: Any) -> list[Any]:
    """p(y_t|x), whatever the estimator calls it; scores where it has none."""
    if isinstance(model, kf.TransductiveSVM | kf.PoissonLearning):
        return [m.tolist() for m in model.decision_function(X)]
    ask = model.predict_proba if hasattr(model, "predict_proba") else model.predict_marginals
    return [m.tolist() for m in ask(X)]


def main() -> None:
    folder = HERE / kf.__version__
    folder.mkdir(exist_ok=True)
    known = folder / "marginals.json"
    found = json.loads(known.read_text()) if known.exists() else {}
    for name, (model, X, y) in models().items():
        if name not in found:
            model = AFTER_FIT.get(name, lambda model, *_: model)(model.fit(X, y), X, y)
            model.save(folder / f"{name}.kf")
            found[name] = marginals(model, X)
    known.write_text(json.dumps(found))
    names = {*REGISTRY.recipes, *(row.name for row in REGISTRY.stored)}
    classes = folder / "classes.txt"
    written = classes.read_text().split() if classes.exists() else []
    classes.write_text("\n".join(sorted(names.union(written))) + "\n")


if __name__ == "__main__":
    main()
