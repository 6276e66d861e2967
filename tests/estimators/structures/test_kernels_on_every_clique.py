"""Kernels on cliques of every type, against the written-out objective and sums over every output."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.special

from kernelfields import KernelCRF, KernelScores, Parts, Run, load
from kernelfields.kernels import RBF
from kernelfields.structures import (
    CandidateSegments,
    Constituency,
    ConstituencyBatch,
    Dependency,
    DependencyBatch,
    Graph,
    Segments,
    SiblingDependency,
    SiblingDependencyBatch,
)
from kernelfields.structures.sibling_rows import every_sibling
from kernelfields.testing.brute import every_output
from tests._listed_parses import ListedParses
from tests._listed_trees import ListedSiblingTrees, ListedTrees
from tests._parts import free

LISTED = {
    DependencyBatch: ListedTrees,
    SiblingDependencyBatch: ListedSiblingTrees,
    ConstituencyBatch: ListedParses,
}
"""Classes that list outputs, which are no labels."""
K, MINE = RBF(gamma=0.3), RBF(gamma=0.15)
FINE = {"run": Run(dtype="float64"), "tol": 1e-10, "max_iter": 5000}
BARE = {"bias": None, "boundaries": None}


class Written:
    """R(w) = Σ_s log Σ_y exp⟨θ, parts(y)⟩ − ⟨θ, parts(y_s)⟩ + Σ λ/2 ‖w‖², θ = F w for every clique type."""

    def __init__(self, batch: Any, outputs: Any) -> None:
        self.batch, self.items, self.true = batch, [], []
        for s in range(batch.n_instances):
            one = batch.take([s])
            one.__class__ = LISTED.get(type(one), type(one))
            every = every_output(one)
            self.items.append([{c: p.ravel() for c, p in one.parts(y).items()} for y in every])
            mine = batch.cut_outputs(outputs, [s])
            self.true.append(int(np.flatnonzero((every == mine).all(axis=1))[0]))
        self.terms: list[tuple[str, Any, float]] = []

    def add_kernel(self, clique: str, kernel: Any, seen: Any, penalty: float) -> None:
        """A function of what every clique sees: F Fᵀ = K, for each of the values of a clique."""
        values, vectors = np.linalg.eigh(np.asarray(kernel(seen)))
        factor = vectors * np.sqrt(np.maximum(values, 0))
        width = int(np.prod(self.batch.cliques[clique].values))
        self.terms.append((clique, np.kron(factor, np.eye(width)), penalty))

    def add_free(self, clique: str, penalty: float) -> None:
        """A table for all cliques of a type."""
        cliques = self.batch.cliques[clique]
        width = int(np.prod(cliques.values))
        copies = 1 if cliques.shared else cliques.count
        self.terms.append((clique, np.tile(np.eye(width), (copies, 1)), penalty))

    def theta(self, w: Any) -> dict[str, Any]:
        scores = {c: np.zeros(int(np.prod(shape))) for c, shape in self.batch.shapes.items()}
        for (clique, factor, _), part in zip(self.terms, self._split(w), strict=True):
            scores[clique] += factor @ part
        return {c: scores[c].reshape(shape) for c, shape in self.batch.shapes.items()}

    def at(self, w: Any) -> tuple[float, Any]:
        theta, value = self.theta(w), 0.0
        slopes = {c: np.zeros(shape) for c, shape in self.batch.shapes.items()}
        for s, (outputs, true) in enumerate(zip(self.items, self.true, strict=True)):
            mine = {c: v.ravel() for c, v in self.batch.cut(theta, [s]).items()}
            scores = np.array([sum(mine[c] @ one[c] for c in mine) for one in outputs])
            value += scipy.special.logsumexp(scores) - scores[true]
            p = scipy.special.softmax(scores)
            p[true] -= 1
            for c in mine:
                total = sum(weight * one[c] for weight, one in zip(p, outputs, strict=True))
                cliques = self.batch.cliques[c]
                rows = ... if cliques.shared else slice(*cliques.offsets[s : s + 2])
                slopes[c][rows] += np.reshape(total, slopes[c][rows].shape)
        gradient = []
        for (clique, factor, penalty), part in zip(self.terms, self._split(w), strict=True):
            value += penalty / 2 * part @ part
            gradient.append(factor.T @ slopes[clique].ravel() + penalty * part)
        return value, np.concatenate(gradient)

    def minimum(self) -> tuple[float, Any]:
        size = sum(factor.shape[1] for _, factor, _ in self.terms)
        options = {"maxiter": 5000, "ftol": 1e-15, "gtol": 1e-9}
        found = scipy.optimize.minimize(self.at, np.zeros(size), jac=True, method="L-BFGS-B", options=options)
        return found.fun, found.x

    def marginals(self, w: Any) -> Any:
        theta, answer = self.theta(w), self.batch.answer
        result = []
        for s, outputs in enumerate(self.items):
            mine = {c: v.ravel() for c, v in self.batch.cut(theta, [s]).items()}
            p = scipy.special.softmax([sum(mine[c] @ one[c] for c in mine) for one in outputs])
            result.append(sum(weight * one[answer] for weight, one in zip(p, outputs, strict=True)))
        return np.concatenate(result)

    def _split(self, w: Any) -> list[Any]:
        return np.split(w, np.cumsum([factor.shape[1] for _, factor, _ in self.terms])[:-1])


def sequences(rng, sizes=(3, 2, 4, 1)):
    X = [rng.normal(size=(n, 2)) for n in sizes]
    return X, [[("a", "b")[int(v)] for v in rng.integers(2, size=len(x))] for x in X]


def graph_of_factors(rng):
    X, y = sequences(rng, (4, 3, 3))
    items = [{"features": x, "edges": [(0, 1)], "factors": {"three": [(0, 1, 2)]}} for x in X]
    return Graph(factors={"three": 3}), items, y


def graph_of_types(rng):
    X, y = sequences(rng, (4, 3, 3))
    items = [{"features": x, "edges": {"near": [(0, 1), (1, 2)], "far": [(0, 2)]}} for x in X]
    return Graph(edge_types=["near", "far"]), items, y


def segments(rng):
    return Segments(max_length=3, means=3), *sequences(rng)


def candidates(rng):
    X, y = sequences(rng, (3, 4))
    runs = [[(a, b, rng.normal(size=2)) for a in range(len(x)) for b in range(a + 1, len(x) + 1)] for x in X]
    return CandidateSegments(), list(zip(X, runs, strict=True)), y


def arcs(rng):
    return Dependency(), [rng.normal(size=(12, 2)), rng.normal(size=(6, 2))], [[2, 0, 2], [0, 1]]


def siblings(rng):
    X = []
    for n in (3, 2):
        rows = every_sibling(np.array([n]))[0]
        X.append((rng.normal(size=(n * (n + 1), 2)), rows, rng.normal(size=(len(rows), 2))))
    return SiblingDependency(siblings=None), X, [[2, 0, 2], [0, 1]]


def spans(rng):
    y = [("X", ("Y", 0, 1), 2), ("X", 0, 1)]
    return Constituency(), [rng.normal(size=(6, 2)), rng.normal(size=(3, 2))], y


def vertices_of(batch, features, clique):
    """The observations of all members side by side, by hand."""
    return np.array([np.concatenate([features[v] for v in row]) for row in batch.cliques[clique].members])


def means_of(batch, features, clique):
    members = batch.cliques[clique].members
    return np.array([features[first : last + 1].mean(axis=0) for first, last in members])


def own_rows(batch, features, clique):
    return batch.observations[clique] if hasattr(batch, "observations") else batch.sibling_features


def rows_of_answers(batch, features, clique):
    return features


CASES = {
    "factor": (graph_of_factors, "three", "all", vertices_of, ["edges", "factor three"]),
    "edge type": (graph_of_types, "far", "all", vertices_of, ["factor near", "factor far"]),
    "segment": (segments, "segment", "run", means_of, ["edges", "durations"]),
    "arc": (arcs, "arc", "first", rows_of_answers, []),
    "sibling": (siblings, "sibling", "own", own_rows, []),
    "span": (spans, "span", "first", rows_of_answers, []),
}


@pytest.mark.parametrize("case", CASES)
def test_optimum_and_marginals(case, rng, tmp_path):
    make, clique, view, seen_by, names = CASES[case]
    structure, X, y = make(rng)
    parts = Parts(BARE | free(1.3, *names), mine=KernelScores(MINE, on=clique, view=view, penalty=0.4))
    model = KernelCRF(K, penalty=0.7, structure=structure, parts=parts, **FINE)
    model.fit(X, y)
    scored = model._batch(X, None, None)
    batch, features = scored.batch, scored.inputs.features
    written = Written(batch, outputs_of(model, y, scored))
    written.add_kernel(batch.answer, K, features, 0.7)
    written.add_kernel(clique, MINE, seen_by(batch, features, clique), 0.4)
    for other in batch.cliques:
        if other not in (batch.answer, "segment", "sibling"):
            written.add_free(other, 1.3)
    value, w = written.minimum()
    assert model.certificate_.value == pytest.approx(value, rel=1e-7)
    found = np.concatenate([np.ravel(one) for one in batch_marginals(model, X)])
    np.testing.assert_allclose(found, written.marginals(w), atol=2e-4)
    model.save(tmp_path / "model.kf")
    again = np.concatenate([np.ravel(one) for one in batch_marginals(load(tmp_path / "model.kf"), X)])
    np.testing.assert_allclose(again, found, atol=1e-12)


def outputs_of(model, y, scored):
    structure = model.structure_
    if not structure.labelling:
        return structure.encode(y, scored.inputs.offsets, scored.inputs.links)
    index = {label: k for k, label in enumerate(model.classes_.tolist())}
    return np.array([index[label] for labels in y for label in labels])


def batch_marginals(model, X):
    scored = model._batch(X, None, None)
    return [scored.batch.marginals(scored.scores).parts[scored.batch.answer]]
