"""Scores of fitted models from their documented attributes, by the formulas of their docstrings."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import log_softmax

from kernelfields import (
    HMM,
    MEMM,
    BoostedCRF,
    Cascade,
    ClassifierMarkovModel,
    HiddenStates,
    HiddenUnitCRF,
    KernelLogisticRegression,
    KernelPerceptron,
    SelfTraining,
    SequencePipeline,
    StructureLearner,
)
from kernelfields.kernels import RBF
from kernelfields.structures import Graph, Tree
from kernelfields.transduction import LabelGraphClassifier

from .densities import log_density
from .enumeration import Scores, distribution, forbid
from .inputs import Given
from .links import Neighbours, edges_of, ends_of
from .trees import forest_scores


def _transformed(model: SequencePipeline, given: Given) -> Given:
    """Give what the estimator of a pipeline sees."""
    rows = given.rows
    for one in model.transformers_:
        rows = rows if rows is None else one.transform(rows)
    return given._replace(rows=rows)


def scores_of(model: Any, given: Given) -> list[Scores] | None:
    """Give the scores of every sequence; None where no attribute says them."""
    if isinstance(model, StructureLearner):
        return scores_of(model.model_, given)
    if isinstance(model, SelfTraining):
        return scores_of(model.estimator_, given)
    if isinstance(model, SequencePipeline):
        return scores_of(model.estimator_, _transformed(model, given))
    if isinstance(model, HiddenStates):
        return None  # no scores of labels: probabilities are sums over states
    if getattr(model, "posterior_", None) is not None:
        return None  # a mean over functions
    if isinstance(model, Cascade):
        return _of_cascade(model, given)
    if isinstance(model, LabelGraphClassifier):
        return None  # a graph over all observations says them
    if isinstance(model, KernelPerceptron) and model.combination == "voted":
        return None  # a vote of many functions, of which the attributes keep the mean
    observations = _observations(model, given)
    linked = given.links if isinstance(getattr(model, "structure_", None), Tree | Graph) else None
    links = [None] * len(observations) if linked is None else linked
    found = [_of_item(model, x, joined) for x, joined in zip(observations, links, strict=True)]
    return [forbid(scores, getattr(model, "forbidden_", None)) for scores in found]


def _observations(model: Any, given: Given) -> list[Any]:
    """What the formulas call x, for every sequence."""
    if given.rows is not None:
        return given.rows
    if isinstance(model, HMM):
        return given.X
    matrix, lengths = model.features_.transform(given.features)
    if sparse.issparse(matrix):
        matrix = matrix.toarray().astype(np.float64)
    return np.split(matrix, np.cumsum(lengths)[:-1])


def _of_item(model: Any, x: Any, links: Any) -> Scores:
    if isinstance(model, HMM):
        return _hidden(model, x)
    if isinstance(model, MEMM):
        return _memm(model, x, links)
    if isinstance(model, ClassifierMarkovModel):
        return _classified(model, x)
    tails, heads = edges_of(links, len(x))
    roots, leaves = ends_of(links, len(x))
    count = len(model.classes_)
    node = _node(model, x) + getattr(model, "intercept_", 0.0)
    node = node + _base_measure(model, x)
    node[roots] += getattr(model, "start_", 0.0)
    node[leaves] += getattr(model, "end_", 0.0)
    edge = np.zeros((len(tails), count, count)) + getattr(model, "transitions_", 0.0)
    edge = edge + _edges_with_input(model, x[tails]) + _edges_with_both(model, x[tails], x[heads])
    return Scores(node, edge, getattr(model, "second_order_", None), links, _lengths(model, len(x)))


def _lengths(model: Any, longest: int) -> Any:
    """Scores of runs by their length, those of its bin."""
    durations = getattr(model, "durations_", None)
    if durations is None:
        return None
    bins = [
        max(b for b, end in enumerate(model.structure_.lower_ends) if end <= n + 1) for n in range(longest)
    ]
    return np.asarray(durations, dtype=np.float64)[bins]


def _node(model: Any, x: Any) -> Any:
    """Scores of labels that look at observations."""
    if isinstance(model, BoostedCRF):
        return forest_scores(model.forests_["node"], x)
    if getattr(model, "dual_coef_", None) is not None:
        return _expansion(model, x)
    if isinstance(model, HiddenUnitCRF):
        units = x @ model.unit_coef_.T + model.unit_intercept_
        return np.logaddexp(0.0, units[:, :, None] + model.unit_labels_).sum(axis=1)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    return x @ np.asarray(coef, dtype=np.float64).T


def _expansion(model: Any, x: Any) -> Any:
    """f(x, y) = Σ_o k(x, basis_o) dual_coef_{o,y}, or with random features ⟨dual_coef_y, φ(x)⟩."""
    coef = np.asarray(model.dual_coef_, dtype=np.float64)
    if getattr(model, "fourier_", None) is not None:
        return _fourier(model.fourier_, x) @ coef
    kernel = model.kernel_
    if not isinstance(kernel, dict):
        return _values(kernel, x, model.basis_) @ coef
    if set(kernel) == set(model.classes_.tolist()):
        columns = [
            _values(kernel[label], x, model.basis_) @ coef[:, k]
            for k, label in enumerate(model.classes_.tolist())
        ]
        return np.stack(columns, axis=1)
    field = model.sequence_model() if isinstance(model, KernelLogisticRegression) else model
    ends = [0, *field._kernels.ends]  # which part of the basis is whose
    parts = zip(kernel.values(), ends[:-1], ends[1:], strict=True)
    return sum(_values(k, x, model.basis_[a:b]) @ coef[a:b] for k, a, b in parts)


def _fourier(features: Any, x: Any) -> Any:
    angles = x @ np.asarray(features.frequencies, dtype=np.float64).T
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1) / np.sqrt(len(features.frequencies))


def _values(kernel: Any, x: Any, basis: Any) -> Any:
    """Kernel values in double precision; those of the usual kernel by its formula."""
    basis = basis.toarray() if sparse.issparse(basis) else np.asarray(basis)
    if len(basis) == 0 or len(x) == 0:
        return np.zeros((len(x), len(basis)))
    if basis.dtype != object:
        basis = basis.astype(np.float64)
    if type(kernel) is RBF:
        return np.exp(-kernel.gamma * ((x[:, None] - basis[None]) ** 2).sum(axis=2))
    return np.asarray(kernel(x, basis), dtype=np.float64)


def _base_measure(model: Any, x: Any) -> Any:
    """What was added to the scores and not learnt."""
    measure = getattr(model, "base_measure_", None)
    if measure is None:
        return 0.0
    if callable(measure):
        return measure(x)
    return np.array([measure.get(label, 0.0) for label in model.classes_.tolist()])


def _edges_with_input(model: Any, x: Any) -> Any:
    """Scores of label pairs that look at the first of their positions, in trees the parent."""
    count = len(model.classes_)
    if isinstance(model, BoostedCRF) and "edge" in model.forests_:
        return forest_scores(model.forests_["edge"], x).reshape(-1, count, count)
    if getattr(model, "edge_coef_", None) is not None:
        return np.einsum("td,ijd->tij", x, np.asarray(model.edge_coef_, dtype=np.float64))
    if getattr(model, "edge_dual_coef_", None) is None:
        return 0.0
    coef = np.asarray(model.edge_dual_coef_, dtype=np.float64).reshape(-1, count * count)
    if model.fourier_ is not None:
        return (_fourier(model.fourier_, x) @ coef).reshape(-1, count, count)
    return (_values(model.edge_kernel_, x, model.basis_) @ coef).reshape(-1, count, count)


def _edges_with_both(model: Any, first: Any, second: Any) -> Any:
    """Scores of label pairs that look at both of their positions."""
    found = (getattr(model, "parts_", None) or {}).values()
    both = np.hstack([first, second])
    return sum(
        np.tensordot(_values(one.kernel, both, one.basis), one.coef, axes=1)
        for one in found
        if (one.on, one.view) == ("edge", "all")
    )


def _hidden(model: Any, x: Any) -> Scores:
    """Log p(x, y)."""
    with np.errstate(divide="ignore"):
        node = log_density(model.emissions_, x)
        node[0] += np.log(model.start_)
        edge = np.tile(np.log(model.transitions_), (len(x) - 1, 1, 1))
    return Scores(node, edge)


def _memm(model: Any, x: Any, parents: Any) -> Scores:
    """Log-probabilities of every label given the one before it, in trees the parent's."""
    local = _node(model, x) + model.intercept_
    node = np.zeros_like(local)
    roots, _ = ends_of(parents, len(x))
    _, heads = edges_of(parents, len(x))
    node[roots] = log_softmax(local[roots] + model.start_, axis=-1)
    edge = log_softmax(local[heads, None, :] + model.transitions_, axis=-1)
    return Scores(node, edge, links=parents)


