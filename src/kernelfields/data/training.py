"""A training set, read and checked, with its loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_not_negative, shown, unknown_name
from ..constraints import Forbidden, Rule
from ..data.sample_weights import read_weights
from ..errors import InputError, warn_user
from ..losses import (
    CustomLoss,
    EntropyRegularised,
    HiddenStateLog,
    Information,
    InformationMaximisation,
    LocalLoss,
    Log,
    LogWithEntropy,
    Loss,
    MarginalLog,
    OwnedStates,
    PartialLog,
    Piecewise,
    PseudoLikelihood,
    VariationalEM,
)
from ..objective import Certificate
from ..solvers import Progress, Reason
from ..spaces import WeightPairs
from ..structures import ApproximateSum, EdgeBatch, Structure, StructureBatch
from ..tables import Table, choose
from .costs import cost_scores
from .inputs import Inputs, canonical
from .labels import UNOBSERVED, Encoded, encode_outputs, index_of
from .reading import Extractor
from .rules import read_rules, require_possible


class Observed(NamedTuple):
    """The pairs that occur in a training set."""

    features: WeightPairs
    edges: Array

    @classmethod
    def of(cls, inputs: Inputs, encoded: Encoded, chain: EdgeBatch) -> Observed:
        """Return the pairs of feature and label, and of neighbouring labels, that occur."""
        if not sparse.issparse(inputs.features) or (encoded.labels == UNOBSERVED).any():
            raise InputError("observed_only needs sparse features and every label to be observed.")
        pairs = np.zeros((chain.n_labels, chain.n_labels), dtype=bool)
        pairs[encoded.labels[chain.edge_tails], encoded.labels[chain.edge_heads]] = True
        return cls(WeightPairs.of(inputs.features, chain.n_labels, encoded.labels), pairs)


ClassWeight = dict[Any, float] | str | None
LossSettings = VariationalEM | EntropyRegularised | OwnedStates | InformationMaximisation | CustomLoss
"""Losses that have settings."""


class Training(NamedTuple):
    """A training set, read and checked."""

    inputs: Inputs
    encoded: Encoded
    chain: EdgeBatch
    weights: Array | None
    """How many times each sequence counts."""
    loss: Loss
    forbidden: Forbidden | None
    observed: Observed | None
    extractor: Extractor | None
    structure: Structure
    untied: bool
    unlabelled: tuple[Inputs, ...] = ()
    """Sequences without labels, for kernels that look at them."""
    missing: bool = False
    """Whether NaN in X is a missing value rather than a mistake."""

    def batch_of(self, inputs: Inputs) -> EdgeBatch:
        """Return the batch of other inputs with the same labels."""
        return self.structure.on(inputs.offsets, inputs.links, len(self.encoded.classes), untied=self.untied)

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


def read_training(
    inputs: Inputs,
    extractor: Extractor | None,
    y: Any,
    structure: Structure,
    *,
    untied: bool = False,
    sample_weight: Any = None,
    class_weight: ClassWeight = None,
    cost: Any = None,
    loss: str | LossSettings = "log",
    constraints: str | Rule | None = None,
    known: list[Any] | None = None,
    classes: Any = None,
    observed_only: bool = False,
    edge_features: bool = False,
    segment_features: bool = False,
    sibling_features: bool = False,
) -> Training:
    """Put inputs together with their labels; ``untied`` gives every edge scores of its own.

    Labels ``known`` before come first, and others may follow; ``classes`` are all there are.
    """
    if len(inputs.offsets) < 2 or inputs.offsets[-1] == 0:
        raise InputError("The training set is empty.")
    if not edge_features:
        require_no_edge_features(inputs)
    structure = structure.settled(y)
    inputs = structure.spread(inputs)
    encoded = encode_outputs(structure, y, inputs, known, classes)
    structure = structure.with_labels(encoded.classes.tolist(), inputs.links)
    chain = structure.on(inputs.offsets, inputs.links, len(encoded.classes), untied=untied)
    if not segment_features:
        require_no_segment_features(chain)
    if not sibling_features:
        require_no_sibling_features(chain)
    if getattr(chain, "label_sets", None) is not None or hasattr(chain, "candidates"):
        require_possible(chain, encoded.labels, encoded.classes)
    weights = None if sample_weight is None else read_weights(sample_weight, chain.n_instances, chain.words)
    make = choose(LOSSES, loss, "loss")
    if constraints is not None:
        require_labelling(structure, "constraints")
    ruled = constraints is not None or structure.forbidden_pairs
    forbidden = read_rules(structure, constraints, chain, encoded) if ruled else None
    for name, setting in (("observed_only", observed_only), ("class_weight", class_weight)):
        if setting:
            require_labelling(structure, name)
    observed = Observed.of(inputs, encoded, chain) if observed_only else None
    if isinstance(make, VariationalEM):
        if constraints is not None:
            raise InputError("constraints do not go with VariationalEM: beliefs know no forbidden pairs.")
        make = partial(pseudo_loss_of, unobserved=make)
    if isinstance(make, EntropyRegularised):
        require_labelling(structure, "loss='entropy'")
        make = partial(entropy_loss_of, settings=make)
    if isinstance(make, OwnedStates | InformationMaximisation):
        make = partial(unlabelled_loss_of, settings=make)
    if isinstance(make, CustomLoss):
        make = partial(custom_loss_of, settings=make)
    whole = make(chain, encoded, weights, class_weight, cost)
    return Training(inputs, encoded, chain, weights, whole, forbidden, observed, extractor, structure, untied)


def learns_without_labels(loss: Any) -> bool:
    """Whether a loss is about sequences without labels, too; to others they are nothing."""
    return isinstance(choose(LOSSES, loss, "loss"), VariationalEM | EntropyRegularised)


def require_no_edge_features(inputs: Inputs) -> None:
    """Refuse features of edges where nothing looks at them."""
    if getattr(inputs.links, "edge_features", None) is not None:
        raise InputError("X has edge_features, which CRF with edge_features=True looks at, and nothing else.")


def require_no_segment_features(batch: StructureBatch) -> None:
    """Refuse features of segments where nothing looks at them."""
    if getattr(batch, "candidates", None) is not None:
        raise InputError(
            "The structure has features of segments, which CRF looks at, KernelCRF with a CliqueKernel on "
            "'segment', and nothing else."
        )


def require_no_sibling_features(batch: StructureBatch) -> None:
    """Refuse features of siblings where nothing looks at them."""
    if hasattr(batch, "sibling_features"):
        raise InputError(
            "The structure has features of siblings, which linear models look at: CRF, StochasticCRF, "
            "StructuredSVM without a kernel, StructuredPerceptron, PassiveAggressive and AROW."
        )


def require_labelling(structure: Structure, name: str) -> None:
    """Refuse a setting that is about labels of vertices, where there are none."""
    if not structure.labelling:
        kind = type(structure).__name__
        raise InputError(f"{name} is about labels of vertices, which {kind} has not.")


def marginal_log_loss_of(
    chain: EdgeBatch,
    encoded: Encoded,
    weights: Array | None,
    class_weight: ClassWeight,
    cost: Any = None,
) -> Loss:
    """Return the log loss of every label by itself: class weights are those of vertices."""
    return MarginalLog(chain, encoded.labels, weights, _vertex_weights(encoded, class_weight, cost))


def pseudo_loss_of(
    chain: EdgeBatch,
    encoded: Encoded,
    weights: Array | None,
    class_weight: ClassWeight = None,
    cost: Any = None,
    unobserved: VariationalEM | None = None,
) -> LocalLoss:
    """Return the log loss of every label given those around it: class weights are those of vertices."""
    kappa = _vertex_weights(encoded, class_weight, cost)
    return PseudoLikelihood(chain, encoded.labels, weights, kappa, unobserved)


def piecewise_loss_of(
    chain: EdgeBatch,
    encoded: Encoded,
    weights: Array | None,
    class_weight: ClassWeight = None,
    cost: Any = None,
) -> LocalLoss:
    """Return the log loss of every clique by itself: class weights are those of vertices."""
    return Piecewise(chain, encoded.labels, weights, _vertex_weights(encoded, class_weight, cost))


def _vertex_weights(encoded: Encoded, class_weight: ClassWeight, cost: Any) -> Array | None:
    """Return class weights as weights of vertices; costs are refused."""
    if cost is not None:
        raise InputError("cost is for loss='log', which sums over whole labellings.")
    if class_weight is None:
        return None
    observed = encoded.labels != UNOBSERVED
    known = encoded._replace(labels=encoded.labels[observed])
    result = np.ones(len(encoded.labels))
    result[observed] = class_weights(class_weight, known)[known.labels]
    return result


def loss_of(
    chain: EdgeBatch,
    encoded: Encoded,
    weights: Array | None,
    class_weight: ClassWeight = None,
    cost: Any = None,
) -> Loss:
    """Return the log loss: with a cost inside for class weights, restricted where labels are unobserved."""
    observed = encoded.labels != UNOBSERVED
    if observed.all():
        if class_weight is not None and cost is not None:
            raise InputError("class_weight is a cost, too; give one of class_weight and cost.")
        if cost is not None:
            cost = _additive(chain, encoded, cost)
        elif class_weight is not None:
            cost = {chain.answer: _cost(encoded, class_weight)}
        return Log(chain, encoded.labels, weights, cost)
    for name, setting in (("class_weight", class_weight), ("cost", cost)):
        if setting is not None:
            raise InputError(f"{name} needs every label to be observed.")
    allowed = ~observed[:, None] | (encoded.labels[:, None] == np.arange(chain.n_labels))
    return PartialLog(chain, allowed, weights)


def entropy_loss_of(
    chain: EdgeBatch,
    encoded: Encoded,
    weights: Array | None,
    class_weight: ClassWeight,
    cost: Any,
    settings: EntropyRegularised,
) -> Loss:
    """Return the log loss with the entropies of instances that have vertices and no label."""
    observed = loss_of(chain, encoded, weights, class_weight, cost)
    counts = np.diff(np.concatenate([[0], np.cumsum(encoded.labels != UNOBSERVED)])[chain.offsets])
    unlabelled = (counts == 0) & (np.diff(chain.offsets) > 0)
    if not unlabelled.any():
        return observed
    assert isinstance(observed, Log | PartialLog)
    return LogWithEntropy(observed, float(settings.weight) * unlabelled)


def unlabelled_loss_of(
    chain: EdgeBatch,
    encoded: Encoded,
    weights: Array | None,
    class_weight: ClassWeight,
    cost: Any,
    settings: OwnedStates | InformationMaximisation,
) -> Loss:
    """Return a loss to which the labels in y are where to begin: hidden states, or clusters."""
    for name, setting in (("class_weight", class_weight), ("cost", cost)):
        if setting is not None:
            raise InputError(f"{name} needs every label to be observed; hidden states and clusters are not.")
    if isinstance(settings, OwnedStates):
        return HiddenStateLog(chain, encoded.labels, settings, weights)
    return Information(chain, settings, encoded.labels, weights)


def custom_loss_of(
    chain: EdgeBatch,
    encoded: Encoded,
    weights: Array | None,
    class_weight: ClassWeight,
    cost: Any,
    settings: CustomLoss,
) -> Loss:
    """Return the user's own loss, which knows neither class weights nor costs nor missing labels."""
    name = type(settings).__name__
    for setting, value in (("class_weight", class_weight), ("cost", cost)):
        if value is not None:
            raise InputError(f"{setting} has no meaning to {name}: build it into its bind().")
    missing = np.flatnonzero(encoded.labels == UNOBSERVED)
    if len(missing):
        s = int(np.searchsorted(chain.output_offsets, missing[0], side="right")) - 1
        raise InputError(f"{name} needs every label, but {chain.words.item} {s} of y lacks some.")
    loss = settings.bind(chain, encoded.labels, weights)
    if not isinstance(loss, Loss):
        raise InputError(f"bind() of {name} returned {type(loss).__name__}, expected a Loss.")
    return loss


