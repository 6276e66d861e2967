"""Random small problems, and their optima by a solver that shares nothing with the library.

Every labelling of every sequence is enumerated; what a model can weigh is a vector of features of each.
With v = √λ w the objective is Σ_i s_i (log Σ_y exp(⟨v, Φ(y)⟩ + Δ(y)) − ⟨v, Φ(y^i)⟩) + ½‖v‖² + Σ κ_k |v_k|:
Newton's method for the smooth part, coordinate by coordinate where there is an ℓ1 part.
"""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kernelfields import CRF, FreeScores, KernelCRF, LinearScores, Parts
from kernelfields.constraints import Constraints
from kernelfields.kernels import RBF
from kernelfields.losses import Log

KINDS = ["double", "single", "integers", "booleans", "sparse", "sparse single", "dictionaries", "tokens"]
SOLVERS = ["newton-cg", "conjugate-gradients", "subspace", "block-jacobi"]


@dataclass
class Case:
    """A problem: what the estimator is given, and what the enumeration needs."""

    seed: int
    kind: str
    kernel: str | None
    settings: dict[str, Any]
    X: list[Any]
    dense: list[Any]
    y: list[list[str]]
    weights: Any
    labels: list[str] = field(default_factory=list)


def case_of(seed: int) -> Case:
    """Draw a problem."""
    r = np.random.default_rng(seed)
    kind = KINDS[r.integers(len(KINDS))]
    kernel = [None, None, None, "linear", "rbf"][r.integers(5)] if kind in ("double", "single") else None
    n, D, L = r.integers(2, 6), r.integers(1, 4), r.integers(2, 4)
    scale = 10.0 ** r.uniform(-6, 6) * (10.0 ** r.uniform(-3, 3, D) if r.random() < 0.3 else np.ones(D))
    raw = [r.normal(size=(r.integers(1, 5), D)) for _ in range(n)]
    X, dense = _inputs(kind, raw, scale)
    names = list("abc"[:L])
    y = [[names[r.integers(L)] for _ in x] for x in raw]
    for label in names:  # every label occurs
        if not any(label in labels for labels in y):
            y[r.integers(n)][0] = label
    labels = sorted({label for one in y for label in one})
    settings: dict[str, Any] = {
        "penalty": 10.0 ** r.uniform(-8, 4),
        "tol": float(r.choice([1e-2, 1e-3, 1e-3, 1e-5])),
        "max_iter": 300,
    }
    parts: dict[str, Any] = {name: None for name in ("bias", "boundaries") if r.random() >= 0.7}
    edge = 10.0 ** r.uniform(-8, 4) if r.random() < 0.2 else None
    parts["edges"] = FreeScores(penalty=edge)
    if r.random() < 0.25:
        settings["structure"] = "chain2"
        parts["second_order"] = FreeScores(penalty=edge)
    if r.random() < 0.2:
        settings["constraints"] = _constraints(y, labels)
    if r.random() < 0.2:
        settings["loss"] = Log(class_weight={label: float(r.uniform(0, 3)) for label in labels})
    if kernel is None:
        if r.random() < 0.3:
            settings["l1"] = 10.0 ** r.uniform(-4, 2)
        elif r.random() < 0.25:
            settings["solver"] = SOLVERS[r.integers(3 if "structure" in settings else 4)]
        if r.random() < 0.2:
            parts["edge_features"] = LinearScores(penalty=edge)
    settings["parts"] = Parts(parts)
    weights = r.uniform(0.1, 5, n) if r.random() < 0.25 else None
    return Case(seed, kind, kernel, settings, X, dense, y, weights, labels)


def _inputs(kind: str, raw: list[Any], scale: Any) -> tuple[list[Any], list[Any]]:
    scaled = [x * scale for x in raw]
    if kind in ("single", "sparse single"):
        single = [x.astype(np.float32) for x in scaled]
        made = single if kind == "single" else [sparse.csr_matrix(x) for x in single]
        return made, [x.astype(np.float64) for x in single]
    if kind == "integers":
        whole = [np.rint(3 * x).astype(np.int64) for x in raw]
        return whole, [x.astype(np.float64) for x in whole]
    if kind == "booleans":
        return [sparse.csr_matrix(x > 0) for x in raw], [(x > 0).astype(np.float64) for x in raw]
    if kind == "dictionaries":
        rounded = [x.astype(np.float32).astype(np.float64) for x in scaled]  # as the reader keeps them
        return [[{f"x{k}": float(v) for k, v in enumerate(row)} for row in x] for x in rounded], rounded
    if kind == "tokens":
        made = [[[f"x{k}" for k, v in enumerate(row) if v > 0] or ["none"] for row in x] for x in raw]
        on = [np.hstack([x > 0, ~(x > 0).any(axis=1, keepdims=True)]) for x in raw]
        return made, [x.astype(np.float64) for x in on]
    return ([sparse.csr_matrix(x) for x in scaled] if kind == "sparse" else scaled), scaled


def _constraints(y: list[list[str]], labels: list[str]) -> Constraints | None:
    seen = {pair for one in y for pair in itertools.pairwise(one)}
    free = [pair for pair in itertools.product(labels, labels) if pair not in seen]
    return Constraints(forbidden_pairs=free[:2]) if free else None


