"""Races among models: each is fitted to one split of the data after the other."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..fitting.copies import silent_copy
from .bounded import End, fit_within
from .clock import BudgetClock, duration
from .racing import Keep, Race, RaceAttempt, RaceProgress, RaceResult
from .splits import Split, TrialSequences
from .tuning import wrong_labels


class ComparedModel(NamedTuple):
    """What folds say of one model."""

    token_error: float
    """Share of held-out positions that are labelled wrong."""
    standard_error: float
    """Of it, over sequences."""
    above_best: float
    """Difference from the best model, on the sequences that both labelled."""
    p_value: float
    """Of a paired t-test, sequence by sequence, against the best."""
    seconds: float
    """Of a fit, in the mean."""
    folds: int
    note: str


class Contestant(NamedTuple):
    """A model, and all sequences as it takes them."""

    name: str
    model: Any
    X: list[Any]


class _TrialDetail(NamedTuple):
    """What is kept of an attempt."""

    model: Any
    wrong: list[int]
    """Of every test sequence."""
    refused: str | None


class ModelRace:
    """Models that race on splits of the data."""

    def __init__(
        self,
        contestants: list[Contestant],
        data: TrialSequences,
        splits: Sequence[Split],
        jobs: int,
        callback: Callable[[str], Any] | None,
    ) -> None:
        self.contestants, self.data, self.splits, self.jobs = contestants, data, splits, jobs
        self.callback = callback
        self.refused: dict[int, str] = {}
        self.scouting = False

    def run(self, clock: BudgetClock, keep: Keep, *, scouting: bool) -> RaceResult:
        """Run the race; models that refuse the data are sorted out."""
        self.scouting = scouting

        def remaining(ranked: list[int], *rest: Any) -> list[int]:
            return keep([n for n in ranked if n not in self.refused], *rest)

        names = range(len(self.contestants))
        return Race(names, len(self.splits), scouting, clock, remaining, self._look).run(self._attempts)

    def _look(self, progress: RaceProgress) -> None:
        if self.callback is None or progress.best in self.refused:
            return
        number = progress.round - self.scouting
        rounds = len(self.splits) - self.scouting
        where = "scouting" if number == 0 else f"fold {number} of {rounds}" if rounds > 1 else "held-out data"
        best = f"{self.contestants[progress.best].name} ({-progress.mean:.2%} wrong)"
        now = self.contestants[progress.contestant].name
        self.callback(
            f"{progress.left:.0f} s left   {where}: {now} done, {progress.done} of {progress.planned} "
            f"models   best so far {best}"
        )

    def _attempts(self, alive: list[int], number: int, seconds: Callable[[], float]) -> Iterator[RaceAttempt]:
        tasks = [(n, self.contestants[n], self.data, self.splits[number]) for n in alive]
        if self.jobs == 1:
            for task in tasks:
                yield self._noted(attempt(*task, seconds()))
            return
        from joblib import Parallel, delayed

        limit = seconds() * self.jobs
        found = Parallel(n_jobs=min(self.jobs, len(tasks)), return_as="generator")(
            delayed(attempt)(*task, limit) for task in tasks
        )
        yield from map(self._noted, found)

    def _noted(self, one: RaceAttempt) -> RaceAttempt:
        if one.detail.refused is not None:
            self.refused[one.contestant] = one.detail.refused
        return one

    def refused_names(self) -> dict[str, str]:
        """Return why models did not take the data."""
        return {self.contestants[n].name: reason for n, reason in self.refused.items()}

    def rows(self, result: RaceResult) -> dict[str, ComparedModel]:
        """Return the scores of all models; differences from the best are tested sequence by sequence."""
        rounds = result.attempts[: max(result.complete, 1)]
        found = {n: self._wrong(n, rounds) for n in range(len(self.contestants)) if n not in self.refused}
        found = {n: wrong for n, wrong in found.items() if not np.isnan(wrong).all()}
        observed = np.array([sum(label is not None for label in labels) for labels in self.data.y])
        best = min(found, key=lambda n: (-_count(found[n]), np.nansum(found[n])), default=None)
        return {
            self.contestants[n].name: self._row(n, wrong, found[best], observed, result)  # type: ignore[index]
            for n, wrong in found.items()
        }

    def _wrong(self, n: int, rounds: list[dict[int, RaceAttempt]]) -> Array:
        """Return wrong labels of every sequence, NaN where a model was not tried."""
        wrong = np.full(len(self.data.y), np.nan)
        for split, each in zip(self.splits, rounds, strict=False):
            if n in each:
                wrong[split.test] = each[n].detail.wrong
        return wrong

    def _row(self, n: int, wrong: Array, best: Array, observed: Array, result: RaceResult) -> ComparedModel:
        both = ~np.isnan(wrong) & ~np.isnan(best)
        there = ~np.isnan(wrong)
        rate, spread = _rate(wrong[there], observed[there])
        above = float((wrong[both] - best[both]).sum() / max(observed[both].sum(), 1))
        attempts = result.rounds_of(n)
        slow = sum(one.end is End.OUT_OF_TIME for one in attempts)
        rounds = sum(n in each for each in result.attempts[: max(result.complete, 1)])
        parts = [f"left out after {rounds} of {len(self.splits)} folds"] if rounds < result.complete else []
        parts += [f"{slow} of {len(attempts)} fits out of time"] if slow else []
        seconds = sum(one.seconds for one in attempts) / len(attempts)
        p_value = _paired(wrong[both], best[both])
        return ComparedModel(rate, spread, above, p_value, seconds, rounds, "; ".join(parts))

    def last_rows(self, result: RaceResult, tried: list[int]) -> dict[str, ComparedModel]:
        """Return the scores of the last attempt of every model."""
        rows = {}
        for n in tried:
            rounds = [number for number, each in enumerate(result.attempts) if n in each]
            last = result.attempts[rounds[-1]][n]
            observed = [sum(v is not None for v in self.data.y[i]) for i in self.splits[rounds[-1]].test]
            rate, spread = _rate(np.array(last.detail.wrong, dtype=float), np.array(observed))
            slow = f"stopped after {last.seconds:.0f} s" if last.end is End.OUT_OF_TIME else ""
            scouted = "on a quarter of the data" if self.scouting and rounds == [0] else ""
            note = "; ".join(filter(None, [scouted, slow, *last.warnings[:1]]))
            rows[self.contestants[n].name] = ComparedModel(rate, spread, 0.0, 1.0, last.seconds, 1, note)
        return rows

    def cut_short(self, result: RaceResult, clock: BudgetClock) -> list[str]:
        """Say that not all was done, and why."""
        if result.interrupted:
            return []
        if result.out_of_time:
            return [f"The budget of {duration(clock.seconds)} is spent: --budget takes a longer time."]
        return []


def attempt(
    n: int, contestant: Contestant, data: TrialSequences, split: Split, seconds: float
) -> RaceAttempt:
    """Fit one model and test it."""
    own = data._replace(X=contestant.X)
    (X, y), (X_test, y_test) = own.training(split), own.test(split)
    observed = sum(label is not None for labels in y_test for label in labels)
    model = silent_copy(contestant.model)
    try:
        done = fit_within(model, X, y, seconds)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wrong = wrong_labels(model, X_test, y_test)
    except InputError as error:  # data that one model refuses may suit another
        detail = _TrialDetail(None, [observed], str(error))
        return RaceAttempt(n, -float("inf"), 1.0, 0.0, End.DONE, [], False, detail)
    detail = _TrialDetail(model, wrong, None)
    return RaceAttempt(
        n, -float(sum(wrong)), float(observed), done.seconds, done.end, done.warnings, done.unsettled, detail
    )


def _count(wrong: Array) -> int:
    return int((~np.isnan(wrong)).sum())


def _rate(wrong: Array, observed: Array) -> tuple[float, float]:
    """Return the error per position, and its standard error over sequences."""
    total = max(float(observed.sum()), 1.0)
    rate = float(wrong.sum()) / total
    if len(wrong) < 2:
        return rate, float("nan")
    return rate, float(np.sqrt(len(wrong) * np.var(wrong - rate * observed, ddof=1)) / total)


def within_chance(wrong: list[int], best: list[int]) -> bool:
    """Return whether the wrong labels that a model has more are at most their number's standard error."""
    more = np.subtract(wrong, best)
    total = more.sum()
    # total² ≤ n·var(more, ddof=1), multiplied out: exact where one sequence makes the difference.
    return len(more) > 1 and bool(total <= 0 or total**2 <= (more**2).sum())


def _paired(wrong: Array, best: Array) -> float:
    from scipy.stats import ttest_rel

    if len(wrong) < 2 or bool((wrong == best).all()):
        return 1.0
    return float(ttest_rel(wrong, best).pvalue)
