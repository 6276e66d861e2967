"""The parts of a linear model, for estimators that have no others."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.labels import UNOBSERVED
from ..data.reading import Extractor, FeatureSetting, read_to_fit
from ..data.training import LabelledSet, Observed
from ..data.types import Items, Lengths, Outputs
from ..errors import InputError
from ..structures import ChainBatch, LabelledBatch, Structure
from .parts import (
    BoundParts,
    LinearScores,
    PartData,
    Parts,
    compose,
    feature_parts,
    free_parts,
    require_features,
)


def read_labelled(
    structure: Structure,
    features: FeatureSetting,
    X: Items,
    y: Outputs,
    lengths: Lengths,
    known: list[Any] | None = None,
    fitted: Extractor | None = None,
    *,
    names: Array | None = None,
    classes: Any = None,
    verbatim: bool = False,
    by_parts: bool = False,
    own: frozenset[str] = frozenset(),
) -> LabelledSet:
    """Read and check a training set; labels known before come first, a fitted extractor stays as it is.

    Frames have columns of these names, if some are given; ``classes`` are all labels that there are. With
    ``verbatim``, strings are observations themselves; with ``by_parts``, the parts of the model tell which
    features of cliques they look at. ``own`` are clique types of which every clique has separate scores.
    """
    inputs, extractor = read_to_fit(
        structure, features, X, lengths, fitted=fitted, names=names, verbatim=verbatim
    )
    data = LabelledSet.of(inputs, extractor, y, structure, known, classes, own=own, by_parts=by_parts)
    batch, encoded = data.batch, data.encoded
    if (encoded.labels == UNOBSERVED).any():
        t = int(np.flatnonzero(encoded.labels == UNOBSERVED)[0])
        s = int(np.searchsorted(batch.offsets, t, side="right")) - 1
        words = data.structure.words
        raise InputError(f"{words.name(s, 'y')} has no label at {words.place} {t - int(batch.offsets[s])}.")
    return data


def online_parts(data: LabelledSet, given: Parts, penalty: float, *, observed_only: bool) -> BoundParts:
    """Return the parts of a linear model on a training set, features stored sparsely."""
    require_features(given)
    matrix, batch = data.inputs.features, data.batch
    observed = Observed.of(data.inputs, data.encoded, data.edge_batch) if observed_only else None
    matrix = matrix if sparse.issparse(matrix) else sparse.csr_matrix(matrix)
    if isinstance(batch, LabelledBatch) and not isinstance(batch, ChainBatch):
        matrix = matrix.astype(np.float64, copy=False)  # what is not learnt natively is learnt in double
    defaults = {"features": LinearScores(), **free_parts(batch), **feature_parts(batch)}
    return BoundParts.of(compose(defaults, given, penalty), PartData(batch, matrix, observed))
