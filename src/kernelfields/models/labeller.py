"""What all sequence labellers share: everything that follows from clique scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays import Array
from ..checks import require_share, require_whole
from ..constraints import Forbidden
from ..data.inputs import Inputs
from ..data.labels import UNKNOWN, UNOBSERVED, look_up_outputs, name_outputs, read_allowed
from ..data.reading import Extractor, read_to_predict
from ..data.sample_weights import read_weights
from ..data.seeds import random_state
from ..data.training import require_labelling
from ..data.types import Allowed, Items, Lengths, Outputs, Seed, Weights
from ..decoders import ABSTAINED, Abstain, Decoder
from ..errors import InfeasibleError, InputError, ModelFormatError, warn_user
from ..fitting.run import Routed
from ..memory import require_memory
from ..persistence.savable import Savable, no_fit
from ..structures import (
    ApproximateSample,
    ApproximateSum,
    KBestOracle,
    LabelledBatch,
    MixedScores,
    SampleOracle,
    SumOracle,
    changed,
    drawn_outputs,
    log_mean,
    marginal_parts,
)
from ..tables import DECODERS, choose
from .averaging import mixed
from .calibrated_labeller import CalibratedLabeller
from .model import Model, ScoredBatch, fitted_structure, remembered

if TYPE_CHECKING:
    from ..guarantees import Guarantee

Labels = list[list[Hashable]]


class SequenceLabeller(CalibratedLabeller, Routed, Savable, ABC):
    """A fitted model that gives every position of a sequence a distribution over labels.

    Sequences come as a list of (T, D) arrays, scipy-sparse matrices or data frames, as one flat array
    with ``lengths``, or as lists of tokens. Labels are any hashable objects.
    """

    classes_: Array
    n_features_in_: int
    features_: Extractor | None
    forbidden_: Forbidden | None = None
    decoder: str | Decoder
    random_state: Seed
    probabilistic: ClassVar[bool] = True
    """Whether training makes probabilities; where it does not, they are a softmax of scores."""
    _scores_rows: ClassVar[bool] = False
    """Whether scorers take the rows of an extractor, which need no matrix."""
    _missing: ClassVar[bool] = False
    """Whether NaN in X is a missing value rather than a mistake."""

    @abstractmethod
    def _model(self) -> Model:
        """Return what was learnt, as scorers."""

    def predict(
        self,
        X: Items,
        *,
        lengths: Lengths = None,
        allowed: Allowed = None,
        decoder: str | Decoder | None = None,
        abstain: float | None = None,
        error_at_most: float | Mapping[Hashable, Guarantee] | None = None,
        confidence: float | None = None,
    ) -> Labels:
        """Label sequences.

        Parameters
        ----------
        X : list of (T, D) arrays, or flat array
            Sequences.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        allowed : list, optional
            What is already known: per sequence None, or per position None, a label, a list or set
            of labels, or a mask over ``classes_``.
        decoder : "viterbi", "posterior" or Decoder, optional
            Instead of the one the model was made with.
        abstain : float, optional
            Give None instead of a label whose probability is below this.
        error_at_most : float or dict, optional
            Give None so often that, with the confidence, at most this share of the other answers is
            wrong; needs `calibrate`, whose decoder and units it takes. For many calls, what
            `guarantees` returned.
        confidence : float, optional
            The probability, over calibration sets, that this holds; 0.95 if not given.

        Returns
        -------
        list of lists
            One label per position.
        """
        if error_at_most is not None or confidence is not None:
            others = {"allowed": allowed, "decoder": decoder, "abstain": abstain}
            return self._guaranteed(X, lengths, error_at_most, confidence, others)
        scored = self._batch(X, lengths, allowed)
        rule = self._decoder(decoder)
        if abstain is not None:
            rule = Abstain(rule, require_share("abstain", abstain))
        outputs = rule.decode(scored.batch, scored.scores)
        scored.batch.warn_of_unsettled()
        return self._names(scored, outputs)

    def predict_marginals(self, X: Items, *, lengths: Lengths = None, allowed: Allowed = None) -> list[Array]:
        """Return p(y_t|x) for every position: a (T, L) array per sequence, columns as in ``classes_``."""
        scored = self._batch(X, lengths, allowed)
        batch = scored.batch
        _require_oracle(batch, (SumOracle, ApproximateSum), "predict_marginals")
        marginals = marginal_parts(batch, scored.scores)[batch.answer]
        batch.warn_of_unsettled()
        each = [marginals[a:b] for a, b in pairwise(batch.cliques[batch.answer].offsets)]
        result: list[Array] = fitted_structure(self).shaped_marginals(each, scored.inputs.links)
        return result

    def predict_kbest(
        self, X: Items, k: int, *, lengths: Lengths = None, allowed: Allowed = None
    ) -> list[list[tuple[list[Hashable], float]]]:
        """Return the k best labellings of every sequence with log p(y|x), best first.

        Structures that do not sum over their outputs have no probabilities: there it is the score.
        """
        count = require_whole("k", k)
        scored = self._batch(X, lengths, allowed)
        _require_oracle(scored.batch, KBestOracle, "predict_kbest")
        longest = int(np.diff(scored.batch.output_offsets).max(initial=0))
        if isinstance(scored.batch, LabelledBatch) and longest <= 62:  # there are no more labellings
            count = min(count, scored.batch.n_labels**longest)
        labels, value = scored.batch.kbest(scored.scores, count)
        log_proba = value
        if isinstance(scored.scores, MixedScores):
            labels, log_proba = _mixed_kbest(scored.batch, scored.scores, labels, value)
        elif isinstance(scored.batch, SumOracle | ApproximateSum):
            log_proba = at_most_one(value - scored.batch.log_partition(scored.scores)[:, None], scored.batch)
        named = [self._names(scored, np.maximum(row, 0)) for row in labels]
        return [
            [(named[n][s], float(p)) for n, p in enumerate(log_proba[s]) if p > -np.inf]
            for s in range(scored.batch.n_instances)
        ]

    def sequence_log_proba(self, X: Items, y: Outputs, *, lengths: Lengths = None) -> Array:
        """Log p(y|x) of whole labellings; where a label is None, the sum over all labels.

        It is −inf for labellings that rules forbid, and for those with a label that training did not have;
        how many the latter are is a warning.
        """
        scored = self._batch(X, lengths, None)
        labels = look_up_outputs(fitted_structure(self), y, scored.inputs, self.classes_)
        _require_oracle(scored.batch, (SumOracle, ApproximateSum), "sequence_log_proba")
        # every answer is given, if not always a known one
        complete = (labels >= 0).all() or not fitted_structure(self).labelling
        possible = None
        if not complete:
            possible = (labels[:, None] < 0) | (labels[:, None] == np.arange(len(self.classes_)))

        def log_proba(scores: Mapping[str, Array]) -> Array:
            total = scored.batch.log_partition(scores)
            if possible is None:
                return scored.batch.score(scores, np.maximum(labels, 0)) - total
            within = {**scores, "node": np.where(possible, scores["node"], -np.inf)}
            return log_partition_or_none(scored.batch, within) - total

        result = at_most_one(log_mean(scored.scores, log_proba), scored.batch)
        scored.batch.warn_of_unsettled()
        if (labels < 0).any():
            result[self._strange(labels, scored.batch)] = -np.inf
        return result

    def entity_probabilities(
        self, X: Items, y: Outputs, *, lengths: Lengths = None, allowed: Allowed = None
    ) -> list[Array]:
        """Return the probability of every entity of labellings: that it stands there, with these ends.

        An entity is there if its positions have their labels, it begins after the label before and ends
        before the label after it: the quotient of two sums over labellings, exact where sums are. Chains
        of order one are swept once; other structures once for every entity of a sequence.

        Parameters
        ----------
        X : list of sequences
            As `predict` takes them.
        y : list of label sequences
            Labels such as "B-PER", of `predict` for example; None is no part of an entity.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        allowed : list, optional
            What is already known, as in `predict`.

        Returns
        -------
        list of arrays
            A number per entity, in the order of `metrics.entity_spans`.
        """
        from .answer_units import entity_units

        scored = self._batch(X, lengths, allowed)
        if not self._names_entities():
            raise InputError("The labels of this model name no entities.")
        labels = look_up_outputs(fitted_structure(self), y, scored.inputs, self.classes_)
        if (labels == UNKNOWN).any():
            raise InputError("y has labels that training did not have.")
        found = entity_units(scored.batch, scored.scores, labels, self.classes_.tolist())
        return [found.confidence[a:b] for a, b in pairwise(found.offsets)]

    def _strange(self, labels: Array, batch: Any) -> Array:
        """Return which sequences have labels that training did not have, after a warning of how many."""
        unknown = np.flatnonzero(labels == UNKNOWN)
        strange = np.unique(np.searchsorted(batch.output_offsets, unknown, side="right") - 1)
        if len(strange):
            warn_user(
                f"{len(strange)} of {batch.n_instances} {batch.words.items} have labels that training did "
                "not have: their log-probability is −inf.",
                UserWarning,
            )
        return strange

    def sample(self, X: Items, n: int = 1, *, lengths: Lengths = None) -> list[Labels]:
        """Return n draws from p(y|x) for all sequences, seeded by ``random_state``.

        They are exact, but for structures that only approximate sums: their draws come from a Markov chain.
        """
        count = require_whole("n", n, 0)
        scored = self._batch(X, lengths, None)
        draw = _drawing(scored.batch)
        require_memory(f"n={count}", 4 * count * int(scored.batch.output_offsets[-1]))
        seed = random_state(self.random_state).randint(2**31 - 1)
        rows = drawn_outputs(draw, scored.scores, count, int(seed))
        return [self._names(scored, row) for row in rows]

    def score(self, X: Items, y: Outputs, *, lengths: Lengths = None, sample_weight: Weights = None) -> float:
        """Return the share of right answers (labels of positions, heads of words, spans of trees).

        Each sequence counts ``sample_weight`` times.

        Positions whose label is None do not count; a label that training did not have is never right.
        """
        scored = self._batch(X, lengths, None)
        sizes = np.diff(scored.batch.output_offsets)
        truth = look_up_outputs(fitted_structure(self), y, scored.inputs, self.classes_)
        words = scored.batch.words
        counts = (
            np.ones(len(sizes)) if sample_weight is None else read_weights(sample_weight, len(sizes), words)
        )
        weights = np.repeat(counts, sizes) * (truth != UNOBSERVED)
        if not weights.any():
            raise InputError("There is nothing to score: y has no label, or none with a weight above 0.")
        labels = self._decoder(None).decode(scored.batch, scored.scores)
        scored.batch.warn_of_unsettled()
        return float(np.average(scored.batch.agree(labels, truth), weights=weights))

    def _batch(self, X: Items, lengths: Lengths, allowed: Allowed) -> ScoredBatch:
        self._require_fitted()

        def score() -> ScoredBatch:
            return self._with_posterior(
                self._model().scores(self._read(X, lengths, as_rows=self._scores_rows))
            )

        scored: ScoredBatch = remembered(self, X, score) if lengths is None else score()
        if allowed is None:
            return scored
        require_labelling(fitted_structure(self), "allowed")
        allowed = fitted_structure(self).flattened(allowed, scored.inputs.links, "allowed")
        mask = read_allowed(allowed, self.classes_, np.diff(scored.batch.offsets), scored.batch.words)

        def within(scores: dict[str, Array]) -> dict[str, Array]:
            return {**scores, "node": np.where(mask, scores["node"], -np.inf)}

        return scored._replace(scores=changed(scored.scores, within))

    def _with_posterior(self, scored: ScoredBatch) -> ScoredBatch:
        """Return scores with those of the functions drawn, where a model was fitted with a posterior."""
        return scored if vars(self).get("posterior_") is None else mixed(self, scored)

    def _rehearse(self) -> None:
        alphabet = fitted_structure(self).alphabet
        if alphabet and self.classes_.tolist() != list(alphabet):
            raise ModelFormatError("The labels are not those of the structure.")
        self.predict([])
        if isinstance(self._batch([], None, None).batch, SumOracle | ApproximateSum):
            self.predict_marginals([])

    def _read(self, X: Any, lengths: Lengths, *, as_rows: bool = False) -> Inputs:
        """Read a batch to predict; models of other observations than features have their own."""
        missing = self._missing
        if not missing and "kernel_" in vars(self):
            from .vertex_kernels import takes_missing

            missing = takes_missing(self)
        names = vars(self).get("feature_names_in_")
        return read_to_predict(
            fitted_structure(self),
            self.features_,
            X,
            lengths,
            self.n_features_in_,
            names,
            missing=missing,
            as_rows=as_rows,
        )

    def _require_fitted(self) -> None:
        if not hasattr(self, "classes_"):
            raise no_fit(self)

    def _decoder(self, given: str | Decoder | None) -> Decoder:
        return choose(DECODERS, self.decoder if given is None else given, "decoder")

    def _names(self, scored: ScoredBatch, outputs: Array) -> Any:
        """Return the outputs of a batch as users write them; None where abstained."""
        assert ABSTAINED == -1
        links = None if scored.inputs is None else scored.inputs.links
        return name_outputs(fitted_structure(self), outputs, scored.batch, self.classes_, links)


def _require_oracle(batch: Any, oracle: type | tuple[type, ...], question: str) -> None:
    """Refuse a question that a structure does not answer; the first of several oracles is the one to name."""
    if not isinstance(batch, oracle):
        name = (oracle if isinstance(oracle, type) else oracle[0]).__name__
        raise InputError(f"{question} needs a {name}, which {type(batch).__name__} is not.")


def _mixed_kbest(batch: Any, scores: MixedScores, labels: Array, value: Array) -> tuple[Array, Array]:
    """Return the best outputs of the mode, ordered by the probabilities of the mixture."""
    each = [
        log_mean(scores, lambda one, row=row: batch.score(one, np.maximum(row, 0)) - batch.log_partition(one))  # type: ignore[misc]
        for row in labels
    ]
    log_proba = np.where(value > -np.inf, np.stack(each, axis=1), -np.inf)
    order = np.argsort(-log_proba, axis=1, kind="stable")
    ends = batch.output_offsets
    ranked = labels.copy()
    for s in range(batch.n_instances):
        ranked[:, ends[s] : ends[s + 1]] = labels[order[s], ends[s] : ends[s + 1]]
    return ranked, at_most_one(np.take_along_axis(log_proba, order, axis=1), batch)


def at_most_one(log_proba: Array, batch: Any) -> Array:
    """Return log-probabilities without what rounding leaves above 0; approximations stay."""
    return np.minimum(log_proba, 0.0) if isinstance(batch, SumOracle) else log_proba


def _drawing(batch: Any) -> Callable[[Mapping[str, Array], int, int], Array]:
    """Return how to draw outputs, exactly where that is possible."""
    if isinstance(batch, ApproximateSample):
        return batch.approximate_sample
    _require_oracle(batch, SampleOracle, "sample")
    return batch.sample


def log_partition_or_none(batch: Any, scores: dict[str, Array]) -> Array:
    """Return g(θ), −inf where no labelling is allowed."""
    try:
        return batch.log_partition(scores)
    except InfeasibleError:
        each = [batch.take([s]) for s in range(batch.n_instances)]
        return np.array([_feasible(one, batch.cut(scores, [s])) for s, one in enumerate(each)])


def _feasible(batch: Any, scores: dict[str, Array]) -> float:
    try:
        return float(batch.log_partition(scores)[0])
    except InfeasibleError:
        return -np.inf
