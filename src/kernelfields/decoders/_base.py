"""What a decoder is: a rule that turns clique scores into outputs, labels of vertices say."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, TypeVar

import numpy as np

from ..arrays import Array
from ..errors import InputError, UnsupportedError
from ..structures import (
    ApproximateMax,
    ApproximateSum,
    LabelledBatch,
    MaxOracle,
    Scores,
    StructureBatch,
    SumOracle,
    marginal_parts,
    require_feasible,
)

ABSTAINED = -1
"""The label of a vertex for which no answer is given."""

Oracle = TypeVar("Oracle", bound=StructureBatch)


class Decoder(ABC):
    """A decision rule; its settings are its fields.

    Rules about labels are scores of −inf. Whatever `choose` says, `decode` returns only labellings that the
    scores allow, while an instance has any.
    """

    chooses_allowed: ClassVar[bool] = False
    """Whether `choose` itself never says what the scores forbid; else `decode` looks, and mends it."""

    def decode(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return an output of the batch, such as one label per vertex; `ABSTAINED` where no answer is given.

        Where `choose` breaks what the scores forbid, the allowed output that differs from it in the fewest
        answers.
        """
        labels = self.choose(structure, scores)
        if self.chooses_allowed:
            return labels
        labels = self._checked(labels, structure)
        if not forbids(scores):
            return labels
        silent = labels == ABSTAINED
        agreement = structure.parts(np.where(silent, 0, labels))[structure.answer]
        agreement[np.flatnonzero(silent)] = 0.0  # only labels of vertices are left out
        nearest = best_allowed(structure, scores, {structure.answer: agreement})
        return np.where(silent, ABSTAINED, nearest).astype(np.int32)

    @abstractmethod
    def choose(self, structure: StructureBatch, scores: Scores) -> Array:
        """Return an output of the batch, one label per vertex say; `ABSTAINED` where no answer is given."""

    def _checked(self, labels: Array, structure: StructureBatch) -> Array:
        """What somebody's rule chose, as integers, one for every place of an output."""
        result, name = np.asarray(labels), type(self).__name__
        places = int(structure.output_offsets[-1])
        if result.shape != (places,) or (result.size and result.dtype.kind not in "iu"):
            raise InputError(
                f"{name} chose labels of shape {result.shape} and type {result.dtype}, "
                f"expected integers of shape ({places},)."
            )
        if not isinstance(structure, LabelledBatch):
            return result.astype(np.int32)
        wrong = np.flatnonzero((result < ABSTAINED) | (result >= structure.n_labels))
        if wrong.size:
            v = int(wrong[0])
            last = structure.n_labels - 1
            raise InputError(f"{name} chose label {result[v]} at vertex {v}, expected {ABSTAINED} to {last}.")
        return result.astype(np.int32)


def require(structure: StructureBatch, oracle: type[Oracle], decoder: str) -> Oracle:
    """Return the structure as one that offers the oracle; a plain refusal if it does not."""
    if not isinstance(structure, oracle):
        raise UnsupportedError(
            f"{decoder} needs a {oracle.__name__}, which {type(structure).__name__} is not."
        )
    return structure


def marginals_of(structure: StructureBatch, scores: Scores, decoder: str) -> dict[str, Array]:
    """Return marginals, or beliefs in their place where sums are approximate; refuse what has neither."""
    if not isinstance(structure, ApproximateSum):
        require(structure, SumOracle, decoder)
    return marginal_parts(structure, scores)


def best_output(structure: StructureBatch, scores: Scores, decoder: str) -> Array:
    """Return the best output, or a good one where the search for it is approximate."""
    if isinstance(structure, ApproximateMax):
        found = structure.approximate_argmax(scores)
        require_feasible(found.value, structure.words)
        return found.labels
    return require(structure, MaxOracle, decoder).argmax(scores).labels


def forbids(scores: Scores) -> bool:
    """Whether any score is −inf."""
    return any(values.size and values.min() == -np.inf for values in scores.values())


def best_allowed(structure: StructureBatch, scores: Scores, gains: Scores) -> Array:
    """Return the output with the highest total gain among those the scores allow."""
    allowed = {
        clique: np.where(values == -np.inf, -np.inf, gains.get(clique, 0.0))
        for clique, values in scores.items()
    }
    return best_output(structure, allowed, "Decoding under constraints")
