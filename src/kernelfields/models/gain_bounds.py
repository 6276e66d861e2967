"""How much a model can gain at most by a further space of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays import Array
from ..data.rules import offset_of
from ..data.training import Training
from ..errors import InputError, TableSizeError
from ..structures import SumOracle
from .clique_types import CliqueType
from .fit.steps import FitArguments
from .graph_cliques import LabelPair
from .kernel_settings import kernel_settings
from .pair_gains import LabelPairGains, neighbours, separator


def gain_bounds(
    model: Any, candidates: Sequence[CliqueType], X: Any, y: Any, **given: Any
) -> list[float | None]:
    """Return what each candidate can gain at most, but for the gap of the model; None if it is too large."""
    pairs = _pair_gains(model, candidates, X, y, **given)
    result: list[float | None] = []
    for candidate in candidates:
        try:
            if pairs is not None and isinstance(candidate, LabelPair):
                result.append(pairs.bound(*candidate.numbers(model.structure_)))
            else:
                result.append(gain_bound(model, candidate, X, y, **given))
        except TableSizeError:
            result.append(None)
    return result


def adding_up(model: Any, candidates: Sequence[CliqueType], count: int) -> list[CliqueType]:
    """Return the first candidates, at most ``count``, whose bounds add up to one of what they gain together.

    Gradients in different spaces do; pairs of labels as long as they close no cycle (`LabelPairGains`).
    """
    pairs = [one for one in candidates if isinstance(one, LabelPair)]
    if not candidates or not isinstance(candidates[0], LabelPair):
        return [one for one in candidates if one not in pairs][:count]
    structure: Any = model.structure_
    joined, chosen = neighbours(structure.pairs, len(structure.names)), []
    for one in pairs:
        k, m = one.numbers(structure)
        if not separator(joined, k, m) and m not in joined[k]:
            joined[k].add(m)
            joined[m].add(k)
            chosen.append(one)
        elif not chosen:
            return [one]
    return list(chosen[:count])


def gain_bound(model: Any, candidate: CliqueType, X: Any, y: Any, **given: Any) -> float:
    """‖∇_τ R(f)‖² / (2λ_τ) of a space τ that the model does not have yet, on its training set.

    If f is optimal in its own space, min R over the sum of both is at most so much below R(f)
    [altun2004exp, Cor. 10 and Remark 11]; otherwise add the gap of f. The gradient in τ is that of the
    loss alone, expected minus observed features, since f has no part in τ.
    """
    extended = extension(model, candidate)
    training = _training(extended, X, y, **given)
    batch = model._model().scores(training.inputs)
    theta = {
        clique: _spread(batch.scores.get(clique), shape) for clique, shape in training.batch.shapes.items()
    }
    if training.forbidden is not None:
        offset = offset_of(training.forbidden, training.batch, np.float64)
        theta = {clique: values + offset[clique] for clique, values in theta.items()}
    term = candidate.term(extended, kernel_settings(extended), training)
    _require_penalty(candidate, term.penalty)
    mismatch = term.space.representer(training.loss.at(theta).gradient[term.space.clique])
    return term.space.inner(mismatch, mismatch) / (2 * term.penalty)


def extension(model: Any, candidate: CliqueType) -> Any:
    """Return the unfitted model with one clique type more."""
    settings = model.get_params(deep=False)
    changed = candidate.settings(settings)
    for name in changed:
        if name not in settings:
            raise InputError(
                f"{candidate.name} is no candidate for {type(model).__name__}: it has no {name}."
            )
    return type(model)(**{**settings, **changed})


def _pair_gains(
    model: Any, candidates: Sequence[CliqueType], X: Any, y: Any, **given: Any
) -> LabelPairGains | None:
    """Return sharper bounds of pairs of labels, where the loss is −log p and its sums are exact."""
    first = next((one for one in candidates if isinstance(one, LabelPair)), None)
    if first is None:
        return None
    extension(model, first)  # refuses what does not go with it
    training = _training(model, X, y, **given)
    loss, penalty = training.loss, kernel_settings(model).penalty_of("edges")
    if not loss.likelihood or not isinstance(training.batch, SumOracle):
        return None
    _require_penalty(first, penalty)
    scores = model._model().scores(training.inputs, training.batch).scores
    structure: Any = training.structure
    return LabelPairGains(
        training.edge_batch,
        structure.inference,
        scores,
        training.encoded.labels,
        structure.pairs,
        penalty=penalty,
        weights=training.weights,
    )


def _training(model: Any, X: Any, y: Any, **given: Any) -> Training:
    training: Training = model._training(FitArguments(X, y, given.get("lengths"), given.get("sample_weight")))
    return training


def _require_penalty(candidate: CliqueType, penalty: float) -> None:
    if penalty <= 0:
        raise InputError(f"What {candidate.name} can gain is only known for penalties above 0.")


def _spread(scores: Array | None, shape: tuple[int, ...]) -> Array:
    """Scores of a smaller model, where the larger one has a score for each clique, or more cliques."""
    return np.zeros(shape) + (0.0 if scores is None else scores)
