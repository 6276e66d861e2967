"""Nested cross-validation: the penalty is chosen on inner folds, the error measured on outer ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

from ...arrays import Array
from ...metrics import token_error
from ...objective import Certificate
from .experiment import Report
from .folds import Fold, folds_of, pick

Make = Callable[[float, float], Any]
"""From a penalty and a tolerance to an estimator."""


Show = Callable[[Any, int], None]
"""Sees a fitted model and the number of its training positions."""


class FoldResult(NamedTuple):
    """The results of a model on one fold, without the model itself, which may hold a large matrix."""

    penalty: float
    """As chosen for this fold."""
    error: float
    """Share of wrong labels on the test part."""
    certificate: Certificate
    seconds: float
    """Time of the fit, without that of the choice of the penalty."""
    labels: list[Any]
    """Of the sequences of the test part."""
    marginals: list[Array]
    """p(y_t|x) there."""
    classes: Array


@dataclass(frozen=True)
class NestedValidation:
    """A nested cross-validation over labelled sequences."""

    y: Sequence[Any]
    """Labels of all sequences."""
    n_folds: int
    n_inner: int
    """Inner folds; the training part of an outer fold is split into them."""
    tol: float
    inner_tol: float
    """Tolerance while a penalty is being chosen: a choice needs less."""
    seed: int

    def run(
        self,
        name: str,
        make: Make,
        X: Sequence[Any],
        penalties: Sequence[Sequence[float]],
        report: Report,
        show: Show = lambda model, n_positions: None,
    ) -> list[FoldResult]:
        """Test a model on all folds, with a penalty chosen from those given for each fold.

        ``show`` sees every model that is tested, before it is dropped.
        """
        results = []
        folds = folds_of(len(self.y), self.n_folds, self.seed)
        for number, (fold, choices) in enumerate(zip(folds, penalties, strict=True)):
            report(f"{name}, fold {number + 1} of {self.n_folds}")
            results.append(self._test(make, X, fold, self.choose(make, X, fold, choices), show))
        return results

    def choose(self, make: Make, X: Sequence[Any], fold: Fold, choices: Sequence[float]) -> float:
        """Return the penalty with the fewest wrong labels over all inner folds; of equals, the largest."""
        if len(choices) == 1:
            return choices[0]
        inner = folds_of(fold.train, self.n_inner, self.seed)

        def wrong(penalty: float) -> float:
            """Return the number of wrong labels."""
            return sum(self._wrong(make(penalty, self.inner_tol), X, part) for part in inner)

        return min(sorted(choices, reverse=True), key=wrong)

    def _wrong(self, model: Any, X: Sequence[Any], fold: Fold) -> float:
        model.fit(pick(X, fold.train), pick(self.y, fold.train))
        labels = pick(self.y, fold.test)
        share = token_error(labels, model.predict(pick(X, fold.test)))
        return round(share * sum(map(len, labels)))

    def _test(self, make: Make, X: Sequence[Any], fold: Fold, penalty: float, show: Show) -> FoldResult:
        model = make(penalty, self.tol)
        started = perf_counter()
        model.fit(pick(X, fold.train), pick(self.y, fold.train))
        seconds = perf_counter() - started
        show(model, sum(len(self.y[i]) for i in fold.train))
        held_out, labels = pick(X, fold.test), pick(self.y, fold.test)
        return FoldResult(
            penalty,
            token_error(labels, model.predict(held_out)),
            model.certificate_,
            seconds,
            labels,
            model.predict_marginals(held_out),
            model.classes_,
        )
