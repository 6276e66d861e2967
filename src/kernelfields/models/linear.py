"""The parts of a linear model, for estimators that have no others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.inputs import Inputs
from ..data.labels import UNOBSERVED, Encoded, encode_outputs
from ..data.reading import Extractor, read_to_fit
from ..data.rules import require_possible
from ..data.training import (
    Observed,
    require_no_edge_features,
    require_no_segment_features,
    require_no_sibling_features,
)
from ..errors import InputError
from ..objective import Term
from ..structures import ChainBatch, EdgeBatch, LabelledBatch, Structure
from .terms import Penalties, answer_features, label_terms, sibling_terms

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
    sibling_features: bool = False,
) -> LabelledSet:
    """Read and check a training set; labels known before come first, a fitted extractor stays as it is.

    Frames have columns of these names, if some are given; ``classes`` are all labels that there are. With
    ``verbatim``, strings are observations themselves; ``sibling_features`` says that features of siblings are
    looked at.
    """
    inputs, extractor = read_to_fit(
        structure, features, X, lengths, fitted=fitted, names=names, verbatim=verbatim
    )
    if len(inputs.offsets) < 2 or inputs.offsets[-1] == 0:
        raise InputError("The training set is empty.")
    require_no_edge_features(inputs)
    structure = structure.settled(y)
    inputs = structure.spread(inputs)
    encoded = encode_outputs(structure, y, inputs, known, classes)
    structure = structure.with_labels(encoded.classes.tolist(), inputs.links)
    chain = structure.on(inputs.offsets, inputs.links, len(encoded.classes))
    require_no_segment_features(chain)
    if not sibling_features:
        require_no_sibling_features(chain)
    require_possible(chain, encoded.labels, encoded.classes)
    if (encoded.labels == UNOBSERVED).any():
        t = int(np.flatnonzero(encoded.labels == UNOBSERVED)[0])
        s = int(np.searchsorted(chain.offsets, t, side="right")) - 1
        words = structure.words
        raise InputError(f"{words.name(s, 'y')} has no label at {words.place} {t - int(chain.offsets[s])}.")
    return LabelledSet(inputs, encoded, chain, extractor, structure)


def training_terms(
    data: LabelledSet, bias: bool, boundaries: bool, observed_only: bool, penalties: Penalties = FREE
) -> list[Term]:
    """Return the terms of a training set, features stored sparsely."""
    matrix = data.inputs.features
    observed = Observed.of(data.inputs, data.encoded, data.chain) if observed_only else None
    matrix = matrix if sparse.issparse(matrix) else sparse.csr_matrix(matrix)
    if isinstance(data.chain, LabelledBatch) and not isinstance(data.chain, ChainBatch):
        matrix = matrix.astype(np.float64, copy=False)  # what is not learnt natively is learnt in double
    nodes = answer_features(data.chain, matrix, observed.features if observed else None, fast=True)
    pairs = observed.edges if observed else None
    labels = label_terms(data.chain, penalties, bias=bias, boundaries=boundaries, pairs=pairs)
    siblings = sibling_terms(data.chain, penalties)
    return [Term("features", nodes, penalties.node), *labels, *siblings]
