"""What `calibrate` keeps of held-out data: how sure the model was, and where it was wrong."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays import Array, falls, offsets_of
from ..decoders import Decoder
from ..errors import warn_user
from ..persistence.fields import Field, Sizes

if TYPE_CHECKING:
    from ..guarantees import Guarantee, JudgedAnswers, MeanTest, Missed

POSITIONS, ENTITIES = "positions", "entities"
UNITS = (POSITIONS, ENTITIES)


class Calibration(NamedTuple):
    """A calibration set as a model saw it."""

    answers: JudgedAnswers
    """Labels of positions, or entities, that the model would answer."""
    true_labels: Missed
    """Probabilities of the true labels of all positions."""
    true_kinds: Array
    """The index of each of these labels; negative for one that the model does not know."""
    true_entities: Missed | None
    """For every true entity, the least probability of its labels; None where labels are none of entities."""
    units: str
    """What an answer is: "positions" or "entities"."""
    per_label: bool
    """Whether every label, or type of entity, has a threshold of its own, with its own guarantee."""
    test: MeanTest
    """That of the means."""
    decoder: Decoder
    """Whose answers they are."""

    def guarantees(
        self, names: list[Any], error_at_most: float, confidence: float
    ) -> dict[Hashable, Guarantee]:
        """Return the guarantee of all answers under None, or with ``per_label`` one for each kind."""
        from ..guarantees import learn_threshold

        if not self.per_label:
            return {None: learn_threshold(self.answers, error_at_most, confidence, test=self.test)}
        return {
            name: learn_threshold(self.answers.of_kind(kind), error_at_most, confidence, test=self.test)
            for kind, name in enumerate(names)
        }

    def missed_among(self, labels: Array) -> Missed:
        """Return the probabilities of true labels that are among these."""
        from ..guarantees import Missed

        kept = np.flatnonzero(np.isin(self.true_kinds, labels))
        ends = self.true_labels.offsets
        owner = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        counts = np.bincount(owner[kept], minlength=len(ends) - 1)
        return Missed(self.true_labels.probability[kept], offsets_of(counts))


def given_answers(
    guarantees: Mapping[Hashable, Guarantee], names: list[Any], answers: JudgedAnswers
) -> Array:
    """Return which answers pass the threshold of all, or that of their kind: a mask."""
    if None in guarantees:
        return guarantees[None].threshold.answers(answers.confidence, answers.offsets)
    result = np.zeros(len(answers.confidence), dtype=bool)
    for kind, name in enumerate(names):
        part = answers.of_kind(kind)
        mask = guarantees[name].threshold.answers(part.confidence, part.offsets)
        result[np.flatnonzero(answers.kinds == kind)] = mask
    return result


def warn_of_silence(guarantees: Mapping[Hashable, Guarantee]) -> None:
    """Say, as a warning, that nothing is answered, or which kinds of answers never are."""
    silent = [name for name, found in guarantees.items() if not found.holds]
    if not silent:
        return
    one = guarantees[silent[0]]
    promise = f"errors at most {one.error_at_most:.3g} of the answers with confidence {one.confidence:.3g}"
    if len(silent) == len(guarantees):
        warn_user(f"No threshold is proved to keep {promise}: nothing is answered.", UserWarning)
    else:
        listed = ", ".join(map(str, silent[:5])) + (", …" if len(silent) > 5 else "")
        warn_user(f"No threshold is proved to keep {promise} for {listed}: left open.", UserWarning)


@dataclass(frozen=True)
class Calibrations(Field):
    """What was kept of a calibration set, its arrays of one length each."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say what does not fit."""
        from ..guarantees import JudgedAnswers, MeanTest

        if not isinstance(value, Calibration):
            return "is no calibration"
        if value.units not in UNITS or type(value.per_label) is not bool:
            return "has units that there are none of"
        if not isinstance(value.test, MeanTest) or not isinstance(value.decoder, Decoder):
            return "has a test or a decoder that is none"
        a = value.answers
        if not isinstance(a, JudgedAnswers) or not _ragged(a.offsets, a.confidence, a.wrong, a.kinds):
            return "has answers that are none"
        if a.wrong.dtype != bool or a.kinds.dtype.kind != "i" or (a.kinds < 0).any():
            return "has answers that are none"
        if not _missed(value.true_labels, value.true_kinds) or value.true_kinds.dtype.kind != "i":
            return "has true labels that are none"
        return (
            ""
            if value.true_entities is None or _missed(value.true_entities)
            else "has entities that are none"
        )


def _missed(value: Any, *others: Any) -> bool:
    from ..guarantees import Missed

    return isinstance(value, Missed) and _ragged(value.offsets, value.probability, *others)


def _ragged(offsets: Any, *columns: Any) -> bool:
    """Whether columns are arrays whose length the offsets say; the first has probabilities."""
    if not all(isinstance(one, np.ndarray) and one.ndim == 1 for one in (offsets, *columns)):
        return False
    if offsets.dtype.kind != "i" or len(offsets) == 0 or offsets[0] != 0 or falls(offsets):
        return False
    first = columns[0]
    probable = first.dtype.kind == "f" and bool(((first >= 0) & (first <= 1 + 1e-6)).all())
    return probable and all(len(one) == offsets[-1] for one in columns)
