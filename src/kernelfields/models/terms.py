"""The parts of a chain model that look at labels only: their spaces and their weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.inputs import Inputs
from ..native import chain_add_label_scores
from ..objective import Term
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
