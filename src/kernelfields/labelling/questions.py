"""Which sequence to ask for next."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..active import sequence_scores
from ..arrays import Array
from .material import Material
from .sheets import Sheet

BEST, FRESH = 32, 16
"""Sequences that are scored again before a question: the best so far, and those not looked at for longest."""
IDLE = 256
"""Sequences that are scored again while nobody waits for a question."""


class NextItem(NamedTuple):
    """A sequence to ask for."""

    item: int
    why: str
    """"check": drawn at random, to count errors. "unsure": the model is less sure of no other that was looked
    at. "random": there is no model yet."""


class Questions:
    """Asks for what the model is least sure of, and now and then for a random sequence to check it.

    Sequences to check are drawn before anything is known, and the model never learns from them: what it
    does there is what it does to a random sequence.

    Parameters
    ----------
    material : Material
        What is labelled.
    strategy : str
        What "least sure" means, as in `active.sequence_scores`.
    check : float
        Share of the questions that check the model; 0 for none.
    seed : int
        Of the draws.
    """

    def __init__(self, material: Material, strategy: str, check: float, seed: int = 0) -> None:
        self.material, self.strategy, self.check = material, strategy, check
        order = np.random.default_rng(seed).permutation(len(material)).tolist()
        count = math.ceil(check * len(order))
        self.checks: list[int] = order[:count]
        self.reserved = frozenset(self.checks)
        self._order: list[int] = order[count:]
        self._scores = np.full(len(order), -np.inf)
        self._looked = np.zeros(len(order), dtype=np.int64)
        self._turn = 0

    def next(self, sheets: Sequence[Sheet], model: Any, avoid: Collection[int] = ()) -> NextItem | None:
        """Return the next question; None if everything has been answered, or skipped, or is to be avoided."""
        checks = [k for k in self.checks if sheets[k].is_open and k not in avoid]
        if checks and self._is_due(sheets):
            return NextItem(checks[0], "check")
        others = [k for k in self._order if sheets[k].is_open and k not in avoid]
        if not others:
            return NextItem(checks[0], "check") if checks else None
        if model is None:
            return NextItem(others[0], "random")
        self.note(*self.scored(sheets, model, self.some(np.array(others), BEST, FRESH)))
        best = max(others, key=lambda k: float(self._scores[k]))
        return NextItem(best, "unsure")

    def idle(self, sheets: Sequence[Sheet]) -> list[int]:
        """Return sequences to score while there is time."""
        others = [k for k in self._order if sheets[k].is_open]
        return self.some(np.array(others, dtype=np.int64), 0, IDLE)

    def some(self, others: Array, best: int, fresh: int) -> list[int]:
        """Return the best of some sequences, and those that were not looked at for longest."""
        old = others[np.argsort(self._looked[others], kind="stable")[:fresh]]
        top = others[np.argsort(-self._scores[others], kind="stable")[:best]]
        found: list[int] = np.union1d(old, top).tolist()
        return found

    def scored(self, sheets: Sequence[Sheet], model: Any, some: list[int]) -> tuple[list[int], Array]:
        """Return how much a model would learn from some sequences."""
        known = [list(sheets[k].tags) for k in some]
        inputs = self.material.inputs(some)
        return some, sequence_scores(model, inputs, self.strategy, known=known) if some else np.zeros(0)

    def note(self, some: list[int], scores: Array) -> None:
        """Keep scores until there are newer ones."""
        self._turn += 1
        self._scores[some] = scores
        self._looked[some] = self._turn

    def _is_due(self, sheets: Sequence[Sheet]) -> bool:
        """Return whether checks would still be at most their share of what is done."""
        checked = sum(sheets[k].done for k in self.checks)
        return checked + 1 <= self.check * (sum(sheet.done for sheet in sheets) + 1)
