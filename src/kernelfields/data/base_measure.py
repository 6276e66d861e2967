"""What is known about labels before any function is learnt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_unmasked, shown
from ..errors import InputError
from .labels import index_of


@dataclass(frozen=True)
class CliqueMeasures:
    """What is known beforehand, by clique type.

    Parameters
    ----------
    node : mapping or callable, optional
        log q(y_v|x_v) of single labels: log-odds by label, or a function of observations.
    edge : (L, L) array, optional
        log q(y, y′) of neighbouring labels, rows and columns as in ``classes_``.
    triple : (L, L, L) array, optional
        log q(y, y′, y″) of three neighbours.
    """

    node: Any = None
    edge: Any = None
    triple: Any = None


BaseMeasure = Callable[[Any], Any] | Mapping[Any, float] | CliqueMeasures | None


def kept_measure(measure: BaseMeasure) -> BaseMeasure:
    """Return a measure that later changes of the one given leave alone."""
    if isinstance(measure, CliqueMeasures):
        tables = {name: _table(getattr(measure, name), name) for name in ("edge", "triple")}
        return CliqueMeasures(kept_measure(measure.node), **tables)
    return dict(measure) if isinstance(measure, Mapping) else measure


def add_base_measure(
    measure: BaseMeasure, batch: Any, observations: Any, classes: Array, theta: dict[str, Array]
) -> None:
    """Add log q to the scores of a batch; arrays that cannot be changed are replaced."""
    if not isinstance(measure, CliqueMeasures):
        measure = CliqueMeasures(node=measure)
    if measure.node is not None:
        log_q = log_base_measure(measure.node, observations, classes)
        theta[batch.answer] = theta[batch.answer] + log_q
    for clique in ("edge", "triple"):
        table = _table(getattr(measure, clique), clique)
        if table is None:
            continue
        if clique not in theta:
            raise InputError(f"measure has {clique!r}, which {type(batch).__name__} does not have.")
        shape = batch.cliques[clique].values
        if table.shape != shape:
            raise InputError(f"measure of {clique!r} has shape {table.shape}, expected {shape}.")
        theta[clique] = theta[clique] + table


def _table(given: Any, name: str) -> Array | None:
    """Return a table of numbers; NaN and +inf are refused."""
    if given is None:
        return None
    require_unmasked(given, f"measure of {name!r}")
    try:
        table = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"measure of {name!r} is no array of numbers: {error}.") from error
    if np.isnan(table).any() or (table == np.inf).any():
        raise InputError(f"measure of {name!r} has NaN or infinity.")
    return table


def log_base_measure(measure: BaseMeasure, observations: Any, classes: Array) -> Array:
    """Return log q(y_v|x_v) up to a constant per vertex, (N, L) or (L,): an offset of the scores.

    A mapping gives labels their log-odds, 0 for those it leaves out; a callable gives, for an (N, D)
    matrix of observations, an (N, L) array with columns as in ``classes``.
    """
    if isinstance(measure, Mapping):
        index = index_of(classes)
        result = np.zeros(len(classes))
        for label, value in measure.items():
            if label not in index:
                raise InputError(f"measure has the unknown label {label!r}.")
            result[index[label]] = value
    else:
        if not callable(measure):
            raise InputError(
                f"measure is {shown(measure)}; it must be a mapping, a function or CliqueMeasures."
            )
        found = measure(observations)
        require_unmasked(found, "What measure gave")
        result = np.asarray(found, dtype=np.float64)
        expected: tuple[int, ...] = (observations.shape[0], len(classes))
        if result.shape != expected:
            raise InputError(f"measure gave an array of shape {result.shape}, expected {expected}.")
    if np.isnan(result).any() or (result == np.inf).any():
        raise InputError("measure gave NaN or infinity.")
    return result