def _classified(model: Any, x: Any) -> Scores:
    """Log-probabilities by one classifier and counts, or by a classifier for each label before."""
    count = len(model.classes_)

    def chances(k: int, constant: Any, rows: Any) -> Any:
        one, trust = model.classifiers_[k], model.trust_[k]
        if one is None:
            return np.tile(constant, (len(rows), 1))
        result = np.zeros((len(rows), count))
        if len(rows):
            result[:, one.classes_] = one.predict_proba(np.asarray(rows))
        return trust * result + (1 - trust) / count

    with np.errstate(divide="ignore"):
        if len(model.classifiers_) == 1:
            node = np.log(chances(0, model.shares_, x)) - np.log(np.where(model.shares_, model.shares_, 1.0))
            node[0] += np.log(model.start_)
            return Scores(node, np.tile(np.log(model.transitions_), (len(x) - 1, 1, 1)))
        node = np.zeros((len(x), count))
        node[:1] = np.log(chances(count, model.start_, x[:1]))
        after = [np.log(chances(k, model.transitions_[k], x[1:])) for k in range(count)]
    return Scores(node, np.stack(after, axis=1))


def _rings(frames: Any, v: int, pairs: list[tuple[int, int]], half: int) -> Any:
    """A vertex, the mean of its neighbours, of what is two edges away, and so on."""
    near, parts = {v}, [frames[v]]
    for _ in range(half):
        ring = sorted({b for a, b in (*pairs, *((b, a) for a, b in pairs)) if a in near} - near)
        parts.append(frames[ring].mean(axis=0) if ring else np.zeros(frames.shape[1]))
        near |= {*ring}
    return np.concatenate(parts)


