"""How a fit runs: on a copy that has learnt nothing, by a search that others may watch.

What is found is certified in double, with a warning where the search fell short.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from functools import wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

import numpy as np

from ..arrays import Array
from ..data.training import warn_of, warn_of_unsettled
from ..distributed import SHARING, shared_out
from ..errors import InputError, warn_user
from ..losses import HiddenStateLog, Information, LogWithEntropy, PseudoLikelihood
from ..objective import Certificate, Dual, ExpectedParts, Problem, Term
from ..persistence.savable import Savable
from ..solvers import Progress, Reason, Result, Solver, Stop
from .checkpoint import Checkpoint
from .em import alternate
from .entropy import begin_with_labels
from .hidden import Search, learn_clusters, learn_states
from .observers import Onlooker, ProgressLine

Model = TypeVar("Model", bound=Savable)
Settings = ParamSpec("Settings")

Fit = Callable[Concatenate[Model, Settings], Model]
Observer = Callable[[Progress, Any], bool | None]

ROUNDS = 5
"""How often at most a search goes on because its arithmetic had promised too much."""


def starts_afresh(fit: Fit[Model, Settings]) -> Fit[Model, Settings]:
    """Let a fit see only settings, and let the model have what it learnt all at once, at the end.

    The fit runs on a copy that has learnt nothing. If it fails, the model stays as it was; if it succeeds,
    nothing is left of an earlier fit. A fit that goes on from an earlier one asks for it by `previous`.
    """

    @wraps(fit)
    def fitted(model: Model, /, *args: Settings.args, **settings: Settings.kwargs) -> Model:
        refuse_lacking(type(model), settings)
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


def previous(model: Model) -> Model | None:
    """Return the fitted model that a running fit is about to replace; None if there is none."""
    before: Model | None = vars(model).get("_previous")
    return before if before is not None and hasattr(before, "classes_") else None


class Found(NamedTuple):
    """Where a search ended."""

    point: Any
    """In double."""
    element: Array
    """In the precision in which it was found, and is kept."""
    iterations: int
    reason: Reason
    certificate: Certificate | None
    path: tuple[float, ...] = ()
    """The objective before every step of EM, and at the end; empty for other searches."""


def search(
    problem: Problem,
    start: Array,
    solver: Solver,
    stop: Stop,
    observer: Observer | None,
    exact: Callable[[], Problem],
) -> Found:
    """Minimise; where labels were not observed, in turn with beliefs about them, or from the others on."""

    def minimise(part: Problem, begin: Array, change: Callable[[Problem], Problem]) -> Found:
        return _minimise(part, begin, solver, stop, observer, lambda: change(exact()))

    loss = problem.loss
    if SHARING.get() is not None:
        return _search_on_shards(problem, start, solver, stop, observer)
    if isinstance(loss, PseudoLikelihood) and loss.unobserved is not None:
        return alternate(problem, start, loss.unobserved, minimise)
    if isinstance(loss, LogWithEntropy):
        return begin_with_labels(problem, start, loss, minimise)
    if isinstance(loss, HiddenStateLog):
        return learn_states(problem, start, loss, Search(solver, stop, observer, minimise))
    if isinstance(loss, Information):
        return learn_clusters(problem, start, loss, Search(solver, stop, observer, minimise))
    return _minimise(problem, start, solver, stop, observer, exact)


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


def _search_on_shards(
    problem: Problem, start: Array, solver: Solver, stop: Stop, observer: Observer | None
) -> Found:
    loss = problem.loss
    unobserved = isinstance(loss, PseudoLikelihood) and loss.unobserved is not None
    if unobserved or isinstance(loss, LogWithEntropy | HiddenStateLog | Information):
        raise InputError(f"{type(loss).__name__} is not learnt on shards: fit outside of distributed.use.")
    shared = shared_out(problem)
    return _minimise(shared, start, solver, stop, observer, shared.exact)


def _minimise(
    problem: Problem,
    start: Array,
    solver: Solver,
    stop: Stop,
    observer: Observer | None,
    exact: Callable[[], Problem],
) -> Found:
    """Minimise; ending with a larger gap than was asked for is a `ConvergenceWarning`.

    What is believed in the end is the certificate in double, of the element that is kept: images are sums
    of products and drift, bounds of single precision are guesses. Where that gap is too large, or single
    precision has come to its limit, the search goes on from there in double, in the problem that
    ``exact`` makes.
    """
    done, precise, target = 0, None, stop.gap

    def count_on(progress: Progress, point: Any) -> bool | None:
        assert observer is not None
        return observer(progress._replace(iteration=done + progress.iteration), point)

    for _ in range(ROUNDS):
        left = Stop(target, stop.gradient, max(stop.iterations - done, 0))
        result = solver.minimize(problem, start, left, None if observer is None else count_on)
        done += result.progress.iteration
        last, precise = problem is precise, precise or exact()
        point = precise.at(_in_double(precise, result))
        certificate = exact_certificate(point, result, stop.gap)
        reason = _verdict(result.reason, certificate, stop)
        if reason is not Reason.STUCK or (last and result.reason is not Reason.GAP):
            break
        target = 0.5 * target if last else stop.gap
        problem, start = precise, point.element
    if not reason.converged:
        warn_of(reason, result.progress, certificate)
    warn_of_unsettled(problem.structure, point.evaluation.unsettled)
    return Found(point, result.point.element, done, reason, certificate)


def _in_double(precise: Problem, result: Result) -> Array:
    """Return the element where a search ended, image and all, in double."""
    if isinstance(result.dual, ExpectedParts):
        return result.dual.element(precise)
    return precise.refreshed(result.point.element.astype(np.float64))


def _verdict(reason: Reason, certificate: Certificate | None, stop: Stop) -> Reason:
    """Return why a search ended, seen in double: STUCK where the gap is larger than was asked for."""
    if certificate is None or reason in (Reason.LIMIT, Reason.OBSERVER, Reason.INTERRUPTED):
        return reason
    return Reason.GAP if certificate.relative_gap <= stop.gap else Reason.STUCK


def exact_certificate(point: Any, result: Result, gap: float = 0.0) -> Certificate | None:
    """Return the value at a point in double with the best bound that a search to it has proved.

    That of the point itself; of a search in the dual that of the distributions behind it; of another search
    in double also that of the mixture of dual points, its image computed anew, or, where elements have no
    images, that of the best iteration. No loss is negative.

    A mixture of dual points in single precision proves nothing. Every point has a bound, though, and the
    same mixture of points one that is about as good: averages have a smaller gradient than the last point of
    a search. That one is evaluated in double where the last point leaves more than ``gap``.
    """
    certificate: Certificate | None = point.certificate
    if certificate is None:
        return None
    bounds, searched = [0.0, certificate.lower_bound], result.point.problem
    if isinstance(result.dual, ExpectedParts):
        bounds.append(result.dual.at(point).bound(point.problem))
    elif searched.certain is not None:
        if result.dual is not None:
            mismatch = point.problem.refreshed(result.dual.mismatch.astype(np.float64))
            bounds.append(Dual(result.dual.level, mismatch).bound(point.problem))
        elif searched.orthogonal:
            bounds.append(result.progress.lower_bound)
    elif certificate.relative_gap > gap and result.dual is not None and result.dual.element is not None:
        bounds.append(_bound_at(point.problem, result.dual.element))
    return certificate._replace(lower_bound=min(max(bounds), certificate.value))


def _bound_at(problem: Problem, element: Array) -> float:
    """Return the lower bound that an element proves in double."""
    certificate = problem.at(problem.refreshed(element.astype(np.float64))).certificate
    return -np.inf if certificate is None else certificate.lower_bound


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
