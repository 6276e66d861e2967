"""What a fitted model keeps of its posterior: functions drawn from it, whose probabilities are averaged."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..observations import in_precision
from ..persistence.fields import Field, Sizes
from ..structures import MixedScores
from .model import KnownScores, Model, ScoredBatch
from .scorers import LearntScorer

TABLES = ("factors_", "parts_")
"""Attributes that are dictionaries, of tables or of scorers; draws have a line for each entry."""


class Averaging(NamedTuple):
    """Functions drawn from the posterior of a model, by the attributes that they would be."""

    draws: dict[str, Array]
    """(S, …) for every attribute, the first axis being that of the draws."""
    log_evidence: float | None
    """log p(y|x) of the training set, or what stands for it."""
    evidence_error: float | None
    """Its standard error."""
    n_effective: dict[str, float]
    """γ of every part of the model: how many coordinates the data determine; empty where not known."""
    squares: dict[str, float]
    """λ‖f‖² of every part, at the mode: what γ would be if the penalty were the most evident one."""
    residual: float
    """Variance of functions of the kernel that are outside of the basis, as a multiple of the prior kernel's:
    0 where models have no kernel, or functions are drawn without it."""
    seed: int
    """Of noise that predictions add."""

    @property
    def n_draws(self) -> int:
        """S."""
        return len(next(iter(self.draws.values())))

    def model(self, model: Any, number: int) -> Any:
        """Return a copy of a model with the attributes of one draw."""
        result = copy(model)
        mine = vars(result)
        mine.pop("posterior_", None)
        tables = {name: dict(mine[name]) for name in TABLES if mine.get(name)}
        for key, values in self.draws.items():
            name, _, entry = key.partition(".")
            if not entry:
                mine[name] = values[number]
            elif isinstance(tables[name][entry], LearntScorer):
                tables[name][entry] = tables[name][entry].with_numbers(values[number])
            else:
                tables[name][entry] = values[number]
        mine.update(tables)
        return result


def stacked_draws(each: list[Mapping[str, Any]]) -> dict[str, Array]:
    """Return attributes of several functions, each as one array; what a model lacks is left out."""
    result = {}
    for name, first in each[0].items():
        if isinstance(first, Mapping):
            for entry in first:
                result[f"{name}.{entry}"] = np.stack([_numbers(one[name][entry]) for one in each])
        elif first is not None:
            result[name] = np.stack([_dense(one[name]) for one in each])
    return result


def _numbers(entry: Any) -> Array:
    return _dense(entry.numbers if isinstance(entry, LearntScorer) else entry)


def _dense(values: Any) -> Array:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def mixed(model: Any, scored: ScoredBatch) -> ScoredBatch:
    """Return scores with those of the functions drawn from the posterior of a model."""
    found: Averaging = model.posterior_
    from .kernel_residual import KernelResidual

    residual = KernelResidual.of(model) if found.residual > 0 else None
    noise = None if residual is None else residual.factors(scored)
    known = _kernel_scores(model, found, scored)
    components = []
    for number in range(found.n_draws):
        one = _scores_of(found.model(model, number), scored, None if known is None else known[number])
        if noise is not None:
            drawn = noise.drawn(number, found.seed, one[scored.batch.answer].shape)
            one[scored.batch.answer] = one[scored.batch.answer] + np.sqrt(found.residual) * drawn
        components.append(one)
    return scored._replace(scores=MixedScores(scored.scores, components))


def _scores_of(model: Any, scored: ScoredBatch, known: Array | None) -> dict[str, Array]:
    """Return the scores of one function, those of its kernel on vertices if they are not known yet."""
    fitted: Model = model._model()
    if known is not None:
        first = KnownScores({scored.batch.answer: known})
        fitted = fitted._replace(scorers=(first, *fitted.scorers[1:]))
    return fitted.scores(scored.inputs, scored.batch).scores


def _kernel_scores(model: Any, found: Averaging, scored: ScoredBatch) -> list[Array] | None:
    """Return the scores of all functions by one computation of kernel values; None for other models."""
    kernels, coef = vars(model).get("_kernels"), found.draws.get("dual_coef_")
    if kernels is None:
        return None
    from .vertex_kernels import VertexKernels

    shared = isinstance(kernels, VertexKernels) and kernels.groups[0].labels is None
    if coef is None or not shared or vars(model).get("basis_") is None:
        return None
    basis = vars(model)["basis_"]
    observations = in_precision(scored.inputs.features, basis.dtype)
    count, size, width = coef.shape
    flat = np.ascontiguousarray(coef.transpose(1, 0, 2)).reshape(size, count * width)
    values = np.asarray(kernels.scores(observations, basis, flat), dtype=np.float64)
    shape = (len(values), *scored.batch.cliques[scored.batch.answer].values)
    return [values[:, n * width : (n + 1) * width].reshape(shape) for n in range(found.n_draws)]


@dataclass(frozen=True)
class Averagings(Field):
    """Functions drawn from a posterior, with the shapes of what the model has learnt."""

    needed: bool = False

    def objection(self, value: Any, sizes: Sizes) -> str:
        """Say what does not fit."""
        if not isinstance(value, Averaging) or not isinstance(value.draws, dict) or not value.draws:
            return "is no set of functions"
        arrays = list(value.draws.values())
        if not all(isinstance(one, np.ndarray) and one.dtype.kind == "f" and one.ndim > 0 for one in arrays):
            return "has functions that are no numbers"
        if len({len(one) for one in arrays}) != 1 or not len(arrays[0]):
            return "has functions of different numbers"
        counts = (value.n_effective, value.squares)
        if not all(isinstance(one, dict) for one in counts) or type(value.seed) is not int:
            return "has counts that are none"
        numbers = (value.log_evidence, value.evidence_error)
        if not all(one is None or type(one) is float for one in numbers):
            return "has an evidence that is no number"
        return "" if type(value.residual) is float and value.residual >= 0 else "has a variance that is none"