def _window(frames: Any, v: int, links: Any, half: int) -> Any:
    """Ancestors of a vertex, the vertex, the mean of its children, of their children, and so on."""
    if isinstance(links, Neighbours):
        return _rings(frames, v, links.pairs, half)
    parents = range(-1, len(frames) - 1) if links is None else links  # sequences are paths
    nothing, above, below = np.zeros(frames.shape[1]), [], []
    ancestor, generation = v, [v]
    for _ in range(half):
        ancestor = parents[ancestor] if ancestor >= 0 else -1
        above.append(frames[ancestor] if ancestor >= 0 else nothing)
        generation = [child for child, parent in enumerate(parents) if parent in generation]
        below.append(frames[generation].mean(axis=0) if generation else nothing)
    return np.concatenate([*above[::-1], frames[v], *below])


def _of_cascade(model: Any, given: Given) -> list[Scores] | None:
    """Give the second model's scores of windows of the first model's marginals."""
    classes, windows = model.classes_.tolist(), []
    means = [np.zeros((len(x), len(classes))) for x in given.rows or given.features]
    for first in model.first_:
        columns = [classes.index(label) for label in first.classes_.tolist()]
        for mean, scores in zip(means, scores_of(first, given) or (), strict=True):
            mean[:, columns] += distribution(scores).marginals / len(model.first_)
    links = given.links or [None] * len(means)
    for s, mean in enumerate(means):
        half = (model.window - 1) // 2
        window = np.stack([_window(model.weight * mean, v, links[s], half) for v in range(len(mean))])
        windows.append(np.hstack([window, given.rows[s]]) if model.keep_inputs and given.rows else window)
    return scores_of(model.second_, Given(windows, None, windows, given.links))
