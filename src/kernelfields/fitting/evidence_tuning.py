"""Settings by the evidence of the training set, without cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..approximation import Nystroem
from ..arrays import Array
from ..checks import require_whole
from ..data.seeds import random_state
from ..errors import InputError
from ..posterior import (
    Curvature,
    EvidenceSlope,
    PosteriorDraws,
    PosteriorMethod,
    UnitProblem,
    log_determinant,
)
from ..posterior.curvature import solve
from .copies import silent_copy

SHARED = ("features", "bias", "boundaries", "segment_features")
"""Parts that share the penalty of the model, as those do whose names begin with "kernel"."""
STEP = 1e-2
"""Relative change of settings of kernels that derivatives are taken by."""
ANY = 1e3
"""Gap that every function has."""
ENOUGH = 3e-4
"""Rise of the evidence per label below which a search ends."""


class EvidenceStep(NamedTuple):
    """Settings, and what they are worth."""

    settings: dict[str, float]
    log_evidence: float
    error: float
    """Standard error of that estimate; of differences it is much smaller, for random vectors are the same."""
    gradient: dict[str, float]
    """Derivative of the log-evidence in the logarithm of every setting."""


class EvidenceTuning(NamedTuple):
    """What a search by the evidence found."""

    model: Any
    """Fitted to all of the training set, with the best settings; None without ``refit``."""
    settings: dict[str, float]
    log_evidence: float
    """Of the search, which may have been in a subspace."""
    path: list[EvidenceStep]
    """All that was tried, in order."""


def tune_by_evidence(
    model: Any,
    X: Any,
    y: Any,
    *,
    lengths: Any = None,
    parameters: Sequence[str] | None = None,
    max_fits: int = 8,
    rank: int | None = 300,
    probes: int = 2,
    steps: int = 20,
    refit: bool = True,
) -> EvidenceTuning:
    """Choose penalties, and parameters of kernels, by Laplace's approximation of log p(y|x).

    The evidence −R(f̂) − ½ log|H/λ| is climbed by its gradient in the logarithms of all settings. The gradient
    is that of `EvidenceSlope`: of penalties, without the change of the mode, it is half of γ_τ − λ_τ‖f_τ‖²,
    whose zeros are MacKay's fixed points [mackay1992]. Every step is one fit, one determinant and a
    few solutions, instead of a fit for each fold and each candidate. The evidence is that of the Gaussian
    at the mode: see `Laplace` for where that is a poor one.

    Parameters
    ----------
    model : estimator
        `CRF`, `KernelCRF`, `GPSequenceClassifier` or `KernelLogisticRegression`, with settings to start from.
    X, y, lengths
        The training set.
    parameters : sequence of str, optional
        Further settings, positive numbers, such as "kernel__gamma"; by default that one if the model has it.
    max_fits : int
        Most fits of the search; the one with the best settings comes on top.
    rank : int, optional
        Landmarks of the search, where the model has an expansion over all positions; None for all of them.
    probes, steps : int
        Random vectors and Lanczos steps of the determinant.
    refit : bool
        Whether the model is fitted with what was found.

    Examples
    --------
    >>> from kernelfields import KernelCRF, tune_by_evidence
    >>> X = [[[0.0], [1.0], [2.0]], [[1.0], [0.0]]] * 5
    >>> y = [["A", "B", "A"], ["B", "A"]] * 5
    >>> found = tune_by_evidence(KernelCRF("rbf", random_state=0), X, y)
    >>> found.model.predict([[[1.0], [0.0]]])
    [['B', 'A']]
    """
    numbers = require_whole("probes", probes), require_whole("steps", steps)
    search = _EvidenceSearch(model, X, y, lengths, rank, *numbers)
    start = search.start(parameters)
    best = ascend(search.at, start, require_whole("max_fits", max_fits), ENOUGH * search.n_labels)
    settings = {name: best.settings[name] for name in best.gradient}
    fitted = search.fitted(settings) if refit else None
    return EvidenceTuning(fitted, settings, best.value, search.path)


class _EvidenceSearch:
    """Fits, determinants and gradients."""

    def __init__(
        self, model: Any, X: Any, y: Any, lengths: Any, rank: int | None, probes: int, steps: int
    ) -> None:
        known = model.get_params(deep=False)
        if "posterior" not in known:
            raise InputError(f"{type(model).__name__} has no posterior, hence no evidence.")
        self.model, self.data, self.probing = model, (X, y), (probes, steps)
        self.options = {} if lengths is None else {"lengths": lengths}
        # One seed for all fits: with other landmarks and other probes, settings could not be compared.
        self.seed = int(random_state(known.get("random_state")).randint(2**31 - 1))
        self.same: dict[str, Any] = {"random_state": self.seed} if "random_state" in known else {}
        dense = known.get("basis", "") is None
        if rank is not None and dense and known.get("kernel") is not None:
            self.same["basis"] = Nystroem(require_whole("rank", rank))
        self.further: list[str] = []
        self.own: dict[str, str] = {}
        """By the names of penalties, the parts that have them for themselves."""
        self.path: list[EvidenceStep] = []
        self.n_labels = sum(map(len, y))

    def start(self, given: Sequence[str] | None) -> dict[str, float]:
        """Return the settings to choose, as they are."""
        known = self.model.get_params(deep=True)
        shared = known.get("penalty")
        if not isinstance(shared, int | float):
            raise InputError(
                f"{type(self.model).__name__} has no single penalty that the evidence could set."
            )
        result = {"penalty": float(shared)}
        for part in self._parts():
            name, own = f"parts__{part}__penalty", known.get(f"parts__{part}__penalty")
            if own is not None or not (part.startswith("kernel") or part in SHARED):
                self.own[name] = part
                result[name] = float(shared if own is None else own)
        if given is None:
            given = ["kernel__gamma"] if isinstance(known.get("kernel__gamma"), int | float) else []
        for name in given:
            if not isinstance(known.get(name), int | float) or known[name] <= 0:
                raise InputError(f"{name} is {known.get(name)!r}; the evidence chooses positive numbers.")
            result[name] = float(known[name])
        self.further = list(given)
        return result

    def _parts(self) -> list[str]:
        """Return the names of what is learnt, by a fit that ends where it begins."""
        first = silent_copy(self.model, **self.same, posterior=None, tol=ANY)
        return list(first.fit(*self.data, **self.options).mismatch_)

    def fitted(self, settings: Mapping[str, float]) -> Any:
        """Return the model itself, with these settings."""
        from sklearn.base import clone

        return clone(self.model).set_params(**settings).fit(*self.data, **self.options)

    def at(self, settings: dict[str, float]) -> Rise:
        """Return the evidence of settings, and its gradient."""
        probe = EvidenceProbe(*self.probing, self.seed)
        self._fit(settings, posterior=probe)
        gradient, scale, own = {}, {}, set(self.own.values())
        for name in [name for name in settings if name not in self.further]:
            mine = [self.own[name]] if name in self.own else [p for p in probe.squares if p not in own]
            mine = [part for part in mine if part in probe.squares]
            # What no part of the model has is not worth a search.
            if mine:
                gradient[name] = -sum(probe.energies[part] for part in mine)
                scale[name] = 0.5 * sum(probe.squares[part] for part in mine)
        for name in self.further:
            gradient[name] = self._along(name, settings, probe)
            scale[name] = 0.5 * sum(probe.squares.values())
        self.path.append(EvidenceStep(settings, probe.log_evidence, probe.error, gradient))
        return Rise(settings, probe.log_evidence, gradient, scale)

    def _along(self, name: str, settings: dict[str, float], probe: EvidenceProbe) -> float:
        """Return that in the logarithm of a setting of the kernel: the same vectors, another prior."""
        assert probe.slope is not None
        moved = PriorProbe(probe.slope)
        # Any function will do: nobody asks for the mode.
        self._fit({**settings, name: settings[name] * np.exp(STEP)}, posterior=moved, tol=ANY)
        return (moved.energy - sum(probe.energies.values())) / STEP

    def _fit(self, settings: Mapping[str, float], **others: Any) -> None:
        silent_copy(self.model, **self.same, **settings, **others).fit(*self.data, **self.options)


FARTHEST = float(np.log(10.0))
"""Largest change of the logarithm of a setting at once."""
SHRINK = 0.25
"""Share of a step that is tried where the whole of it went too far."""


class Rise(NamedTuple):
    """What was seen at some settings."""

    settings: dict[str, float]
    value: float
    gradient: dict[str, float]
    """In the logarithms; settings that nothing depends on are left out, and stay as they are."""
    scale: dict[str, float]
    """About how much the gradient falls with a logarithm: what the first step is measured by."""


def ascend(
    look: Callable[[dict[str, float]], Rise], start: Mapping[str, float], most: int, enough: float
) -> Rise:
    """Return the best that was seen in so many looks, by the quasi-Newton method of Broyden and others.

    A rise below ``enough``, seen or foreseen, ends the climb, as does a step that falls twice.
    """
    best = look(dict(start))
    names = list(best.gradient)
    inverse = np.diag([1.0 / max(best.scale[name], abs(best.gradient[name]), 1e-12) for name in names])
    looks, share = 1, 1.0
    while looks < most and names:
        slope = np.array([best.gradient[name] for name in names])
        step = share * np.clip(inverse @ slope, -FARTHEST, FARTHEST)
        if step @ slope / 2 <= enough:
            break
        moved = zip(names, np.exp(step), strict=True)
        seen = look({**best.settings, **{name: best.settings[name] * float(f) for name, f in moved}})
        looks += 1
        change = slope - np.array([seen.gradient[name] for name in names])
        inverse = _updated(inverse, step, change)
        rise = seen.value - best.value
        if rise > 0:
            best, share = seen, 1.0
            if rise < enough:
                break
        elif share < 1:
            break
        else:
            share = SHRINK
    return best


def _updated(inverse: Array, step: Array, change: Array) -> Array:
    """Return the inverse of minus the second derivatives, as one step corrects it [nocedal2006, 6.17]."""
    product = float(step @ change)
    if product <= 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse  # not concave along the step: what was known stays
    left = np.eye(len(step)) - np.outer(step, change) / product
    return np.asarray(left @ inverse @ left.T + np.outer(step, step) / product)


DRAWS = 2
"""Random vectors of the gradient; one alone led astray where few positions are unsure."""
TOL = 1e-2
"""Relative residual of what is drawn: its square, times tr A, is in the gradient."""
ROUGH = 3e-2
"""That of steps and corrections."""
MAX_ITER = 300
"""Of conjugate gradients."""


class EvidenceProbe(PosteriorMethod):
    """Estimates Laplace's evidence at the mode, with the same random vectors at every setting.

    Differences between settings are then far more precise than the evidence itself.

    Parameters
    ----------
    probes, steps : int
        Random vectors and Lanczos steps of the determinant.
    seed : int
        Of all random vectors.
    """

    n_samples = 1

    def __init__(self, probes: int, steps: int, seed: int) -> None:
        self.probes, self.steps, self.seed = probes, steps, seed
        self.log_evidence, self.error = -np.inf, np.inf
        self.slope: EvidenceSlope | None = None
        self.energies: dict[str, float] = {}
        self.squares: dict[str, float] = {}

    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Keep evidence and gradient, and draw nothing."""
        mode = _polished(unit, mode)
        curvature = Curvature(unit, [unit.scores(mode)])
        value, error = log_determinant(curvature, self.probes, self.steps, self.seed)
        self.log_evidence = -_objective(unit, mode) - 0.5 * value
        self.error = 0.5 * error
        same = np.random.default_rng(self.seed)
        self.slope = EvidenceSlope.at(curvature, same, DRAWS, TOL, ROUGH, MAX_ITER)
        self.energies = self.slope.energies(unit)
        self.squares = {name: float(mode[place] @ mode[place]) for name, place in unit.slices.items()}
        return PosteriorDraws(mode, mode[None], self.log_evidence, self.error)


def _polished(unit: UnitProblem, mode: Array) -> Array:
    """Return the mode after a step of Newton's method.

    Gradients of the evidence take it that the gradient of the likelihood is û, which a fit to a gap of a
    hundredth is far from along flat directions.
    """
    theta = unit.scores(mode)
    gradient = mode + unit.pulled(unit.loss.at(theta).gradient)
    step = solve(Curvature(unit, [theta]).times, gradient, ROUGH, MAX_ITER)
    better = mode - step
    return better if _objective(unit, better) <= _objective(unit, mode) else mode


def _objective(unit: UnitProblem, u: Array) -> float:
    return 0.5 * float(u @ u) - unit.log_likelihood(u)


class PriorProbe(PosteriorMethod):
    """Reads off what a gradient says of another prior; the fit beside it may end at once."""

    n_samples = 1

    def __init__(self, slope: EvidenceSlope) -> None:
        self.slope, self.energy = slope, 0.0

    def of(self, unit: UnitProblem, mode: Array, rng: np.random.Generator) -> PosteriorDraws:
        """Keep the sum over all parts, and draw nothing."""
        self.energy = sum(self.slope.energies(unit).values())
        return PosteriorDraws(mode, mode[None], None, None)
