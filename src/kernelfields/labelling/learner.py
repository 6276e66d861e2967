"""The model that learns from what was accepted, some steps at a time."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..estimators import CRF
from .material import Material
from .sheets import Sheet
from .tags import Tag, Tags


class LabelGuess(NamedTuple):
    """What a model says about one sequence."""

    tags: list[str]
    """The most probable labelling, given what is known."""
    probability: Array
    """p(y_t|x, known) of each of its labels."""


@dataclass(frozen=True)
class Lesson:
    """What there is to learn from, at one time."""

    version: int
    """That of the session."""
    items: tuple[int, ...]
    """Sequences."""
    tags: tuple[tuple[Tag, ...], ...]
    """Their labels."""


def lesson_of(version: int, sheets: Sequence[Sheet], reserved: frozenset[int]) -> Lesson:
    """Return all sequences that were accepted, but those that are kept to check the model."""
    items = [k for k, sheet in enumerate(sheets) if sheet.done and k not in reserved and any(sheet.tags)]
    return Lesson(version, tuple(items), tuple(sheets[k].tags for k in items))


class LabelLearner:
    """A conditional random field for the labels of some material.

    Parameters
    ----------
    material : Material
        What is labelled.
    tags : Tags
        Its labels: all are known from the start, so that fits go on from one another.
    penalty : float
        λ of the `CRF`.
    """

    def __init__(self, material: Material, tags: Tags, penalty: float = 1.0) -> None:
        self.material, self.tags = material, tags
        self.flat = material.structure == "chain"
        self.estimator = CRF(
            penalty=penalty,
            classes=list(tags.classes),
            structure=material.structure,
            constraints="iob2" if tags.spans else None,
            observed_only=hasattr(material.features, "tocsr"),
            warm_start=True,
        )

    def step(self, before: CRF | None, lesson: Lesson, iterations: int) -> CRF | None:
        """Return a model that has gone on from another for some iterations; None if there is no lesson."""
        if not lesson.items:
            return None
        model = copy.copy(self.estimator if before is None else before).set_params(max_iter=iterations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the limit was reached is what is asked for
            if self.flat:
                rows, lengths = self.material.rows(lesson.items), self.material.lengths(lesson.items)
                return model.fit(rows, [list(one) for one in lesson.tags], lengths=lengths)
            return model.fit(self.material.inputs(lesson.items), [list(one) for one in lesson.tags])

    def guesses(
        self, model: CRF, items: Sequence[int], known: Sequence[Sequence[Tag]] | None = None
    ) -> list[LabelGuess]:
        """Return what a model says about sequences, given labels that are known."""
        inputs, lengths = self.material.inputs(items), None
        if self.flat:
            inputs, lengths = self.material.rows(items), self.material.lengths(items)
        allowed = None if known is None else [self.tags.allowed(one) for one in known]
        tags = model.predict(inputs, lengths=lengths, allowed=allowed)
        marginals = model.predict_marginals(inputs, lengths=lengths, allowed=allowed)
        column = {tag: k for k, tag in enumerate(model.classes_.tolist())}
        return [
            LabelGuess([str(tag) for tag in one], table[np.arange(len(one)), [column[tag] for tag in one]])
            for one, table in zip(tags, marginals, strict=True)
        ]


def is_settled(model: CRF, iterations: int) -> bool:
    """Return whether a fit ended before its limit of iterations."""
    return bool(model.n_iter_ < iterations)


def errors_of(guess: LabelGuess, truth: Sequence[Tag]) -> tuple[int, int]:
    """Return how many labels are wrong, and of how many that are known."""
    known = [(mine, one) for mine, one in zip(guess.tags, truth, strict=True) if one is not None]
    return sum(mine != one for mine, one in known), len(known)


def joined_offsets(guesses: Sequence[LabelGuess]) -> Array:
    """Return where the labels of each guess begin among those of all."""
    return offsets_of([len(guess.tags) for guess in guesses])
