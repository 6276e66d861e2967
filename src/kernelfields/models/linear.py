"""The parts of a linear model, for estimators that have no others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.extraction import Extractor
from ..data.inputs import Inputs
from ..data.labels import UNOBSERVED, Encoded, encode, read_labels
from ..data.reading import read_to_fit
from ..data.training import Observed
from ..errors import InputError
from ..objective import Term
from ..spaces import Boundary, Euclidean, Free, SparseFeatures
from ..structures import EdgeBatch, Structure
from .terms import Penalties, edge_term, second_order_terms

FREE = Penalties(0.0, 0.0, 0.0)


class LabelledSet(NamedTuple):
    """A training set, every label of it observed."""

    inputs: Inputs
    encoded: Encoded
    chain: EdgeBatch
    extractor: Extractor | None
    structure: Structure


def read_labelled(
    structure: Structure,
    features: Any,
    X: Any,
    y: Any,
    lengths: Any,
    known: list[Any] | None = None,
    fitted: Extractor | None = None,
    *,
    names: Array | None = None,
    classes: Any = None,
    verbatim: bool = False,
) -> LabelledSet:
    """Read and check a training set; labels known before come first, a fitted extractor stays as it is.

    Frames have columns of these names, if some are given; ``classes`` are all labels that there are. With
    ``verbatim``, strings are observations themselves.
    """
    inputs, extractor = read_to_fit(
        structure, features, X, lengths, fitted=fitted, names=names, verbatim=verbatim
    )
    if len(inputs.offsets) < 2 or inputs.offsets[-1] == 0:
        raise InputError("The training set is empty.")
    named = read_labels(y, np.diff(inputs.offsets))
    encoded = encode(named, known) if classes is None else encode(named, classes, closed=True)
    chain = structure.on(inputs.offsets, inputs.links, len(encoded.classes))
    if (encoded.labels == UNOBSERVED).any():
        t = int(np.flatnonzero(encoded.labels == UNOBSERVED)[0])
        s = int(np.searchsorted(chain.offsets, t, side="right")) - 1
        raise InputError(f"Sequence {s} of y has no label at position {t - int(chain.offsets[s])}.")
    return LabelledSet(inputs, encoded, chain, extractor, structure)


def linear_terms(
    nodes: Euclidean,
    chain: EdgeBatch,
    bias: bool,
    boundaries: bool,
    pairs: Array | None = None,
    penalties: Penalties = FREE,
) -> list[Term]:
    """Features, bias, boundaries and edges, as far as the model has them."""
    terms = [Term("features", nodes, penalties.node)]
    if bias:
        terms.append(Term("bias", Free(chain, "node"), penalties.node))
    if boundaries:
        terms.append(Term("boundaries", Boundary(chain), penalties.node))
    return [*terms, edge_term(chain, penalties, pairs), *second_order_terms(chain, penalties)]


def training_terms(
    data: LabelledSet, bias: bool, boundaries: bool, observed_only: bool, penalties: Penalties = FREE
) -> list[Term]:
    """Return the terms of a training set, features stored sparsely."""
    matrix = data.inputs.features
    observed = Observed.of(data.inputs, data.encoded, data.chain) if observed_only else None
    matrix = matrix if sparse.issparse(matrix) else sparse.csr_matrix(matrix)
    nodes = SparseFeatures(data.chain, "node", matrix, observed.features if observed else None)
    return linear_terms(nodes, data.chain, bias, boundaries, observed.edges if observed else None, penalties)