def fit(case: Case) -> tuple[Any, bool]:
    """Fit the estimator; whether it warned about convergence."""
    model = (
        CRF(**case.settings)
        if case.kernel is None
        else KernelCRF(RBF() if case.kernel == "rbf" else case.kernel, **case.settings)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(case.X, case.y, sample_weight=case.weights)
    return model, any(issubclass(one.category, ConvergenceWarning) for one in caught)


@dataclass
class Enumerated:
    """One sequence: features of all its labellings less those observed, their costs, and its weight."""

    features: Any
    cost: Any
    weight: float
    observed: int


def enumerate_case(case: Case) -> tuple[list[Enumerated], Any]:
    """Return all sequences in the coordinates v, and κ of each coordinate."""
    blocks = _node_features(case)
    index = {label: k for k, label in enumerate(case.labels)}
    result, kappa = [], None
    for i, labels in enumerate(case.y):
        observed = tuple(index[label] for label in labels)
        every = [y for y in itertools.product(range(len(index)), repeat=len(labels)) if _allowed(case, y)]
        vectors = [_vector(case, blocks[i], y) for y in every]
        own, kappa = _vector(case, blocks[i], observed)
        cost = np.array([_cost(case, labels, y) for y in every])
        weight = 1.0 if case.weights is None else float(case.weights[i])
        result.append(
            Enumerated(np.array([vector - own for vector, _ in vectors]), cost, weight, every.index(observed))
        )
    return result, kappa


def _node_features(case: Case) -> list[Any]:
    """Return x_t, or coordinates with the same inner products as the kernel."""
    if case.kernel is None:
        return case.dense
    flat = np.concatenate([x.astype(np.float32).astype(np.float64) for x in case.dense])
    if case.kernel == "linear":
        rows = flat
    else:
        squares = np.square(flat[:, None] - flat[None]).sum(axis=2)
        values, vectors = np.linalg.eigh(np.exp(-squares))
        rows = vectors * np.sqrt(np.maximum(values, 0))
    return np.split(rows, np.cumsum([len(x) for x in case.dense])[:-1])


def _penalties(case: Case) -> tuple[float, float]:
    """Return λ, and that of label pairs, triples and features of edges."""
    penalty = case.settings["penalty"]
    edges = case.settings["parts"].get("edges")
    return penalty, penalty if edges is None or edges.penalty is None else edges.penalty


def _has(case: Case, name: str) -> bool:
    """Return whether bias or boundaries are left."""
    return case.settings["parts"].get(name, FreeScores()) is not None


def _vector(case: Case, x: Any, y: tuple[int, ...]) -> tuple[Any, Any]:
    L, s = len(case.labels), case.settings
    penalty, edge = _penalties(case)
    node = np.zeros((L, x.shape[1]))
    np.add.at(node, list(y), x)
    pairs, edges = np.zeros((L, L)), np.zeros((L, L, x.shape[1]))
    for t, (a, b) in enumerate(itertools.pairwise(y)):
        pairs[a, b] += 1
        edges[a, b] += x[t]
    parts = [(node, penalty), (pairs, edge)]
    if _has(case, "bias"):
        parts.append((np.bincount(y, minlength=L), penalty))
    if _has(case, "boundaries"):
        ends = np.zeros((2, L))
        ends[0, y[0]] = ends[1, y[-1]] = 1
        parts.append((ends, penalty))
    if "edge_features" in s["parts"]:
        parts.append((edges, edge))
    if s.get("structure") == "chain2":
        triples = np.zeros((L, L, L))
        for a, b, c in zip(y, y[1:], y[2:], strict=False):
            triples[a, b, c] += 1
        parts.append((triples, edge))
    kappa = np.concatenate([np.full(node.size, s.get("l1", 0.0) / np.sqrt(penalty))])
    rest = np.zeros(sum(part.size for part, _ in parts[1:]))
    vector = np.concatenate([np.asarray(part, float).ravel() / np.sqrt(weight) for part, weight in parts])
    return vector, np.concatenate([kappa, rest])


def _allowed(case: Case, y: tuple[int, ...]) -> bool:
    rule = case.settings.get("constraints")
    names = [case.labels[k] for k in y]
    return rule is None or not any(pair in set(rule.forbidden_pairs) for pair in itertools.pairwise(names))


def _cost(case: Case, labels: list[str], y: tuple[int, ...]) -> float:
    if "loss" not in case.settings:
        return 0.0
    given = case.settings["loss"].class_weight
    return sum(given[label] for label, k in zip(labels, y, strict=True) if case.labels[k] != label)


def objective(sequences: list[Enumerated], v: Any) -> tuple[float, Any, Any]:
    """The smooth part without ½‖v‖²: value, gradient, Hessian."""
    value, gradient, hessian = 0.0, np.zeros(len(v)), np.zeros((len(v), len(v)))
    for one in sequences:
        scores = one.features @ v + one.cost
        top = max(float(scores.max()), 0.0)
        terms = np.exp(scores - top)
        rest = np.delete(terms, one.observed).sum()
        # log1p keeps the digits of small losses, where the observed labelling is the best
        total = np.log1p(rest) if top == 0 else top + np.log(rest + terms[one.observed])
        p = np.exp(scores - total)
        mean = p @ one.features
        value += one.weight * total
        gradient += one.weight * mean
        centred = one.features - mean
        hessian += one.weight * (centred.T * p) @ centred
    return float(value), gradient, hessian


def optimum(sequences: list[Enumerated], kappa: Any, starts: list[Any]) -> float:
    """The lowest value found: no true lower bound is above it."""
    best = np.inf
    for start in starts:
        best = min(best, _newton(sequences, kappa, start))
    return best


def _newton(sequences: list[Enumerated], kappa: Any, v: Any, rounds: int = 200) -> float:
    """Newton steps inside an orthant, halved until the value falls; what would leave it becomes zero."""

    def whole(v: Any) -> float:
        return objective(sequences, v)[0] + 0.5 * float(v @ v) + float(kappa @ np.abs(v))

    value, idle = whole(v), 0
    for _ in range(rounds):
        _, gradient, hessian = objective(sequences, v)
        gradient, hessian = gradient + v, hessian + np.eye(len(v))
        orthant = np.where(v != 0, np.sign(v), np.where(np.abs(gradient) > kappa, -np.sign(gradient), 0.0))
        slope = np.where((v == 0) & (orthant == 0), 0.0, gradient + kappa * orthant)
        before = value
        for step in (_step(slope, hessian, orthant, v), -slope / np.diag(hessian)):
            for t in 0.5 ** np.arange(40):
                moved = v + t * step
                moved[(moved * orthant < 0) & (kappa > 0)] = 0
                found = whole(moved)
                if found < value:
                    v, value = moved, found
                    break
        idle = idle + 1 if before - value <= 1e-13 * abs(value) else 0
        if idle == 3:
            break
    return value


def _step(gradient: Any, hessian: Any, orthant: Any, v: Any) -> Any:
    """Solve for the coordinates that may move; those at zero move into their orthant or not at all."""
    free = (orthant != 0) | (v != 0)
    while True:
        step = np.zeros(len(v))
        inner = hessian[np.ix_(free, free)]
        size = np.sqrt(np.diag(inner))  # rounding must not make it singular
        scaled = inner / np.outer(size, size)
        step[free] = -np.linalg.lstsq(scaled, gradient[free] / size, rcond=1e-14)[0] / size
        wrong = free & (v == 0) & (step * orthant < 0)
        if not wrong.any():
            return step
        free &= ~wrong


def fitted(case: Case, model: Any) -> Any:
    """The weights of a linear model in the coordinates v."""
    penalty, edge = _penalties(case)
    s = case.settings
    parts = [(model.coef_, penalty), (model.transitions_, edge)]
    if _has(case, "bias"):
        parts.append((model.intercept_, penalty))
    if _has(case, "boundaries"):
        parts.append((np.concatenate([model.start_, model.end_]), penalty))
    if "edge_features" in s["parts"]:
        parts.append((model.edge_coef_, edge))
    if s.get("structure") == "chain2":
        parts.append((model.second_order_, edge))
    return np.concatenate([np.asarray(part, float).ravel() * np.sqrt(weight) for part, weight in parts])


def _rounding(case: Case, model: Any) -> float:
    """Return how far sums of scores in double may be off: a loss is the difference of two of them."""
    size = sum(float((np.abs(x) @ np.abs(model.coef_).T).max(axis=1).sum()) for x in case.dense)
    weight = 1.0 if case.weights is None else float(np.max(case.weights))
    return 2 * np.finfo(np.float64).eps * weight * size


def violations(case: Case) -> tuple[list[str], bool, bool]:
    """What is wrong with the certificate of a fit; whether its gap is above ``tol``; whether it warned."""
    model, warned = fit(case)
    certificate, tol = model.certificate_, case.settings["tol"]
    sequences, kappa = enumerate_case(case)
    starts, value = [np.zeros(len(kappa))], None
    if case.kernel is None and case.kind not in ("dictionaries", "tokens"):  # columns in their own order
        starts.append(fitted(case, model))
        value = objective(sequences, starts[1])[0] + 0.5 * float(starts[1] @ starts[1])
        value += float(kappa @ np.abs(starts[1]))
    lowest = optimum(sequences, kappa, starts)
    slack = 1e-10 * abs(lowest)  # of the reference itself
    found = []
    if certificate.lower_bound > lowest + slack:
        found.append(f"bound {certificate.lower_bound!r} above the optimum {lowest!r}")
    if value is not None and abs(certificate.value - value) > 1e-8 * value + 1e-11 + _rounding(case, model):
        found.append(f"value {certificate.value!r} of weights with the value {value!r}")
    if not certificate.gap >= 0:
        found.append(f"gap {certificate.gap!r}")
    wide = not certificate.relative_gap <= tol
    if wide and not warned:
        found.append(f"gap {certificate.relative_gap:.2e} above tol without a warning")
    return found, wide, warned
