"""Models on the same folds, within a time budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, NamedTuple

from ..checks import require_whole, shown
from ..errors import InputError
from ..models.scaling import has_probabilities
from .clock import BudgetClock, budget_seconds
from .model_race import ComparedModel, Contestant, ModelRace, within_chance
from .notes import notes_of
from .preparing import inner
from .racing import RaceResult, affordable, halved
from .splits import Split, TrialSequences
from .text_tables import COMPARISON, comparison_rows, text_table

COMPARISON_BUDGET = "10m"


class Comparison(NamedTuple):
    """Models beside each other, best first; those that took part in fewer folds come last."""

    models: dict[str, ComparedModel]
    refused: dict[str, str]
    """Models that did not take these data, and why."""
    notes: list[str]
    interrupted: bool
    """By Ctrl-C."""

    def __repr__(self) -> str:
        left_out = [f"{name} was left out: {reason}" for name, reason in self.refused.items()]
        table = text_table(COMPARISON, comparison_rows(self.models))
        return "\n".join([table, *left_out, *self.notes])

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        # By name: what is drawn for notebooks is a layer above this one, loaded when it is asked for.
        return str(import_module("kernelfields.report.result_cards").comparison_card(self))


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    folds: int = 5,
    budget: float | str = COMPARISON_BUDGET,
    n_jobs: int = 1,
    random_state: int = 0,
    callback: Callable[[str], Any] | None = None,
) -> Comparison:
    """Compare models on the same folds, within a time budget: ``kf compare``.

    All models are fitted to the first fold, then to the second, and so on. Where the time is not
    going to suffice, the worst so far are left out first; fits that take more than their share of
    the time count as far as they came. Ctrl-C, or the end of the budget, compares by complete folds.

    Parameters
    ----------
    models : dict
        From names to estimators; copies of them are fitted.
    X, y : list of sequences and list of label sequences
        Labels may be None (not observed), and do not count then.
    groups : (S,) array, optional
        Groups of sequences that stay together in folds.
    folds : int
        Number of folds.
    budget : float or str
        Seconds, or "30s", "2m", "1h".
    n_jobs : int
        Fits at a time, each in a process.
    random_state : int
        Of the folds.
    callback : callable, optional
        Is given a line about the best so far, after every fit.

    Examples
    --------
    >>> from kernelfields import CRF, HMM, compare
    >>> X = [[[0.0], [1.0], [2.0]], [[1.0], [0.0]]] * 5
    >>> y = [["A", "B", "B"], ["B", "A"]] * 5
    >>> found = compare({"crf": CRF(penalty=0.1), "hmm": HMM("gaussian")}, X, y, folds=2, budget="20s")
    >>> sorted(found.models), found.models["crf"].token_error
    (['crf', 'hmm'], 0.0)
    """
    if not isinstance(models, Mapping) or not models:
        raise InputError(f"models is {shown(models)}; it must be a dict from names to estimators.")
    data = TrialSequences.of(X, y, None, None)
    return compared(
        [Contestant(name, model, data.X) for name, model in models.items()],
        data,
        data.splits(folds, groups, random_state),
        BudgetClock(budget_seconds(budget)),
        require_whole("n_jobs", n_jobs),
        callback,
    )


def compared(
    contestants: list[Contestant],
    data: TrialSequences,
    splits: list[Split],
    clock: BudgetClock,
    jobs: int,
    callback: Callable[[str], Any] | None = None,
) -> Comparison:
    """Compare models, each with inputs as it takes them, on given splits."""
    field = ModelRace(contestants, data, splits, jobs, callback)
    result = field.run(clock, affordable, scouting=False)
    names = [contestants[n].name for n in result.order if n not in field.refused and result.rounds_of(n)]
    if not names:
        reasons = " ".join(field.refused_names().values())
        raise InputError(f"None of these models takes these data. {reasons}".strip())
    rows = {name: row for name, row in field.rows(result).items() if name in names}
    notes = [*field.cut_short(result, clock), *notes_of(result.fits)]
    order = sorted(rows, key=lambda name: (-rows[name].folds, rows[name].token_error))
    if rows[order[-1]].folds < rows[order[0]].folds:
        notes.append("Errors in brackets are of fewer folds; those above the best are of the same folds.")
    return Comparison({n: rows[n] for n in order}, field.refused_names(), notes, result.interrupted)


class BestModel(NamedTuple):
    """The model that a race came out in favour of."""

    name: str
    fitted: Any
    """As it was tried."""
    instead_of: str | None
    """The one with the fewest errors, if that learns no probabilities and its lead may be chance."""
    rows: dict[str, ComparedModel]
    """All that were tried, on the last split that they took part in."""
    refused: dict[str, str]
    notes: list[str]
    interrupted: bool


def best_model(
    contestants: list[Contestant],
    data: TrialSequences,
    split: Split,
    clock: BudgetClock,
    jobs: int,
    seed: int,
    callback: Callable[[str], Any] | None = None,
) -> BestModel:
    """Return the best of some models on held-out data: after a scouting round, the better half on all.

    Where it learns no probabilities, one that does and is worse by chance at most is returned instead.
    """
    splits = data.scouted([split], seed) if len(contestants) > 2 else [split]
    field = ModelRace(contestants, data, splits, jobs, callback)
    result = field.run(clock, halved, scouting=len(splits) > 1)
    tried = [n for n in result.order if n not in field.refused and result.rounds_of(n)]
    if not tried:
        raise InputError("No model of the panel takes these data.")
    best, chosen = contestants[tried[0]].name, _choose(result, tried)
    fitted = result.rounds_of(chosen)[-1].detail.model
    notes = [*field.cut_short(result, clock), *notes_of(result.fits)]
    refused = field.refused_names()
    name, rows = contestants[chosen].name, field.last_rows(result, tried)
    instead_of = None if name == best else best
    return BestModel(name, fitted, instead_of, rows, refused, notes, result.interrupted)


def _choose(result: RaceResult, tried: list[int]) -> int:
    """Return the best, or the first with probabilities that chance may have put behind it."""
    best = tried[0]
    last = next(each for each in reversed(result.attempts) if best in each)
    details = {n: last[n].detail for n in tried if n in last}  # the best first
    likely = [n for n, detail in details.items() if has_probabilities(inner(detail.model))]
    near = (n for n in likely if within_chance(details[n].wrong, details[best].wrong))
    return next(near, best)
