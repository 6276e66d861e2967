"""The parts of a model: penalties and norms of all, spaces and weights of those that look at labels only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import shown
from ..distributed import SHARING
from ..errors import InputError
from ..objective import EntropyDual, L1Norm, Norm, Problem, Term
from ..solvers import LBFGS, OWLQN, ExponentiatedGradient, ProximalQuasiNewton, Solver
from ..spaces import Boundary, Free, LinearFeatures, SparseFeatures, WeightPairs
from ..structures import EdgeBatch, LabelledBatch, StructureBatch

SIBLINGS = "sibling_features"
"""The part of a model that sees siblings."""
FACTOR = "factor "
"""Before the name of a further clique type, the name of the part of a model that scores it."""


LONG = 50
"""Mean length of the sequence that a position is in from which on L-BFGS is as quick.

Proteins cut into pieces (4,295 residues, penalties 0.1, 1, 10) took 74, 13 and 5 passes at length 8, 215, 47
and 10 at 32, 730, 74 and 15 at 64; L-BFGS took about 330, 100 and 30 iterations at all of them.
"""
FEW = 256
"""Positions that exponentiated gradient goes over at a time: with fewer, all moves at once anyway."""


class Penalties(NamedTuple):
    """λ of each part."""

    node: float
    edge: float
    second_order: float

    @classmethod
    def of(cls, node: float, edge: float | None, second_order: float | None = None) -> Penalties:
        """Edges default to the penalty of vertices, triples to that of edges."""
        edge = float(node) if edge is None else float(edge)
        return cls(float(node), edge, edge if second_order is None else float(second_order))


def read_norms(given: Any, l1: float = 0.0) -> dict[str, Norm]:
    """Read the setting ``norms``, by the names of parts; ``l1`` is that of the features."""
    if given is not None and not isinstance(given, Mapping):
        raise InputError(
            f"norms is {shown(given)}; it must be a dictionary from parts of the model to norms."
        )
    norms = dict(given or {})
    for name, norm in norms.items():
        if not isinstance(norm, Norm):
            raise InputError(
                f"norms[{name!r}] is {shown(norm)}; it must be an L1Norm, GroupNorm or SpaceNorm."
            )
    if l1:
        if "features" in norms:
            raise InputError("l1 is the ℓ1 norm of 'features', for which norms has another; leave out one.")
        norms["features"] = L1Norm(float(l1))
    return norms


def with_norms(terms: Sequence[Term], norms: Mapping[str, Norm]) -> list[Term]:
    """Return the terms of a model with their norms; one for a part that there is not is refused."""
    names = [term.name for term in terms]
    for name in norms:
        if name not in names:
            known = ", ".join(map(repr, names))
            raise InputError(f"norms has {name!r}, which the model does not have; it has {known}.")
    try:
        return [replace(term, norm=norms.get(term.name)) for term in terms]
    except TypeError as error:  # a space without such a norm
        raise InputError(str(error)) from error


def solver_for(solver: Solver, norms: Mapping[str, Norm], given: Any) -> Solver:
    """Return the solver that minimises with these norms; one that cannot is refused."""
    single = all(isinstance(norm, L1Norm) for norm in norms.values())
    if not norms:
        if isinstance(solver, OWLQN | ProximalQuasiNewton):
            raise InputError(f"solver is {given!r}, which is for l1 or norms; the model has none.")
        return solver
    if isinstance(solver, ProximalQuasiNewton) or (single and isinstance(solver, OWLQN)):
        return solver
    if isinstance(solver, LBFGS):
        kind = OWLQN if single else ProximalQuasiNewton
        return kind() if solver.memory is None else kind(solver.memory)
    allowed = (
        "'lbfgs', OWLQN(...) or ProximalQuasiNewton(...)" if single else "'lbfgs' or ProximalQuasiNewton(...)"
    )
    raise InputError(f"solver is {given!r}; with l1 or norms it must be {allowed}.")


def kernel_solver(solver: Solver, recipe: Any, problem: Problem) -> Solver:
    """Return the solver of a kernel model: "auto" is `ExponentiatedGradient` where that suits and pays.

    A posterior is one around the optimum, which has to be a point with a small gradient, not one with
    distributions that prove it to be good. A fit that is shared out has its Gram matrix in pieces.
    """
    automatic = isinstance(recipe.solver, str) and recipe.solver == "auto"
    if not automatic and not isinstance(solver, ExponentiatedGradient):
        return solver
    if automatic and (recipe.posterior is not None or not _pays(problem)):
        return solver
    suits = EntropyDual.suits(problem, recipe.memory_limit) and SHARING.get() is None
    if not automatic and not suits:
        raise InputError(
            "solver='exponentiated-gradient' is for chains with the log loss and one kernel, whose Gram "
            "matrix fits into memory twice, and squared penalties; 'auto' takes another else."
        )
    return ExponentiatedGradient() if automatic and suits else solver


def _pays(problem: Problem) -> bool:
    """Whether there are several panels of sequences, and these are short: Σ T² / Σ T ≤ LONG."""
    structure = problem.structure
    lengths = np.diff(structure.cliques[structure.answer].offsets)
    return int(lengths.sum()) > FEW and int(lengths @ lengths) <= LONG * int(lengths.sum())


def answer_rows(batch: StructureBatch, rows: Array | None = None) -> Array | None:
    """Return which observation each answer sees: its own row, or the one of ``rows``.

    None stands for the row of its vertex, which batches of labellings know by themselves.
    """
    if rows is not None or isinstance(batch, LabelledBatch):
        return rows
    return np.arange(batch.cliques[batch.answer].count)


def answer_features(
    batch: StructureBatch, features: Any, observed: WeightPairs | None = None, fast: bool = False
) -> LinearFeatures | SparseFeatures:
    """Return linear functions of the features of answers; ``fast`` prepares sparse ones for many products."""
    if sparse.issparse(features) and (fast or observed is not None) and isinstance(batch, LabelledBatch):
        return SparseFeatures(batch, batch.answer, features, observed)
    return LinearFeatures(batch, batch.answer, features, answer_rows(batch))


def label_terms(
    batch: StructureBatch,
    penalties: Penalties,
    *,
    bias: bool,
    boundaries: bool,
    edges: bool = True,
    pairs: Array | None = None,
) -> list[Term]:
    """Return the scores of labels alone, as far as a model wants them and its structure has such cliques.

    Those of single labels everywhere (``bias``), and at sources and sinks (``boundaries``); of label pairs
    (``edges``), or of some ``pairs`` only; of label triples; of the lengths of runs; of rules.
    """
    terms = [Term("bias", Free(batch, batch.answer), penalties.node)] if bias else []
    if boundaries and isinstance(batch, EdgeBatch) and batch.has_ends:
        terms.append(Term("boundaries", Boundary(batch), penalties.node))
    factors = getattr(batch, "factors", {})
    if edges and "edge" in batch.cliques and not (factors and batch.cliques["edge"].count == 0):
        terms.append(Term("edges", Free(batch, "edge", support=pairs), penalties.edge))
    if "triple" in batch.cliques:
        terms.append(Term("second_order", Free(batch, "triple"), penalties.second_order))
    if edges and "duration" in batch.cliques:
        terms.append(Term("durations", Free(batch, "duration"), penalties.edge))
    if edges and "rule" in batch.cliques:
        terms.append(Term("rules", Free(batch, "rule"), penalties.edge))
    if edges:
        terms += [Term(FACTOR + name, Free(batch, name), penalties.edge) for name in factors]
    return terms


def sibling_terms(batch: StructureBatch, penalties: Penalties) -> list[Term]:
    """Return linear functions of the features of siblings, where a structure has such."""
    seen = getattr(batch, "sibling_features", None)
    if seen is None:
        return []
    return [Term(SIBLINGS, LinearFeatures(batch, "sibling", seen, np.arange(seen.shape[0])), penalties.node)]


def free_weights(element: Array, slices: Mapping[str, slice], n_labels: int) -> dict[str, Any]:
    """Read the weights of labels off an element, by the names of attributes; zeros for what is not there."""
    names = ["bias", "boundaries", "edges", "second_order", "durations", "rules"]
    names += [name for name in slices if name.startswith(FACTOR)]
    return label_tables({name: element[slices[name]].copy() for name in names if name in slices}, n_labels)


def label_tables(part: Mapping[str, Array], n_labels: int) -> dict[str, Any]:
    """Return the weights of labels from the elements of their spaces."""
    L = n_labels
    boundaries = part.get("boundaries", np.zeros(2 * L)).reshape(2, L)
    triples, durations = part.get("second_order"), part.get("durations")
    factors = {name.removeprefix(FACTOR): part[name] for name in part if name.startswith(FACTOR)}
    return {
        "intercept": part.get("bias", np.zeros(L)),
        "start": boundaries[0],
        "end": boundaries[1],
        "transitions": part.get("edges", np.zeros(L * L)).reshape(L, L),
        "second_order": None if triples is None else triples.reshape(L, L, L),
        "durations": None if durations is None else durations.reshape(-1, L),
        "rules": part.get("rules"),
        "factors": {name: as_table(numbers, L) for name, numbers in factors.items()} or None,
    }


def as_table(numbers: Array, n_labels: int) -> Array:
    """Return a score for every labelling of a clique, one axis per vertex; a vector without labels."""
    if n_labels == 1:
        return numbers
    size = round(np.log(len(numbers)) / np.log(n_labels))
    return numbers.reshape((n_labels,) * size)


def free_elements(weights: Any, suffix: str = "") -> dict[str, Any]:
    """Weights of labels, attributes of some object, as elements by the names of their spaces."""
    given: dict[str, Any] = {
        name: getattr(weights, name + suffix, None)
        for name in (
            "intercept",
            "start",
            "end",
            "transitions",
            "second_order",
            "durations",
            "rules",
            "factors",
        )
    }
    return {
        "bias": given["intercept"],
        "boundaries": np.concatenate([given["start"], given["end"]]),
        "edges": given["transitions"].ravel(),
        **{
            name: None if given[name] is None else given[name].ravel()
            for name in ("second_order", "durations", "rules")
        },
        **{FACTOR + name: table.ravel() for name, table in (given["factors"] or {}).items()},
    }
