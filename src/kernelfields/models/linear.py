"""The parts of a linear model, for estimators that have no others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..data.inputs import Inputs
from ..data.labels import UNOBSERVED, Encoded, encode_outputs
from ..data.reading import Extractor, FeatureSetting, read_to_fit
from ..data.rules import require_edge_batch, require_possible
from ..data.training import Observed, require_seen
from ..data.types import Items, Lengths, Outputs
from ..errors import InputError
from ..structures import ChainBatch, EdgeBatch, LabelledBatch, Structure, StructureBatch
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


class LabelledSet(NamedTuple):
    """A training set, every label of it observed."""

    inputs: Inputs
    encoded: Encoded
    batch: StructureBatch
    extractor: Extractor | None
    structure: Structure

    @property
    def edge_batch(self) -> EdgeBatch:
        """The batch of a structure with label pairs."""
        return require_edge_batch(self.batch)


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
    if len(inputs.offsets) < 2 or inputs.offsets[-1] == 0:
        raise InputError("The training set is empty.")
    structure = structure.settled(y)
    inputs = structure.spread(inputs)
    encoded = encode_outputs(structure, y, inputs, known, classes)
    structure = structure.with_labels(encoded.classes.tolist(), inputs.links)
    batch = structure.on(inputs.offsets, inputs.links, len(encoded.classes), own=own)
    if not by_parts:
        require_seen(batch)
    require_possible(batch, encoded.labels, encoded.classes)
    if (encoded.labels == UNOBSERVED).any():
        t = int(np.flatnonzero(encoded.labels == UNOBSERVED)[0])
        s = int(np.searchsorted(batch.offsets, t, side="right")) - 1
        words = structure.words
        raise InputError(f"{words.name(s, 'y')} has no label at {words.place} {t - int(batch.offsets[s])}.")
    return LabelledSet(inputs, encoded, batch, extractor, structure)


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
