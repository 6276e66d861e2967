"""The parts of a model: penalties and norms of all, spaces and weights of those that look at labels only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import shown
from ..data.inputs import Inputs
from ..errors import InputError
from ..native import chain_add_label_scores
from ..objective import L1Norm, Norm, Term
from ..solvers import LBFGS, OWLQN, ProximalQuasiNewton, Solver
from ..spaces import Boundary, Free, LinearFeatures, SparseFeatures, WeightPairs
from ..structures import Chain, EdgeBatch, LabelledBatch, SequenceBatch, Structure, StructureBatch


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


def vertex_terms(chain: StructureBatch, penalties: Penalties, *, bias: bool, boundaries: bool) -> list[Term]:
    """Scores per label: everywhere, and at sources and sinks, where there are edges."""
    terms = [Term("bias", Free(chain, chain.answer), penalties.node)] if bias else []
    if boundaries and isinstance(chain, EdgeBatch):
        terms.append(Term("boundaries", Boundary(chain), penalties.node))
    return terms


def edge_term(chain: StructureBatch, penalties: Penalties, pairs: Array | None = None) -> Term:
    """Scores per label pair."""
    return Term("edges", Free(chain, "edge", support=pairs), penalties.edge)


def edge_terms(chain: StructureBatch, penalties: Penalties, pairs: Array | None = None) -> list[Term]:
    """Scores per label pair, where the structure has edges."""
    return [edge_term(chain, penalties, pairs)] if "edge" in chain.cliques else []


def second_order_terms(chain: StructureBatch, penalties: Penalties) -> list[Term]:
    """Scores per label triple, where the chain has triples."""
    if "triple" not in chain.shapes:
        return []
    return [Term("second_order", Free(chain, "triple"), penalties.second_order)]


def free_weights(element: Array, slices: Mapping[str, slice], n_labels: int) -> dict[str, Any]:
    """Read the weights of labels off an element, by the names of attributes; zeros for what is not there."""
    L = n_labels
    names = ("bias", "boundaries", "edges", "second_order")
    part = {name: element[slices[name]].copy() for name in names if name in slices}
    boundaries = part.get("boundaries", np.zeros(2 * L)).reshape(2, L)
    triples = part.get("second_order")
    return {
        "intercept": part.get("bias", np.zeros(L)),
        "start": boundaries[0],
        "end": boundaries[1],
        "transitions": part.get("edges", np.zeros(L * L)).reshape(L, L),
        "second_order": None if triples is None else triples.reshape(L, L, L),
    }


def free_elements(weights: Any, suffix: str = "") -> dict[str, Any]:
    """Weights of labels, attributes of some object, as elements by the names of their spaces."""
    given: dict[str, Any] = {
        name: getattr(weights, name + suffix, None)
        for name in ("intercept", "start", "end", "transitions", "second_order")
    }
    return {
        "bias": given["intercept"],
        "boundaries": np.concatenate([given["start"], given["end"]]),
        "edges": given["transitions"].ravel(),
        "second_order": None if given["second_order"] is None else given["second_order"].ravel(),
    }


def fitted_structure(model: Any) -> Structure:
    """Return the structure that a model was fitted with, whatever its settings say by now."""
    found: Structure | None = vars(model).get("structure_")
    if found is not None:
        return found
    return Chain(order=1 if vars(model).get("second_order_") is None else 2)  # files of older versions


def fitted_batch(model: Any, inputs: Inputs, *, untied: bool = False) -> Any:
    """Return the batch of some inputs that a fitted model gives scores to."""
    structure = fitted_structure(model)
    return structure.on(inputs.offsets, inputs.links, len(model.classes_), untied=untied)


def add_free_scores(model: Any, chain: StructureBatch, theta: dict[str, Array]) -> None:
    """Add the scores of a fitted model's weights of labels; what it does not have is zero."""
    node = theta[chain.answer]
    every, first, last = model.intercept_, model.start_, model.end_
    if not every.dtype == first.dtype == last.dtype:  # drafts of models without a bias have other zeros
        every, first, last = (part.astype(np.float64) for part in (every, first, last))
    if isinstance(chain, SequenceBatch):
        chain_add_label_scores(node, chain.offsets, every, first, last)
    else:
        node += every.astype(node.dtype, copy=False).reshape(chain.cliques[chain.answer].values)
    if isinstance(chain, EdgeBatch) and not isinstance(chain, SequenceBatch):
        node[chain.sources] += first.astype(node.dtype, copy=False)
        node[chain.sinks] += last.astype(node.dtype, copy=False)
    if "edge" in theta:
        theta["edge"] += model.transitions_.astype(node.dtype, copy=False)
    if "triple" in theta:
        theta["triple"] += model.second_order_.astype(node.dtype, copy=False)
