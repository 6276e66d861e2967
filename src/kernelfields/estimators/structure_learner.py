"""Which clique types and kernels a model needs, found by what each could gain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from ..arrays import Array
from ..checks import require_settings
from ..data.labels import name_outputs
from ..errors import InputError
from ..fitting.held_out import held_out_labels, require_both
from ..fitting.run import starts_afresh
from ..models.clique_types import CliqueType
from ..parameters import Parameterised
from ..persistence.fields import Field, Kind
from ..persistence.savable import Savable, declared_state, require_fitted
from ._base import Labels
from ._gain_bounds import extension, gain_bound
from ._routing import Routed
from ._settings import CHECKS
from .kernel_crf import KernelCRF


@dataclass(frozen=True)
class Trial:
    """What became of one candidate in one round."""

    round: int
    name: str
    bound: float
    """No refit of the extended model can lower the objective by more, but for the model's own gap."""
    gain: float | None
    """By how much fitting it did lower the objective; None if that was not worth trying."""
    held_out: float | None
    """By how much the held-out log-likelihood rose, if there are held-out data."""
    kept: bool


class StructureLearner(Parameterised, Routed, Savable):
    """Extend a kernel CRF by clique types and kernels while that pays [altun2004exp, Remark 11].

    Every round bounds, for every candidate τ that is left, what it can gain: ‖∇_τ R(f)‖²/(2λ_τ), one pass
    over the training set and no fit (`gain_bound`). Candidates that cannot gain enough are dropped; of
    the others the one with the largest bound is fitted. It stays if it kept the promise: if the
    objective fell by at least ``worth`` of its value, and the likelihood of held-out data, where there
    are some, rose.

    Parameters
    ----------
    estimator : KernelCRF
        The model to begin with, for instance without edges.
    candidates : list of CliqueType
        `Edges`, `Boundaries`, `SecondOrder`, `InputEdges`, `FurtherKernel`.
    worth : float
        Share of the objective that a candidate must gain.

    Attributes
    ----------
    classes_ : (L,) array
        Labels.
    model_ : KernelCRF
        The extended model.
    kept_ : list of str
        Names of the candidates it has, in the order in which they came.
    trials_ : list of Trial
        Every bound and what came of it; `report` writes it as a table.

    Examples
    --------
    >>> from kernelfields import KernelCRF, StructureLearner
    >>> from kernelfields.models.clique_types import Boundaries, Edges
    >>> X, y = [[[0.0], [0.0], [0.0]]] * 4, [["A", "B", "A"]] * 4
    >>> base = KernelCRF("rbf", penalty=0.1, edges=False, boundaries=False)
    >>> StructureLearner(base, candidates=[Edges(), Boundaries()]).fit(X, y).kept_
    ['edges', 'boundaries']
    """

    _learnt: ClassVar[Mapping[str, Field]] = {
        "model_": Kind(KernelCRF, large=True),
        "kept_": Kind(list),
        "trials_": Kind(list),
    }
    _lacks: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(["verbose", "warm_start", "checkpoint"], "it is a setting of estimator"),
    }

    def __init__(
        self, estimator: KernelCRF, *, candidates: Sequence[CliqueType], worth: float = 0.01
    ) -> None:
        self.estimator = estimator
        self.candidates = candidates
        self.worth = worth

    @starts_afresh
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, X_dev: Any = None, y_dev: Any = None) -> Self:
        """Fit to labelled sequences.

        Parameters
        ----------
        X, y
            Sequences and their labels, as `KernelCRF.fit` takes them.
        sample_weight : (S,) array, optional
            How many times each sequence counts.
        X_dev, y_dev : optional
            Held-out sequences, which have a say in what is kept.
        """
        require_settings(vars(self), CHECKS)
        model = type(self.estimator)(**self.estimator.get_params(deep=False)).fit(
            X, y, sample_weight=sample_weight
        )
        if model.certificate_ is None:
            raise InputError(
                "What a candidate can gain is only known for convex losses and penalties above 0."
            )
        held_out = _held_out(X_dev, y_dev, model)
        trials: list[Trial] = []
        left, kept = list(self.candidates), []
        for number in range(1, len(left) + 1):
            bounds = {c: gain_bound(model, c, X, y, sample_weight=sample_weight) for c in left}
            left = [c for c in left if bounds[c] >= self.worth * _value(model)]
            trials += [Trial(number, c.name, bounds[c], None, None, False) for c in bounds if c not in left]
            if not left:
                break
            best = max(left, key=bounds.__getitem__)
            left.remove(best)
            tried, trial = self._try(model, best, number, bounds[best], (X, y, sample_weight), held_out)
            trials.append(trial)
            if trial.kept:
                model = tried
                kept.append(best.name)
        self.model_, self.kept_, self.trials_ = model, kept, trials
        self.classes_ = model.classes_
        return self

    def _try(
        self,
        model: KernelCRF,
        candidate: CliqueType,
        number: int,
        bound: float,
        data: tuple[Any, Any, Any],
        held_out: tuple[Any, Labels] | None,
    ) -> tuple[KernelCRF, Trial]:
        """Fit the extended model and see."""
        X, y, weights = data
        tried = extension(model, candidate).fit(X, y, sample_weight=weights)
        gain = _value(model) - _value(tried)
        rise = None
        if held_out is not None:
            rise = float(np.sum(tried.sequence_log_proba(*held_out) - model.sequence_log_proba(*held_out)))
        kept = gain >= self.worth * _value(model) and (rise is None or rise > 0)
        return tried, Trial(number, candidate.name, bound, gain, rise, kept)

    def report(self) -> str:
        """Write what was tried, what it could have gained and did gain, and what was kept."""
        lines = ["round  candidate             at most      gained   held out  "]
        for t in self.trials_:
            gain = "   not tried" if t.gain is None else f"{t.gain:12.4g}"
            held_out = "         -" if t.held_out is None else f"{t.held_out:+10.4g}"
            verdict = "kept" if t.kept else "cannot pay" if t.gain is None else "did not pay"
            lines.append(f"{t.round:5}  {t.name:16} {t.bound:12.4g}{gain}{held_out}  {verdict}")
        lines.append(f"Objective {_value(self.model_):.6g}, certified gap {_gap(self.model_):.2g}.")
        return "\n".join(lines)

    def predict(self, X: Any, **settings: Any) -> list[list[Any]]:
        """Label sequences, as `KernelCRF.predict`."""
        require_fitted(self)
        return self.model_.predict(X, **settings)

    def predict_marginals(self, X: Any, **settings: Any) -> list[Array]:
        """Return p(y_t|x), as `KernelCRF.predict_marginals`."""
        require_fitted(self)
        return self.model_.predict_marginals(X, **settings)

    def predict_kbest(self, X: Any, k: int, **settings: Any) -> list[list[tuple[list[Any], float]]]:
        """Return the k best labellings, as `KernelCRF.predict_kbest`."""
        require_fitted(self)
        return self.model_.predict_kbest(X, k, **settings)

    def sequence_log_proba(self, X: Any, y: Any, **settings: Any) -> Array:
        """Log p(y|x) of whole labellings, as `KernelCRF.sequence_log_proba`."""
        require_fitted(self)
        return self.model_.sequence_log_proba(X, y, **settings)

    def score(self, X: Any, y: Any, *, lengths: Any = None, sample_weight: Any = None) -> float:
        """Return the share of positions labelled right; each sequence counts ``sample_weight`` times."""
        require_fitted(self)
        return self.model_.score(X, y, lengths=lengths, sample_weight=sample_weight)

    def _state(self) -> dict[str, Any]:
        require_fitted(self)
        return declared_state(self, self._parameter_names())

    def _settle(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state)

    def _rehearse(self) -> None:
        self.predict([])


def _held_out(X: Any, y: Any, model: KernelCRF) -> tuple[Any, Labels] | None:
    """Held-out sequences with labels that training had, None for others; None if there are no sequences."""
    if not require_both(X, y):
        return None
    inputs = model._read(X, None)
    labels = held_out_labels(model.structure_, y, inputs, model.classes_)
    return X, name_outputs(model.structure_, labels, inputs, model.classes_, inputs.links)


def _value(model: KernelCRF) -> float:
    assert model.certificate_ is not None
    return model.certificate_.value


def _gap(model: KernelCRF) -> float:
    assert model.certificate_ is not None
    return model.certificate_.gap
