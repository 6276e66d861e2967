"""Handwritten words of which a few have labels: a graph over all letters, with and without words."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from kernelfields.arrays import Array
from kernelfields.datasets import load_letters
from kernelfields.graphs import NeighborGraph, harmonic, poisson, spread

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.few_labels import Candidate
from .lib.graph_learning import graph_learning
from .lib.intervals import paired_interval
from .lib.results import Outcome
from .lib.semi_methods import (
    FieldMethod,
    GraphMethod,
    MarginMethod,
    SemiMethod,
    SingleMargin,
    field_methods,
)
from .lib.semi_pool import SequencePool
from .lib.semi_trials import Errors, TrialPlan, draw_errors, error_rows, run_trials

RADIAL, GRAPH, BOTH = "kernel CRF, RBF", "kernel CRF, graph", "kernel CRF, RBF + graph"


@dataclass(frozen=True)
class LettersSemiSettings:
    """Words, the graph over their letters, and settings to choose from."""

    max_words: int
    """At most that many words, labelled and unlabelled."""
    sizes: list[int]
    """Labelled words."""
    n_trials: int
    test_words: int
    n_folds: int
    blur: float
    """Standard deviation, in pixels, of the blur of images; neighbours are more alike then."""
    n_neighbors: int
    n_eigenpairs: int
    epsilons: list[float]
    gammas: list[float]
    penalties: list[float]
    weights: list[float]
    """Of the graph kernel beside the RBF kernel."""
    edge_penalty: float
    svm_penalties: list[float]
    alphas: list[float]
    """α of label spreading."""
    tol: float
    svm_tol: float
    seed: int


def run(settings: LettersSemiSettings, report: Report) -> Outcome:
    """Make one graph over all letters; label some words in every trial, and test on others."""
    report("making the graph")
    pool = letters_pool(settings)
    methods = methods_of(pool, settings)
    plan = TrialPlan(settings.sizes, settings.n_trials, settings.test_words, settings.n_folds, settings.seed)
    errors = run_trials(pool, methods, plan, report)
    fields = [method.gap for method in methods.values() if isinstance(method, FieldMethod)]
    claims = [*_claims(errors, plan), Claim("largest_relative_gap", max(fields), at_most=settings.tol)]
    rows = error_rows(errors, plan, RADIAL, "words")
    details = {
        "errors": {name: found.tolist() for name, found in errors.items()},
        "graph": repr(pool.graph),
        "share of neighbours with equal letters": pool.equal_share(),
    }
    return Outcome("letters-semi", claims, rows, details, _notes(pool, settings))


def letters_pool(settings: LettersSemiSettings) -> SequencePool:
    """Return words with blurred images, and the graph over their letters."""
    letters = load_letters()
    chosen = np.random.default_rng(settings.seed).permutation(len(letters.labels))[: settings.max_words]
    images = [blurred(letters.images[i], settings.blur) for i in chosen]
    graph = NeighborGraph(settings.n_neighbors).on(np.concatenate(images))
    labels = [letters.labels[i] for i in chosen]
    return SequencePool(images, labels, graph, settings.n_eigenpairs, settings.epsilons)


def blurred(images: Array, width: float) -> Array:
    """Return images of 16 × 8 pixels, blurred."""
    found = gaussian_filter(images.reshape(-1, 16, 8), (0, width, width), mode="constant")
    return np.asarray(found.reshape(-1, 128), dtype=np.float32)


def methods_of(pool: SequencePool, settings: LettersSemiSettings) -> dict[str, SemiMethod]:
    """Return all methods by name."""
    radial = [pool.radial(gamma) for gamma in settings.gammas]
    graph = [pool.graph_kernel(epsilon) for epsilon in settings.epsilons]
    both = [radial[-1] + weight * kernel for weight, kernel in product(settings.weights, graph)]
    kernels = {RADIAL: radial, GRAPH: graph, BOTH: both}
    margins = [Candidate(radial[-1], penalty) for penalty in settings.svm_penalties]
    return {
        **field_methods(pool, kernels, settings.penalties, settings.edge_penalty, settings.tol),
        "structured SVM, RBF": MarginMethod(pool, margins, settings.svm_tol),
        "SVC, RBF": SingleMargin(pool, margins),
        **_graph_only(pool, settings),
    }


def _graph_only(pool: SequencePool, settings: LettersSemiSettings) -> dict[str, SemiMethod]:
    """Return methods that know neighbours and no words."""
    adjacency, n_labels = pool.graph.adjacency, len(pool.classes)

    def spreading(known: Array, alpha: float) -> Array:
        return spread(adjacency, known, alpha=alpha).probabilities

    def harmonically(known: Array, _: Any) -> Array:
        return harmonic(adjacency, known).probabilities

    def potentials(known: Array, _: Any) -> Array:
        return poisson(adjacency, known).scores

    def of_sklearn(known: Array, alpha: float) -> Array:
        from sklearn.semi_supervised import LabelSpreading

        model = LabelSpreading(kernel=lambda *_: adjacency.copy(), alpha=alpha)
        model.fit(np.arange(len(known))[:, None], known)
        found = np.zeros((len(known), n_labels))
        found[:, model.classes_] = model.label_distributions_
        return found

    rivals = graph_learning(adjacency, n_labels)
    return {
        "label spreading": GraphMethod(pool, settings.alphas, spreading),
        "harmonic": GraphMethod(pool, [None], harmonically),
        "Poisson learning": GraphMethod(pool, [None], potentials),
        "LabelSpreading of scikit-learn": GraphMethod(pool, [0.2], of_sklearn),
        **{name: GraphMethod(pool, [None], method) for name, method in rivals.items()},
    }


def _claims(errors: Errors, plan: TrialPlan) -> list[Claim]:
    """Claim what is below the RBF's error: at the lower ends of 95 % intervals, in points."""
    claims = []
    for column, size in enumerate(plan.sizes):
        for name, short in ((GRAPH, "graph"), (BOTH, "rbf_and_graph")):
            low, _ = paired_interval((errors[RADIAL] - errors[name])[:, column].tolist())
            claims.append(Claim(f"{short}_below_rbf_at_{size}_words_lower_end", low, at_least=0.0))
        only = [name for name in errors if not name.startswith(("kernel CRF", "structured", "SVC"))]
        ahead = [paired_interval((errors[name] - errors[BOTH])[:, column].tolist())[0] for name in only]
        claims.append(Claim(f"below_all_graph_only_at_{size}_words_lower_end", min(ahead), at_least=0.0))
    return claims


def _notes(pool: SequencePool, settings: LettersSemiSettings) -> list[str]:
    return [
        f"{len(pool.y)} words with {pool.offsets[-1]} letters, images blurred by {settings.blur:g} pixels; "
        f"one graph of {settings.n_neighbors} nearest neighbours over all letters, labelled or not: "
        f"{pool.graph!r}. Means over {settings.n_trials} trials, each tested on {settings.test_words} words "
        "without labels that are in the graph; 95 % intervals of differences trial by trial.",
        "All settings (γ, ε, penalties, weights, α) are chosen in every trial by cross-validation of its "
        "labelled words; LabelSpreading has its own α of 0.2, on the same graph.",
        "Label spreading, harmonic functions (Laplace learning), Poisson learning, and the methods of "
        "graphlearning, where it is installed, know neighbours and no words; SVC knows neither.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw errors of all methods against the number of labelled words."""
    draw_errors(outcome, figure, "labelled words", "letters wrong, %")


LETTERS_SEMI = Experiment(
    "letters-semi",
    "OCR letters, a few words with labels: RBF and graph kernels beside methods of the graph alone",
    "none: the letters come with the package",
    LettersSemiSettings,
    run,
    draw,
)