def _additive(chain: EdgeBatch, encoded: Encoded, cost: Any) -> dict[str, Array]:
    """Return a cost that adds up over cliques; inside a sum over labellings no other can be had."""
    if callable(cost) or (isinstance(cost, str) and cost != "hamming"):
        known = "'hamming', a dictionary of labels, a table of labels or of label pairs, or a PairCost"
        raise InputError(f"cost is {shown(cost)}; inside the log loss it must be {known}.")
    return cost_scores(chain, encoded, cost)


LOSSES: Table[Callable[..., Loss] | LossSettings] = Table(
    Callable,
    VariationalEM,
    EntropyRegularised,
    OwnedStates,
    InformationMaximisation,
    CustomLoss,
    entries={
        "log": loss_of,
        "marginal-log": marginal_log_loss_of,
        "pseudo": pseudo_loss_of,
        "piecewise": piecewise_loss_of,
        "pseudo-em": VariationalEM(),
        "entropy": EntropyRegularised(),
    },
)


def _cost(encoded: Encoded, class_weight: dict[Any, float] | str) -> Array:
    """Δ(y, ·): the weight of the observed label, zero at that label."""
    weight = class_weights(class_weight, encoded)
    cost = np.repeat(weight[encoded.labels][:, None], len(weight), axis=1)
    cost[np.arange(len(cost)), encoded.labels] = 0
    return cost


