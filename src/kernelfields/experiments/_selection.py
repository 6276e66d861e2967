"""Nested cross-validation: the penalty is chosen on inner folds, the error measured on outer ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from ..metrics import token_error
from ..structures._base import Array
from ._base import Report
from ._folds import Fold, folds_of, pick

Make = Callable[[float, float], Any]
"""From a penalty and a tolerance to an estimator."""


class Tested(NamedTuple):
    """A model of one fold, fitted with the penalty chosen for it."""

    model: Any
    penalty: float
    error: float
    """Share of wrong labels on the test part."""
    seconds: float
    """Of the fit, the choice of the penalty not included."""
    test: Array
    """Numbers of the sequences of the test part."""


@dataclass(frozen=True)
class Nested:
    """Settings of a nested cross-validation of sequences X with labels y."""

    y: Sequence[Any]
    penalties: Sequence[float]
    """To choose from."""
    n_folds: int
    n_inner: int
    """Inner folds; the training part of an outer fold is split into them."""
    tol: float
    inner_tol: float
    """Tolerance while a penalty is being chosen: a choice needs less."""
    seed: int

    @property
    def folds(self) -> list[Fold]:
        """The outer folds, the same for all models."""
        return folds_of(len(self.y), self.n_folds, self.seed)

    def choose(self, make: Make, X: Sequence[Any], fold: Fold) -> float:
        """Give the penalty with the fewest wrong labels over all inner folds."""
        if len(self.penalties) == 1:
            return self.penalties[0]
        inner = folds_of(fold.train, self.n_inner, self.seed)

        def error(penalty: float) -> float:
            return sum(self._error(make(penalty, self.inner_tol), X, part) * len(part.test) for part in inner)

        return min(self.penalties, key=error)

    def test(self, make: Make, X: Sequence[Any], fold: Fold, penalty: float) -> Tested:
        """Fit on the training part of a fold and test on the rest."""
        model = make(penalty, self.tol)
        started = perf_counter()
        model.fit(pick(X, fold.train), pick(self.y, fold.train))
        seconds = perf_counter() - started
        guesses = model.predict(pick(X, fold.test))
        error = token_error(pick(self.y, fold.test), guesses)
        return Tested(model, penalty, error, seconds, fold.test)

    def run(
        self,
        name: str,
        make: Make,
        X: Sequence[Any],
        report: Report,
        penalties: Sequence[float] | None = None,
    ) -> list[Tested]:
        """Test a model on all folds, with the penalties given, one per fold, or chosen for each."""
        results = []
        for number, fold in enumerate(self.folds):
            report(f"{name}, fold {number + 1} of {self.n_folds}")
            penalty = self.choose(make, X, fold) if penalties is None else penalties[number]
            results.append(self.test(make, X, fold, penalty))
        return results

    def _error(self, model: Any, X: Sequence[Any], fold: Fold) -> float:
        model.fit(pick(X, fold.train), pick(self.y, fold.train))
        return token_error(pick(self.y, fold.test), model.predict(pick(X, fold.test)))
