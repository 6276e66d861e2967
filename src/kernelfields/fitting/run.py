"""How a fit runs: on a copy that has learnt nothing, by a search that others may watch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

import numpy as np

from ..arrays import Array
from ..checks import shown
from ..distributed import SHARING, shared_out
from ..errors import InputError, warn_user
from ..objective import Problem, Term
from ..parameters import lacking
from ..persistence.savable import Savable
from ..routing import MetadataRequests
from ..solvers import Progress, Solver, Stop
from .minimiser import Found as Found
from .minimiser import ProblemMinimiser
from .minimiser import exact_certificate as exact_certificate
from .observers import Onlooker, ProgressLine
from .run_settings import Run

if TYPE_CHECKING:
    from .checkpoint import Checkpoint

Model = TypeVar("Model", bound=Savable)
Settings = ParamSpec("Settings")

Fit = Callable[Concatenate[Model, Settings], Model]
Observer = Callable[[Progress, Any], bool | None]
DEFAULTS = Run()


def starts_afresh(fit: Fit[Model, Settings]) -> Fit[Model, Settings]:
    """Let a fit see only settings, and let the model have what it learnt all at once, at the end.

    The fit runs on a copy that has learnt nothing. If it fails, the model stays as it was; if it succeeds,
    nothing is left of an earlier fit. A fit that goes on from an earlier one asks for it by `previous`.
    """

    @wraps(fit)
    def fitted(model: Model, /, *args: Settings.args, **settings: Settings.kwargs) -> Model:
        refuse_lacking(type(model), settings)
        _require_heeded(model)
        fresh = _unfitted(model)
        vars(fresh)["_previous"] = model
        sharing = SHARING.get()
        before = 0 if sharing is None else len(sharing.pools)
        fit(fresh, *args, **settings)
        if sharing is not None and len(sharing.pools) == before:
            warn_user(f"{type(model).__name__} is not learnt on shards; it was fitted here.", UserWarning)
        _become(model, fresh)
        return model

    return fitted


def _unfitted(model: Model) -> Model:
    """Return a copy that has the settings and nothing else."""
    result = object.__new__(type(model))
    vars(result).update({name: value for name, value in vars(model).items() if name not in model._fit_sets})
    return result


def _become(model: Model, other: Model) -> None:
    """Let a model take over all that another has learnt, and forget the rest."""
    learnt = model._fit_sets
    new = {name: value for name, value in vars(other).items() if name in learnt and name != "_previous"}
    vars(model).update(new)  # first: another thread may be predicting
    for name in (learnt & vars(model).keys()) - new.keys():
        del vars(model)[name]


def refuse_lacking(kind: type, given: Iterable[str]) -> None:
    """Refuse options that other estimators have and this one has not, with its reason (``_lacks``)."""
    lacks: Mapping[str, str] = getattr(kind, "_lacks", {})
    for name in given:
        if name in lacks:
            raise InputError(f"{kind.__name__} has no {name}: {lacks[name]}.")


def heeds(model: Any, name: str) -> bool:
    """Whether fits of a model heed a setting of ``run``."""
    return isinstance(model, Savable) and name in model._heeds


def _require_heeded(model: Savable) -> None:
    """Refuse settings of ``run`` that fits of this model do not heed."""
    run = vars(model).get("run", DEFAULTS)
    if not isinstance(run, Run):
        raise InputError(f"run is {shown(run)}; it must be a Run.")
    for field in fields(run):
        if getattr(run, field.name) != field.default and not heeds(model, field.name):
            reason = getattr(model, "_lacks", {}).get(field.name, "leave it out of run")
            raise InputError(f"{type(model).__name__} does not heed {field.name}: {reason}.")


def precision_of(run: Run, otherwise: str = "float32") -> Any:
    """Return the precision that a fit was asked for, or that of its estimator."""
    return otherwise if run.dtype is None else run.dtype


def previous(model: Model) -> Model | None:
    """Return the fitted model that a running fit is about to replace; None if there is none."""
    before: Model | None = vars(model).get("_previous")
    return before if before is not None and hasattr(before, "classes_") else None


def search(
    problem: Problem,
    start: Array,
    solver: Solver,
    stop: Stop,
    observer: Observer | None,
    exact: Callable[[], Problem],
) -> Found:
    """Search as the loss wants it, on shards if fits are shared out here."""
    if SHARING.get() is not None:
        if not problem.loss.shareable:
            name = type(problem.loss).__name__
            raise InputError(f"{name} is not learnt on shards: fit outside of distributed.use.")
        problem = shared_out(problem)
        exact = problem.exact
    return problem.loss.search(ProblemMinimiser(problem, solver, stop, observer, exact), start)


def watched_search(
    problem: Problem,
    start: Array,
    solver: Solver,
    stop: Stop,
    observer: Observer | None,
    exact: Callable[[], Problem],
    checkpoint: Checkpoint | None,
    verbose: int,
) -> Found:
    """Search with a line of progress if a user wants it, and with the state of the search in a file."""
    with ProgressLine() if verbose else nullcontext() as line:
        found = search(problem, start, solver, stop, present(observer, line, checkpoint), exact)
    if checkpoint is not None:
        checkpoint.settle(found.point.element, found.reason.final)
    return found


def mismatches(problem: Problem, mismatch: Array) -> dict[str, float]:
    """‖E[Φ] − observed Φ‖ for every part of a model, in the dual of the norm that its penalty has.

    Sums are over all instances, as those of the loss are: divided by their number, this is the ε that the
    penalty stands for [altun2006, Theorem 1].
    """
    return {term.name: _mismatch(term, mismatch[problem.slices[term.name]]) for term in problem.terms}


def _mismatch(term: Term, part: Array) -> float:
    if term.norm is not None:
        return term.norm.dual(term.space, part) * term.metric
    return float(np.sqrt(max(term.space.inner(part, part), 0.0))) * term.metric


def observers(*given: Observer | None) -> Observer:
    """Return one observer that asks all; the search ends when one of them wants it to."""

    def observe(progress: Progress, point: Any) -> bool:
        answers = [observer(progress, point) for observer in given if observer is not None]
        return any(answers)  # after all of them have looked

    return observe


@contextmanager
def open_observer(
    settings: Any, draft: Callable[[Any], Any] | None = None, *others: Observer | None
) -> Iterator[Observer]:
    """Let a fit with these settings be watched: by a callback, by others, with ``verbose`` by a line."""
    with ProgressLine() if settings.verbose else nullcontext() as line:
        yield observers(reporter(settings.run.callback, draft), *others, line)


def present(*given: Observer | None) -> Observer | None:
    """Return one observer that asks all, None if nobody looks: some searches need not show every step."""
    return None if all(observer is None for observer in given) else observers(*given)


def reporter(
    callback: Callable[[Progress], None] | None, draft: Callable[[Any], Any] | None = None
) -> Observer | None:
    """Hand progress to a user's callback; an onlooker may ask for the model at the present point."""
    if callback is None:
        return None

    def report(progress: Progress, point: Any) -> None:
        if draft is not None and isinstance(callback, Onlooker):
            callback.look(progress, lambda: draft(point))
        else:
            callback(progress)

    return report


class Routed(MetadataRequests):
    """An estimator that takes part in metadata routing, and refuses options that it lacks."""

    _lacks: ClassVar[Mapping[str, str]] = {}
    """Options that most estimators have and this one has not: settings and arguments of `fit`, and why."""

    def __new__(cls, *_: Any, **settings: Any) -> Self:
        """Refuse settings that it lacks in a sentence of its own, before Python does."""
        refuse_lacking(cls, settings)
        known = [*inspect.signature(cls.__init__).parameters][1:]
        for name in settings:
            if name not in known:
                raise lacking(cls, name, known)
        return super().__new__(cls)
