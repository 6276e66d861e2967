"""Settings by the evidence of the training set, without cross-validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..approximation import Nystroem
from ..checks import require_whole
from ..errors import InputError
from ..posterior import Laplace
from .copies import silent_copy

PENALTIES: Mapping[str, tuple[str, ...]] = {
    "penalty": ("kernel", "features", "bias", "boundaries", "segment_features"),
    "edge_penalty": ("edges", "edge_features", "durations", "rules"),
    "second_order_penalty": ("second_order",),
}
"""Which parts of a model a penalty is of; parts of label kernels begin with "kernel"."""
FARTHEST = 10.0
"""By how much at most a penalty changes at once: far from the mode, fixed points overshoot."""
STEP = 2.0
"""Factor by which other settings change."""


class EvidenceStep(NamedTuple):
    """Settings, and what they are worth."""

    settings: dict[str, float]
    log_evidence: float
    error: float


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
    max_fits: int = 12,
    rank: int | None = 200,
    evidence: Laplace | None = None,
    refit: bool = True,
) -> EvidenceTuning:
    """Choose penalties, and parameters of kernels, by Laplace's approximation of log p(y|x).

    Penalties start with a step to MacKay's fixed points λ_τ = γ_τ/‖f_τ‖², γ_τ the number of coordinates
    that the data determine [mackay1992]. These leave out that W changes with the mode, which may lead
    away from the maximum; hence all settings are then doubled and halved while the evidence rises. Every
    step is one fit and one determinant, instead of a fit for each fold and each candidate. The evidence
    is that of the Gaussian at the mode: see `Laplace` for where that is a poor one.

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
    evidence : Laplace, optional
        How the determinant is estimated.
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
    search = _EvidenceSearch(model, X, y, lengths, require_whole("max_fits", max_fits), rank, evidence)
    further = search.named(parameters)
    best, asked = search.tried(dict(search.start))
    step, _ = search.tried(asked)
    best = max(best, step, key=lambda one: one.log_evidence)
    best = best._replace(settings={name: best.settings[name] for name in asked})
    for name in ["penalty", *further, *(name for name in asked if name not in ("penalty", *further))]:
        best = search.climb(best, name)
    fitted = search.fitted(best.settings) if refit else None
    return EvidenceTuning(fitted, best.settings, best.log_evidence, search.path)


class _EvidenceSearch:
    """Fits and determinants, up to a number of them."""

    def __init__(
        self, model: Any, X: Any, y: Any, lengths: Any, most: int, rank: int | None, evidence: Laplace | None
    ) -> None:
        known = model.get_params(deep=False)
        if "posterior" not in known:
            raise InputError(f"{type(model).__name__} has no posterior, hence no evidence.")
        self.model, self.data, self.most = model, (X, y), most
        self.options = {} if lengths is None else {"lengths": lengths}
        self.method = Laplace(scale=0.0, probes=2, steps=20) if evidence is None else evidence
        self.subspace = {}
        dense = known.get("approximation", "") is None and known.get("selection") is None
        if rank is not None and dense and known.get("kernel") is not None:
            self.subspace = {"approximation": Nystroem(require_whole("rank", rank))}
        self.start = {
            name: float(known[name] if known[name] is not None else known["penalty"])
            for name in PENALTIES
            if name in known and not isinstance(known[name], list | tuple)
        }
        if not self.start:
            raise InputError(f"{type(model).__name__} has no single penalty that the evidence could set.")
        self.path: list[EvidenceStep] = []

    def named(self, given: Sequence[str] | None) -> list[str]:
        """Return the further settings to choose, after a note of where they start."""
        known = self.model.get_params(deep=True)
        if given is None:
            given = ["kernel__gamma"] if isinstance(known.get("kernel__gamma"), int | float) else []
        for name in given:
            if not isinstance(known.get(name), int | float) or known[name] <= 0:
                raise InputError(f"{name} is {known.get(name)!r}; the evidence chooses positive numbers.")
            self.start[name] = float(known[name])
        return list(given)

    def fitted(self, settings: Mapping[str, float]) -> Any:
        """Return the model itself, with these settings."""
        from sklearn.base import clone

        return clone(self.model).set_params(**settings).fit(*self.data, **self.options)

    def tried(self, settings: dict[str, float]) -> tuple[EvidenceStep, dict[str, float]]:
        """Return the evidence of settings, and the penalties that they ask for."""
        other = silent_copy(self.model, **settings, **self.subspace, posterior=self.method)
        found = other.fit(*self.data, **self.options).posterior_
        step = EvidenceStep(settings, float(found.log_evidence), float(found.evidence_error))
        self.path.append(step)
        asked = {}
        for name, parts in PENALTIES.items():
            mine = [p for p in found.squares if p in parts or (name == "penalty" and p.startswith("kernel"))]
            square, gamma = (sum(one[p] for p in mine) for one in (found.squares, found.n_effective))
            if name in settings and square > 0 and gamma > 0:
                factor = min(max(gamma / square, 1 / FARTHEST), FARTHEST)
                asked[name] = settings[name] * factor
        # What no part of the model has is not worth a search.
        return step, {**{name: settings[name] for name in settings if name not in PENALTIES}, **asked}

    def climb(self, best: EvidenceStep, name: str) -> EvidenceStep:
        """Return the best of settings with one of them doubled or halved while that helps."""
        for factor in (1 / STEP, STEP):
            improved = False
            while len(self.path) < self.most:
                step, _ = self.tried({**best.settings, name: best.settings[name] * factor})
                if step.log_evidence <= best.log_evidence:
                    break
                best, improved = step, True
            if improved:
                break
        return best
