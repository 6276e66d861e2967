"""A training set, read and checked, with its loss."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .. import losses
from ..arrays import Array
from ..constraints import Forbidden, Rule
from ..data.sample_weights import read_weights
from ..errors import InputError, warn_user
from ..losses import CustomLoss, LossSettings
from ..objective import Certificate
from ..solvers import Progress, Reason
from ..spaces import WeightPairs
from ..structures import EdgeBatch, Structure, StructureBatch
from ..tables import loss_settings
from .base_measure import BaseMeasure, add_base_measure
from .inputs import Inputs, canonical
from .labels import UNOBSERVED, Encoded, encode_outputs
from .reading import Extractor
from .rules import offset_of, read_rules, require_edge_batch, require_possible
from .types import Outputs, Weights


class Observed(NamedTuple):
    """The pairs that occur in a training set."""

    features: WeightPairs
    edges: Array

    @classmethod
    def of(cls, inputs: Inputs, encoded: Encoded, batch: EdgeBatch) -> Observed:
        """Return the pairs of feature and label, and of neighbouring labels, that occur."""
        if not sparse.issparse(inputs.features) or (encoded.labels == UNOBSERVED).any():
            raise InputError("observed_only needs sparse features and every label to be observed.")
        pairs = np.zeros((batch.n_labels, batch.n_labels), dtype=bool)
        pairs[encoded.labels[batch.edge_tails], encoded.labels[batch.edge_heads]] = True
        return cls(WeightPairs.of(inputs.features, batch.n_labels, encoded.labels), pairs)


class Training(NamedTuple):
    """A training set, read and checked."""

    inputs: Inputs
    encoded: Encoded
    batch: StructureBatch
    weights: Array | None
    """How many times each sequence counts."""
    loss: losses.Loss
    forbidden: Forbidden | None
    observed: Observed | None
    extractor: Extractor | None
    structure: Structure
    own: Collection[str]
    """The clique types with scores for every clique."""
    unlabelled: tuple[Inputs, ...] = ()
    """Sequences without labels, for kernels that look at them."""
    missing: bool = False
    """Whether NaN in X is a missing value rather than a mistake."""

    def batch_of(self, inputs: Inputs) -> StructureBatch:
        """Return the batch of other inputs with the same labels."""
        classes = len(self.encoded.classes)
        return self.structure.on(inputs.offsets, inputs.links, classes, own=self.own)

    @property
    def edge_batch(self) -> EdgeBatch:
        """The batch of a structure with label pairs."""
        return require_edge_batch(self.batch)

    def fixed_scores(self, measure: BaseMeasure, dtype: Any = np.float64) -> dict[str, Array] | None:
        """Return what is not learnt: rules about labels, the base measure, and what the structure brings."""
        known, batch = self.batch.known_scores(), self.batch
        if self.forbidden is None and measure is None and not known:
            return None
        scores = {name: np.zeros(shape, dtype) for name, shape in batch.shapes.items()} | known
        if self.forbidden is not None:
            scores |= offset_of(self.forbidden, batch, dtype)
        if measure is not None:
            add_base_measure(measure, batch, self.inputs.features, self.encoded.classes, scores)
        return {clique: values.astype(dtype, copy=False) for clique, values in scores.items()}

    def contents(self) -> list[Any]:
        """Return what tells this training set from others: inputs, labels, weights, what is forbidden.

        That of sequences without labels, too.
        """
        forbidden = None if self.forbidden is None else tuple(self.forbidden)
        return [
            canonical(self.inputs.features),
            self.inputs.offsets,
            self.inputs.links,
            *self.encoded,
            self.weights,
            forbidden,
            *((canonical(one.features), one.offsets, one.links) for one in self.unlabelled),
        ]


class LabelledSet(NamedTuple):
    """Inputs with their outputs, and the batch of both."""

    inputs: Inputs
    encoded: Encoded
    batch: StructureBatch
    extractor: Extractor | None
    structure: Structure

    @classmethod
    def of(
        cls,
        inputs: Inputs,
        extractor: Extractor | None,
        y: Outputs,
        structure: Structure,
        known: Sequence[Hashable] | None = None,
        classes: Any = None,
        *,
        own: Collection[str] = frozenset(),
        by_parts: bool = False,
    ) -> LabelledSet:
        """Encode outputs, as `read_training` says, and check that the structure can have them."""
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
        return cls(inputs, encoded, batch, extractor, structure)

    @property
    def edge_batch(self) -> EdgeBatch:
        """The batch of a structure with label pairs."""
        return require_edge_batch(self.batch)


def read_training(
    inputs: Inputs,
    extractor: Extractor | None,
    y: Outputs,
    structure: Structure,
    *,
    own: Collection[str] = frozenset(),
    sample_weight: Weights = None,
    loss: str | LossSettings | CustomLoss = "log",
    constraints: str | Rule | None = None,
    known: Sequence[Hashable] | None = None,
    classes: Any = None,
    observed_only: bool = False,
    by_parts: bool = False,
) -> Training:
    """Put inputs together with their labels; the clique types ``own`` have scores for every clique.

    Labels ``known`` before come first, and others may follow; ``classes`` are all there are. With
    ``by_parts``, the parts of the model tell which features of cliques they look at.
    """
    labelled = LabelledSet.of(inputs, extractor, y, structure, known, classes, own=own, by_parts=by_parts)
    inputs, encoded, batch, _, structure = labelled
    weights = None if sample_weight is None else read_weights(sample_weight, batch.n_instances, batch.words)
    settings = loss_settings(loss)
    if constraints is not None:
        require_labelling(structure, "constraints")
    ruled = constraints is not None or structure.forbidden_pairs
    forbidden = read_rules(structure, constraints, batch, encoded) if ruled else None
    if observed_only:
        require_labelling(structure, "observed_only")
    observed = Observed.of(inputs, encoded, require_edge_batch(batch)) if observed_only else None
    require_suited_loss(settings, structure, constraints)
    whole = settings.bind(batch, encoded.labels, classes=encoded.classes, weights=weights)
    return Training(inputs, encoded, batch, weights, whole, forbidden, observed, extractor, structure, own)


def require_suited_loss(settings: LossSettings, structure: Structure, constraints: str | Rule | None) -> None:
    """Refuse constraints or outputs that a loss knows nothing of."""
    name = type(settings).__name__
    if constraints is not None and settings.unruled:
        raise InputError(f"constraints do not go with {name}: {settings.unruled}.")
    if settings.labelling_only:
        require_labelling(structure, f"loss={name}")
    if settings.class_weight is not None:
        require_labelling(structure, "class_weight")


def require_seen(batch: StructureBatch, seen: Collection[str] = ()) -> None:
    """Refuse features of cliques of types that a model does not look at; edges may do without features."""
    for clique in batch.cliques:
        if (clique in batch.observations or clique in batch.featured) and clique not in seen:
            raise InputError(
                f"X has features of {clique!r} cliques, which this model does not look at. CRF does, with "
                f"Parts(edge_features=LinearScores()) for edges, KernelCRF with KernelScores(on={clique!r})."
            )


def require_labelling(structure: Structure, name: str) -> None:
    """Refuse a setting that is about labels of vertices, where there are none."""
    if not structure.labelling:
        kind = type(structure).__name__
        raise InputError(f"{name} is about labels of vertices, which {kind} has not.")


def warn_of(reason: Reason, progress: Progress, certificate: Certificate | None = None) -> None:
    """Say, as a warning, why a search ended too early, and what to do."""
    from sklearn.exceptions import ConvergenceWarning

    gap = progress.relative_gap if certificate is None else certificate.relative_gap
    bound = f"The certified relative gap is {gap:.1e}." if np.isfinite(gap) else "No gap is known."
    advice = "Raise max_iter or tol, or scale the features."
    warn_user(f"{reason.value} {bound} {advice}", ConvergenceWarning)
