"""Labellers that held-out data have told how far they can be trusted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from .. import metrics
from ..arrays import Array
from ..checks import one_of, require_flag, require_whole, shown
from ..data.inputs import Inputs
from ..data.labels import UNKNOWN, look_up_outputs, read_outputs, require_sequences
from ..data.training import require_labelling
from ..data.types import Allowed, Groups, Items, Lengths, Outputs
from ..decoders import Abstain, Decoder
from ..errors import InputError
from ..lazy import Later
from ..structures import ApproximateSum, SumOracle
from ..tables import Table, choose
from .calibration import ENTITIES, UNITS, Calibration, given_answers, warn_of_silence
from .model import ScoredBatch, fitted_structure
from .scaling import Scaling

if TYPE_CHECKING:
    from ..guarantees import Guarantee, MeanTest, RiskControl
    from .calibrating import LabelledAnswers

TESTS: Table[MeanTest] = Table(
    ".guarantees._base:MeanTest",
    entries={
        "betting": Later(".guarantees.betting:Betting"),
        "hoeffding-bentkus": Later(".guarantees.hoeffding_bentkus:HoeffdingBentkus"),
    },
)
SCALINGS = ("temperature", "vector")
LIKELIHOODS = ("sequences", "positions")
CONFIDENCE = 0.95


class CalibratedLabeller(ABC):
    """What labellers do after they were fitted, with data that no fit has seen."""

    classes_: Array
    decoder: str | Decoder
    scaling_: Scaling
    """What `recalibrate` found."""
    calibration_: Calibration
    """What `calibrate` keeps."""

    @abstractmethod
    def predict_marginals(self, X: Items, *, lengths: Lengths = None, allowed: Allowed = None) -> list[Array]:
        """Return p(y_t|x) for every position."""

    @abstractmethod
    def _batch(self, X: Items, lengths: Lengths, allowed: Allowed) -> ScoredBatch: ...

    @abstractmethod
    def _read(self, X: Items, lengths: Lengths, *, as_rows: bool = False) -> Inputs: ...

    @abstractmethod
    def _decoder(self, given: str | Decoder | None) -> Decoder: ...

    @abstractmethod
    def _names(self, scored: ScoredBatch, outputs: Array) -> Any: ...

    def calibrate(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        method: str | MeanTest = "betting",
        units: str = "positions",
        per_label: bool = False,
    ) -> Self:
        """Keep what held-out sequences show of errors, for ``predict(..., error_at_most=)``.

        The sequences must be drawn as those to be predicted are, independently, and be seen by no fit,
        choice of settings or `recalibrate`; then the guarantee of `guarantees.learn_threshold` holds,
        whatever the model is worth. Labels within a sequence need not be independent. A fit forgets it.

        Parameters
        ----------
        X, y : list of sequences and list of label sequences
            Held-out data. Sequences with a label that is not observed are left out, with a warning. A
            label that training did not have is always an error.
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        method : "betting", "hoeffding-bentkus" or MeanTest
            How means are tested.
        units : "positions" or "entities"
            What an answer is: a label, with its marginal as its probability, or an entity (labels such
            as "B-PER"), with the exact probability that it stands there. With "entities" what is outside
            of them is always answered.
        per_label : bool
            Whether each predicted label, or type of entity, has a threshold of its own: errors are
            then at most a share of what is answered of each, with the given confidence for each.
        """
        from .calibrating import CalibrationSettings, calibration_of

        one_of(UNITS)("units", units)
        test = choose(TESTS, method, "method")
        each = bool(require_flag("per_label", per_label))
        decoder = self._decoder(None)
        if isinstance(decoder, Abstain):
            raise InputError("decoder is an Abstain; calibrate chooses when to abstain: take the one inside.")
        self._require_units(units)
        inputs, (_, seen) = self._read(X, lengths), self._seen(X, lengths, decoder)
        truth = look_up_outputs(fitted_structure(self), y, inputs, self.classes_)
        named = read_outputs(fitted_structure(self), y, inputs) if self._names_entities() else None
        settings = CalibrationSettings(units, each, test, decoder)
        vars(self)["calibration_"] = calibration_of(seen, truth, named, settings)
        return self

    def recalibrate(
        self,
        X: Items,
        y: Outputs,
        *,
        lengths: Lengths = None,
        method: str = "temperature",
        likelihood: str | None = None,
        folds: int | None = None,
        groups: Groups = None,
    ) -> Self:
        """Rescale all scores so that held-out labels are as probable as they can be.

        All that follows from scores changes with them: marginals, probabilities of sequences, samples, what
        is abstained from. With "temperature", all scores are divided by T, and the best labellings stay the
        best; with "vector" there is also a bias for each label, which may change them. Nothing is left of an
        earlier `recalibrate` or `calibrate`; a fit forgets it.

        Parameters
        ----------
        X, y : list of sequences and list of label sequences
            Held-out data, as other than those of `calibrate`. Labels may be None (not observed).
        lengths : sequence of int, optional
            Lengths of the sequences in a flat X.
        method : "temperature" or "vector"
            See `Scaling`.
        likelihood : "sequences" or "positions", optional
            What becomes probable: whole labellings, or the labels of positions. By default positions for
            temperatures of models that learn no probabilities, and sequences elsewhere. Marginals come true
            more often by positions, where a model takes neighbours for more independent than they are.
        folds : int, optional
            X and y are the training set: copies of the model are fitted to all folds of it but one, and the
            temperature is that under which what they say of the one left out is most probable.
        groups : (S,) array, optional
            Groups of sequences that stay together in folds.
        """
        from .recalibration import fit_temperature, fit_vector, fold_batches, held_out

        one_of(SCALINGS)("method", method)
        if likelihood is not None:
            one_of(LIKELIHOODS)("likelihood", likelihood)
        if vars(self).get("posterior_") is not None:
            raise InputError(
                "recalibrate does not go with a posterior: its averages are not scores to rescale."
            )
        structure, vector = fitted_structure(self), method == "vector"
        if vector and likelihood == "positions":
            raise InputError("likelihood='positions' goes with method='temperature' only.")
        plain = "sequences" if vector or getattr(self, "probabilistic", True) else "positions"
        marginal = (likelihood or (plain if structure.labelling else "sequences")) == "positions"
        if vector or marginal:
            require_labelling(structure, "method='vector'" if vector else "likelihood='positions'")
        if folds is None:
            if groups is not None:
                raise InputError("groups are those of folds, which is None.")
            scored = self.unscaled(X, lengths)
            labels = look_up_outputs(structure, y, scored.inputs, self.classes_)
            held = [held_out(scored.batch, scored.scores, labels, UNKNOWN)]
        elif vector or lengths is not None:
            raise InputError("folds goes with method='temperature' and lists of sequences only.")
        else:
            held = fold_batches(self, X, y, require_whole("folds", folds, 2), groups)
        scaling = fit_vector(held[0]) if vector else fit_temperature(held, marginal=marginal)
        for one in held:
            one.batch.warn_of_unsettled()
        vars(self).pop("calibration_", None)
        vars(self)["scaling_"] = scaling
        return self

    def guarantees(
        self, error_at_most: float = 0.05, confidence: float = CONFIDENCE
    ) -> dict[Hashable, Guarantee]:
        """Return what `calibrate` can guarantee: under None for all answers, or for each kind of answer.

        Kinds are labels, or types of entities, where ``per_label`` was asked for.
        """
        record = self._calibration("guarantees")
        return record.guarantees(self._kinds(record.units), error_at_most, confidence)

    def predict_sets(
        self, X: Items, *, lengths: Lengths = None, miss_at_most: float = 0.1, of: Any = None
    ) -> list[list[list[Hashable]]]:
        """Return a set of labels for every position, most probable first, that seldom lacks the true one.

        The sets have all labels from a probability λ on, which conformal risk control chooses (see
        `guarantees.control_misses`): in the mean over sequences, at most a share ``miss_at_most`` of the
        positions of a sequence has a true label outside of its set.

        Parameters
        ----------
        X, lengths
            As in `predict`.
        miss_at_most : float
            α, above 0 and below 1.
        of : list of labels, or "entities", optional
            What must not be missed, instead of all positions: those that truly have one of these labels
            (the false-negative rate of these labels), or true entities, which are found if the sets have
            all labels of it.
        """
        from ..guarantees import label_sets

        control = self.miss_control(miss_at_most, of)
        require_sequences(fitted_structure(self), "predict_sets")
        names = self.classes_.tolist()
        result = []
        for p in self.predict_marginals(X, lengths=lengths):
            order, kept = np.argsort(-p, axis=1, kind="stable"), label_sets(p, control.least)
            rows = zip(order.tolist(), kept, strict=True)
            result.append([[names[k] for k in ranked if mask[k]] for ranked, mask in rows])
        return result

    def miss_control(self, miss_at_most: float = 0.1, of: Any = None) -> RiskControl:
        """Return the λ of `predict_sets`, and what was missed in the calibration set."""
        from ..guarantees import control_misses

        record = self._calibration("predict_sets")
        if of is None:
            return control_misses(record.true_labels, miss_at_most)
        if isinstance(of, str) and of == ENTITIES:
            if record.true_entities is None:
                raise InputError("of is 'entities', but the labels of this model name no entities.")
            return control_misses(record.true_entities, miss_at_most)
        if not isinstance(of, list | tuple | set | frozenset):
            raise InputError(f"of is {shown(of)}; it must be a list of labels, or 'entities'.")
        names = self.classes_.tolist()
        for label in of:
            if label not in names:
                raise InputError(f"of has the label {label!r}, which is none of classes_.")
        return control_misses(record.missed_among(np.array([names.index(one) for one in of])), miss_at_most)

    def _guaranteed(
        self, X: Items, lengths: Lengths, error_at_most: Any, confidence: Any, others: Mapping[str, Any]
    ) -> Any:
        """Label sequences, None where the guarantee does not allow an answer."""
        if error_at_most is None:
            raise InputError(
                f"confidence is {shown(confidence)}, but error_at_most, which it is of, is None."
            )
        for name, value in others.items():
            if value is not None:
                raise InputError(
                    f"{name} does not go with error_at_most, whose guarantee knows nothing of it."
                )
        record = self._calibration("error_at_most")
        guarantees = self._asked_for(error_at_most, confidence)
        warn_of_silence(guarantees)
        scored, seen = self._seen(X, lengths, record.decoder)
        units = seen.units(record.units)
        every = units.judged(np.zeros(len(units.starts), dtype=bool))
        mask = given_answers(guarantees, self._kinds(record.units), every)
        return self._names(scored, units.left_out(seen.outputs, mask))

    def _asked_for(self, error_at_most: Any, confidence: Any) -> Mapping[Hashable, Guarantee]:
        """Return guarantees, as they were given or by their two numbers."""
        from ..guarantees import Guarantee

        if not isinstance(error_at_most, Mapping):
            return self.guarantees(error_at_most, CONFIDENCE if confidence is None else confidence)
        if confidence is not None:
            raise InputError("confidence is already in the guarantees that error_at_most is.")
        record = self._calibration("error_at_most")
        known = self._kinds(record.units) if record.per_label else [None]
        found = list(error_at_most.values())
        if list(error_at_most) != known or not all(isinstance(one, Guarantee) for one in found):
            raise InputError("error_at_most must be a number, or what guarantees of this model returned.")
        return error_at_most

    def _calibration(self, asked: str) -> Calibration:
        record: Calibration | None = getattr(self, "calibration_", None)
        if record is None:
            raise InputError(f"{asked} needs a calibrated model; call calibrate with held-out data first.")
        return record

    def _require_units(self, units: str) -> None:
        structure = fitted_structure(self)
        require_labelling(structure, "calibrate")
        if units == ENTITIES and not self._names_entities():
            raise InputError("units is 'entities', but the labels of this model name no entities.")

    def _names_entities(self) -> bool:
        structure = fitted_structure(self)
        plain = structure.in_sequences and not structure.linked
        return plain and metrics.has_entities(self.classes_.tolist())

    def _kinds(self, units: str) -> list[Any]:
        from .answer_units import entity_kinds

        names = self.classes_.tolist()
        return entity_kinds(names) if units == ENTITIES else names

    def unscaled(self, X: Items, lengths: Lengths) -> ScoredBatch:
        """Return scores as they were learnt, before any `recalibrate`."""
        before = vars(self).pop("scaling_", None)
        try:
            scored = self._batch(X, lengths, None)
        finally:
            if before is not None:
                vars(self)["scaling_"] = before
        if not isinstance(scored.batch, SumOracle | ApproximateSum):
            raise InputError(f"recalibrate needs a SumOracle, which {type(scored.batch).__name__} is not.")
        return scored

    def _seen(self, X: Items, lengths: Lengths, decoder: Decoder) -> tuple[ScoredBatch, LabelledAnswers]:
        """Return scores, and labels with marginals as users see them, whatever makes them."""
        from .calibrating import LabelledAnswers

        scored, names = self._batch(X, lengths, None), self.classes_.tolist()
        outputs = decoder.decode(scored.batch, scored.scores)
        each = [np.asarray(p).reshape(-1, len(names)) for p in self.predict_marginals(X, lengths=lengths)]
        marginals = np.concatenate([np.zeros((0, len(names))), *each])
        return scored, LabelledAnswers(scored.batch, scored.scores, outputs, marginals, names)
