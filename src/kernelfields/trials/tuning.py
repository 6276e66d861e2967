"""Settings by held-out data, within a time budget."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from ..approximation import Approximation, Nystroem
from ..checks import require_flag, require_whole
from ..fitting.copies import silent_copy
from ..models.kernel_settings import read_basis
from .bounded import End, fit_within
from .clock import BudgetClock, budget_seconds, duration
from .grid import PENALTY, chosen_words, combinations, edge_notes, label_of, usual_grid
from .notes import notes_of
from .preparing import inner, prefix_of, prepared
from .racing import Race, RaceAttempt, RaceProgress, RaceResult, halved
from .splits import Split, TrialSequences
from .text_tables import TUNING, text_table, tuning_rows

BUDGET = "2m"
RANK, LARGE = 300, 4
"""Landmarks of kernels in searches, where there are more than so many times as many positions."""
LEAST_LOG = -1e6
"""Of a sequence that a model holds to be impossible: a finite number, so that one does not decide all."""


class TriedSettings(NamedTuple):
    """Settings, and what held-out data say of them."""

    settings: dict[str, Any]
    mean: float
    """Held-out log-likelihood per position, or minus the share of wrong labels; more is better."""
    folds: int
    """In how many of them they took part; 0 if a scouting round sorted them out."""
    seconds: float
    """Of all their fits."""
    chosen_mean: float = float("nan")
    """What the chosen settings have on the same folds: means over other folds cannot be compared."""

    @property
    def label(self) -> str:
        """The settings in words."""
        return label_of(self.settings)


class Tuning(NamedTuple):
    """What a search for settings found."""

    model: Any
    """Fitted to all training sequences with the best settings; without ``refit`` not fitted."""
    settings: dict[str, Any]
    tried: list[TriedSettings]
    """All of them, best first."""
    criterion: str
    """What `mean` is."""
    notes: list[str]
    """What there is to say of fits that warned, or of a search that was cut short."""
    interrupted: bool
    """By Ctrl-C."""

    @property
    def sentence(self) -> str:
        """The choice in words."""
        best = self.tried[0]
        by = (
            f"{best.folds} folds" if best.folds > 1 else "held-out data" if best.folds else "a scouting round"
        )
        return f"Chosen: {chosen_words(self.settings)}: {best.mean:.4f} {self.criterion}, by {by}."

    def __repr__(self) -> str:
        most = self.tried[0].folds
        return "\n".join([text_table(TUNING, tuning_rows(self.tried, most)), self.sentence, *self.notes])

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        # By name: what is drawn for notebooks is a layer above this one, loaded when it is asked for.
        return str(import_module("kernelfields.report.result_cards").tuning_card(self))


def tune(
    model: Any,
    X: Any,
    y: Any,
    *,
    X_dev: Any = None,
    y_dev: Any = None,
    groups: Any = None,
    settings: Mapping[str, Sequence[Any]] | None = None,
    folds: int = 5,
    budget: float | str = BUDGET,
    refit: bool = True,
    n_jobs: int = 1,
    random_state: int = 0,
    callback: Callable[[str], Any] | None = None,
) -> Tuning:
    """Choose settings by data that were not trained on, within a time budget: ``kf train --tune``.

    Settings are compared by the log-likelihood of held-out labels; models without probabilities by their
    errors. On larger data, a scouting round on a quarter of the training sequences comes first. After
    it and after every fold the worse half is sorted out, so that most of the time goes to the best. Fits
    that take more than their share of the time count as far as they came. Kernels on many positions have
    landmarks during the search (see `Nystroem`), but not in the last fit. Ctrl-C, or the end of the budget,
    ends the search with the best so far.

    Parameters
    ----------
    model : estimator
        With the settings to start from; a `SequencePipeline`, too. Its ``verbose=1`` shows a line for every
        candidate once it was tried for the first time; 2 also shows every fit.
    X, y : list of sequences and list of label sequences
        The training set; labels may be None (not observed).
    X_dev, y_dev : optional
        Held-out sequences to choose by, instead of folds.
    groups : (S,) array, optional
        Groups of sequences that stay together in folds: those of one person, say.
    settings : dict, optional
        From names, as in `set_params`, to lists of values. By default six values of ``penalty`` and, for
        Gaussian kernels, three widths.
    folds : int
        Number of folds.
    budget : float or str
        Time for the search: seconds, or "30s", "2m", "1h". The last fit, to all sequences, comes on top.
    refit : bool
        Whether the model is fitted with what was found.
    n_jobs : int
        Fits at a time, each in a process.
    random_state : int
        Of the folds.
    callback : callable, optional
        Is given a line about the best so far, after every fit.

    Examples
    --------
    >>> from kernelfields import CRF, tune
    >>> X = [[[0.0], [1.0], [2.0]], [[1.0], [0.0]]] * 5
    >>> y = [["A", "B", "B"], ["B", "A"]] * 5
    >>> found = tune(CRF(), X, y, budget="10s")
    >>> found.settings
    {'penalty': 0.03}
    >>> found.model.predict([[[1.0], [0.0]]])
    [['B', 'A']]
    """
    require_flag("refit", refit)
    clock = BudgetClock(budget_seconds(budget))
    data = TrialSequences.of(X, y, X_dev, y_dev)
    grid = usual_grid(model) if settings is None else settings
    search = _SettingsSearch(model, combinations(model, grid), data, require_whole("n_jobs", n_jobs))
    splits = data.splits(folds, groups, random_state)
    search.splits = data.scouted(splits, random_state) if len(search.choices) > 2 else splits
    scouting = len(search.splits) > len(splits)

    def look(progress: RaceProgress) -> None:
        if callback is not None:
            callback(search.line(progress, scouting))
        if search.verbose and progress.round == 1:  # later rounds try the same again
            n = progress.contestant
            print(f"{label_of(search.choices[n])}: {race.mean(n, 1):.4f}", file=sys.stderr, flush=True)

    race = Race(range(len(search.choices)), len(search.splits), scouting, clock, halved, look)
    result = race.run(search.attempts)
    tried = search.table(race, result, scouting)
    best = tried[0].settings
    chosen = silent_copy(model, **best)
    if refit:
        chosen.fit(data.X[: data.n_training], data.y[: data.n_training])
    notes = [*_cut_short(result, clock, len(search.choices), len(splits), scouting), *notes_of(result.fits)]
    notes += edge_notes(best, grid) if result.complete else []  # else not all were tried
    return Tuning(chosen, best, tried, criterion_of(model), notes, result.interrupted)


def criterion_of(model: Any) -> str:
    """Say what settings are chosen by."""
    likely = getattr(model, "probabilistic", True)
    return "held-out log-likelihood per position" if likely else "minus the share of wrong held-out labels"


def _cut_short(result: RaceResult, clock: BudgetClock, every: int, folds: int, scouting: bool) -> list[str]:
    """Say by what settings were chosen if a search was not complete."""
    if not (result.interrupted or result.out_of_time):
        return []
    why = "Interrupted" if result.interrupted else f"The budget of {duration(clock.seconds)} is spent"
    complete, tried = result.complete - scouting, len(result.attempts[0])
    if complete > 0:
        return [f"{why}: settings are chosen by {complete} of {folds} folds."]
    return [f"{why}: settings are the best of {tried} in {every}, on part of the data."]


class _SettingsSearch:
    """Fits for a race among settings."""

    def __init__(self, model: Any, choices: list[dict[str, Any]], data: TrialSequences, jobs: int) -> None:
        self.model, self.choices, self.data, self.jobs = model, choices, data, jobs
        self.splits: list[Split] = []
        self.penalty = f"{prefix_of(model)}{PENALTY}"
        self.verbose = int(getattr(inner(model), "verbose", 0))

    def line(self, progress: RaceProgress, scouting: bool) -> str:
        """Return where the search is, in one line."""
        number = progress.round - scouting
        where = f"fold {number} of {progress.rounds - scouting}" if number else "scouting"
        best = label_of(self.choices[progress.best])
        return (
            f"{progress.left:.0f} s left   {where}: {progress.done} of {progress.planned} settings   "
            f"best so far {best} ({progress.mean:.4f})"
        )

    def table(self, race: Race, result: RaceResult, scouting: bool) -> list[TriedSettings]:
        """Return what complete rounds say of all settings, best first."""
        found = []
        for n in result.order:
            rounds = min(len(result.rounds_of(n)), max(result.complete, 1))
            if rounds:
                seconds = sum(one.seconds for one in result.rounds_of(n))
                row = (race.mean(n, rounds), rounds - scouting, seconds, race.mean(result.order[0], rounds))
                found.append(TriedSettings(self.choices[n], *row))
        return found

    def attempts(self, alive: list[int], number: int, seconds: Callable[[], float]) -> Iterator[RaceAttempt]:
        """Fit those who are left to one split: paths of penalties, each fit from where the last one ended."""
        paths = [self._path(path, number) for path in self._paths(alive)]
        if self.jobs == 1:
            for path in paths:
                yield from path.walk(seconds)
            return
        from joblib import Parallel, delayed

        limit = seconds() * self.jobs
        for found in Parallel(n_jobs=min(self.jobs, len(paths)), return_as="generator")(
            delayed(path.walked)(limit) for path in paths
        ):
            yield from found

    def _paths(self, alive: list[int]) -> list[list[int]]:
        """Return settings that differ in the penalty only, side by side."""
        groups: dict[str, list[int]] = {}
        for n in alive:
            others = {name: value for name, value in self.choices[n].items() if name != self.penalty}
            groups.setdefault(repr(others), []).append(n)
        return list(groups.values())

    def _path(self, members: list[int], number: int) -> SettingsPath:
        split = self.splits[number]
        shown = {f"{prefix_of(self.model)}verbose": 1} if self.verbose > 1 else {}
        model = silent_copy(self.model, **shown, **self.choices[members[0]])
        X, y = self.data.training(split)
        search_in_subspace(inner(model), sum(map(len, y)))
        values = [(n, self.choices[n].get(self.penalty)) for n in members]
        return SettingsPath(model, values, X, y, *self.data.test(split))


def search_in_subspace(model: Any, positions: int) -> bool:
    """Let a model with an expansion over all positions have landmarks; return whether it has them now."""
    known = model.get_params(deep=False)
    dense = known.get("kernel") is not None and known.get("basis", "") is None
    if not dense or positions <= LARGE * RANK:
        return False
    model.set_params(basis=Nystroem(RANK))
    return True


class SettingsPath(NamedTuple):
    """A model that is fitted with one penalty after the other."""

    model: Any
    values: list[tuple[int, Any]]
    """Numbers of settings, and their penalties, None for that of the model."""
    X: list[Any]
    y: list[Any]
    X_test: list[Any]
    y_test: list[Any]

    def walk(self, seconds: Callable[[], float]) -> Iterator[RaceAttempt]:
        """Fit and test, one by one."""
        known = {label for labels in self.y for label in labels} | {None}
        kept = [n for n, labels in enumerate(self.y_test) if known.issuperset(labels)]
        truth = [self.y_test[n] for n in kept]
        model, train, test = prepared(self.model, self.X, self.y, [self.X_test[n] for n in kept])
        known = model.get_params(deep=False)
        if "warm_start" in known and not isinstance(read_basis(known.get("basis")), Approximation):
            model.set_params(warm_start=True)
        for contestant, penalty in self.values:
            if penalty is not None:
                model.set_params(penalty=penalty)
            done = fit_within(model, train, self.y, seconds())
            value, weight = held_out_value(model, test, truth)
            yield RaceAttempt(
                contestant, value, weight, done.seconds, done.end, done.warnings, done.unsettled
            )
            if done.end is End.INTERRUPTED:
                return

    def walked(self, limit: float) -> list[RaceAttempt]:
        """Return all attempts, each within the same time."""
        return list(self.walk(lambda: limit))


def held_out_value(model: Any, X: list[Any], y: list[Any]) -> tuple[float, float]:
    """Return the log-likelihood of held-out labels, or minus the wrong ones, and their number."""
    observed = sum(label is not None for labels in y for label in labels)
    if not observed:
        return 0.0, 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fits have warned already
        if getattr(inner(model), "probabilistic", True):
            logs = model.sequence_log_proba(X, y)
            return float(np.sum(np.maximum(logs, LEAST_LOG))), float(observed)
        return -float(sum(wrong_labels(model, X, y))), float(observed)


def wrong_labels(model: Any, X: list[Any], y: list[Any]) -> list[int]:
    """Return the number of wrong labels of every sequence."""
    return [
        sum(a != b for a, b in zip(one, truth, strict=True) if b is not None)
        for one, truth in zip(model.predict(X), y, strict=True)
    ]
