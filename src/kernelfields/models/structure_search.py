"""Rounds of structure learning: what to fit, by what it can gain, and what to keep, by what it did."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import TableSizeError
from .clique_types import CliqueType, Together
from .gain_bounds import adding_up, extension, gain_bounds


@dataclass(frozen=True)
class Trial:
    """What became of one candidate in one round."""

    round: int
    name: str
    bound: float | None
    """No refit of the extended model can lower the objective by more, but for the model's own gap.

    None where exact sums over the extended graphs would take too large a table.
    """
    gain: float | None
    """By how much fitting it did lower the objective; None if it was not fitted."""
    held_out: float | None
    """By how much the held-out log-likelihood rose, if there are held-out data."""
    kept: bool

    @property
    def verdict(self) -> str:
        """What became of it, in words."""
        if self.kept:
            return "kept"
        if self.bound is None:
            return "too large"
        return "not fitted" if self.gain is None else "not kept"


class Attempt(NamedTuple):
    """A fitted extension of a model."""

    candidate: CliqueType
    model: Any
    bound: float
    gain: float
    held_out: float | None
    price: float

    @property
    def pays(self) -> bool:
        """Whether it gained what it must."""
        return self.gain >= self.price and (self.held_out is None or self.held_out > 0)

    @property
    def net(self) -> float:
        """What it gained beyond that."""
        return self.gain - self.price


class RoundResult(NamedTuple):
    """What a round came to."""

    best: Attempt | None
    """What is kept."""
    left: list[CliqueType]
    """Candidates for the next round."""


@dataclass
class StructureSearch:
    """The data that candidates are judged by, and every judgement.

    Parameters
    ----------
    X, y, weights
        The training set.
    held_out : pair, optional
        Inputs and labels that no fit sees.
    worth : float or "bic"
        What a candidate must gain, as in `StructureLearner`.
    linear : bool
        Whether models are linear ones, which start where the smaller one ended.
    """

    X: Any
    y: Any
    weights: Any
    held_out: tuple[Any, Any] | None
    worth: float | str
    linear: bool
    trials: list[Trial] = field(default_factory=list)

    def by_bound(self, model: Any, left: Sequence[CliqueType], number: int, count: int = 1) -> RoundResult:
        """Fit the candidates that can gain most, up to ``count`` together, the first alone if that fails.

        What cannot gain enough is dropped, and so is what was fitted in vain.
        """
        bounds = self._bounds(model, left, number)
        able = [c for c, bound in bounds.items() if bound + gap_of(model) >= self._price(model, [c])]
        for candidate, bound in bounds.items():
            if candidate not in able:
                self.trials.append(Trial(number, candidate.name, bound, None, None, False))
        able.sort(key=lambda c: -bounds[c])
        several = adding_up(model, able, count)
        for chosen in [several, able[:1]] if len(several) > 1 else [several] if able else []:
            attempt = self._fit(model, chosen, sum(bounds[c] for c in chosen))
            if attempt is not None:
                self._note(number, attempt, kept=attempt.pays)
                if attempt.pays:
                    return RoundResult(attempt, [c for c in able if c not in chosen])
        return RoundResult(None, able[1:])

    def by_gain(self, model: Any, left: Sequence[CliqueType], number: int) -> RoundResult:
        """Fit candidates until no other can gain more than the best of them, and keep that.

        The choice is that of fitting them all: bounds tell which need not be.
        """
        bounds = self._bounds(model, left, number)
        attempts: list[Attempt] = []
        best: Attempt | None = None
        for candidate in sorted(bounds, key=lambda c: -bounds[c]):
            most = bounds[candidate] + gap_of(model) - self._price(model, [candidate])
            attempt = None
            if most >= (0.0 if best is None else best.net):
                attempt = self._fit(model, [candidate], bounds[candidate])
            if attempt is None:
                self.trials.append(Trial(number, candidate.name, bounds[candidate], None, None, False))
                continue
            attempts.append(attempt)
            if attempt.pays and (best is None or attempt.net > best.net):
                best = attempt
        for attempt in attempts:
            self._note(number, attempt, kept=attempt is best)
        self.trials.sort(key=lambda t: (t.round, t.gain is None))  # what was fitted comes first
        return RoundResult(best, [c for c in bounds if best is None or c is not best.candidate])

    def _bounds(self, model: Any, left: Sequence[CliqueType], number: int) -> dict[CliqueType, float]:
        """Return what candidates can gain; those with too large a graph are noted and left out."""
        found = gain_bounds(model, left, self.X, self.y, sample_weight=self.weights)
        bounds = dict(zip(left, found, strict=True))
        self.trials += [Trial(number, c.name, None, None, None, False) for c in left if bounds[c] is None]
        return {candidate: bound for candidate, bound in bounds.items() if bound is not None}

    def _price(self, model: Any, candidates: Sequence[CliqueType]) -> float:
        """Return what candidates must gain together."""
        if self.worth != "bic":
            return len(candidates) * float(self.worth) * value_of(model)
        structure, n_labels = model.structure_, len(model.classes_)
        numbers = sum(candidate.freedom(structure, n_labels) for candidate in candidates)
        return 0.5 * numbers * float(np.log(model.provenance_.sequences))

    def _fit(self, model: Any, chosen: Sequence[CliqueType], bound: float) -> Attempt | None:
        """Fit the extended model; None if several candidates together make too large a graph."""
        candidate = chosen[0] if len(chosen) == 1 else Together(tuple(chosen))
        try:
            tried = self._extended(model, candidate)
        except TableSizeError:
            return None
        gain, rise = value_of(model) - value_of(tried), None
        if self.held_out is not None:
            after, before = (one.sequence_log_proba(*self.held_out) for one in (tried, model))
            rise = float(np.sum(after - before))
        return Attempt(candidate, tried, bound, gain, rise, self._price(model, chosen))

    def _extended(self, model: Any, candidate: CliqueType) -> Any:
        """Return the model with one clique type more, fitted."""
        unfitted = extension(model, candidate)
        if not self.linear:
            return unfitted.fit(self.X, self.y, sample_weight=self.weights)
        started = copy.copy(model).set_params(**{**unfitted.get_params(deep=False), "warm_start": True})
        started.fit(self.X, self.y, sample_weight=self.weights)
        return started.set_params(warm_start=model.warm_start)

    def _note(self, number: int, attempt: Attempt, *, kept: bool) -> None:
        self.trials.append(
            Trial(number, attempt.candidate.name, attempt.bound, attempt.gain, attempt.held_out, kept)
        )


def value_of(model: Any) -> float:
    """Return R of a fitted model."""
    return float(model.certificate_.value)


def gap_of(model: Any) -> float:
    """Return how far R can be from its optimum."""
    return float(model.certificate_.gap)