def class_weights(given: dict[Any, float] | str, encoded: Encoded) -> Array:
    """One weight per class."""
    count = np.bincount(encoded.labels, minlength=len(encoded.classes))
    if isinstance(given, str):
        if given != "balanced":
            raise unknown_name("class_weight", given, ["balanced"], " or a dictionary")
        return len(encoded.labels) / (len(count) * np.maximum(count, 1))
    if not isinstance(given, Mapping):
        raise InputError(f"class_weight is {shown(given)}; it must be a dictionary or 'balanced'.")
    index = index_of(encoded.classes)
    weights = np.ones(len(count))
    for label, weight in given.items():
        if label not in index:
            raise InputError(f"class_weight has the unknown label {label!r}.")
        weights[index[label]] = require_not_negative(f"class_weight of {label!r}", weight)
    return weights


def warn_of_unsettled(batch: StructureBatch, count: int | None = None) -> None:
    """Say, as a warning, for how many instances an approximation did not converge; nothing if all did.

    ``count`` is that number; if it is not given, that of the last sums that the batch was asked for.
    """
    if count is None:
        last = batch.convergence if isinstance(batch, ApproximateSum) else None
        count = 0 if last is None else int((~last.converged).sum())
    if count:
        from sklearn.exceptions import ConvergenceWarning

        name, every = type(batch).__name__, batch.n_instances
        advice = "raise max_iter or tol of its inference."
        warn_user(
            f"{name} did not converge on {count} of {every} {batch.words.items}: {advice}", ConvergenceWarning
        )


def warn_of(reason: Reason, progress: Progress, certificate: Certificate | None = None) -> None:
    """Say, as a warning, why a search ended too early, and what to do."""
    from sklearn.exceptions import ConvergenceWarning

    gap = progress.relative_gap if certificate is None else certificate.relative_gap
    bound = f"The certified relative gap is {gap:.1e}." if np.isfinite(gap) else "No gap is known."
    advice = "Raise max_iter or tol, or scale the features."
    warn_user(f"{reason.value} {bound} {advice}", ConvergenceWarning)
