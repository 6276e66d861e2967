"""Arguments of structures, as the core takes them; what it cannot take is refused in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..checks import never_falls, require_whole, shown
from ..errors import InputError
from ..memory import require_memory

MOST_LABELS = 2**31 - 1
"""Labels are numbers of 32 bits."""


def require_offsets(offsets: npt.ArrayLike) -> Array:
    """Return the offsets of a ragged batch as int64, from 0 on and never falling."""
    result = whole_numbers("offsets", offsets)
    if len(result) == 0 or result[0] != 0 or not never_falls(result):
        raise InputError("offsets must start with 0 and never fall.")
    return result


def require_labels(labels: npt.ArrayLike, positions: int, n_labels: int) -> Array:
    """Return one label for every vertex, as the core wants them."""
    given = np.asarray(labels)
    if given.shape != (positions,):
        raise InputError(f"labels have shape {given.shape}, expected ({positions},): one for every vertex.")
    result = whole_numbers("labels", given)
    wrong = np.flatnonzero((result < 0) | (result >= n_labels))
    if wrong.size:
        v = int(wrong[0])
        raise InputError(f"The label of vertex {v} is {result[v]}, expected 0 to {n_labels - 1}.")
    return result.astype(np.int32)


def require_weights(weights: npt.ArrayLike | None, instances: int) -> Array | None:
    """Return one weight for every instance, in double; None stays None."""
    if weights is None:
        return None
    given = np.asarray(weights)
    if given.dtype.kind not in "biuf" or given.shape != (instances,):
        raise InputError(
            f"weights are {given.dtype} of shape {given.shape}, expected numbers of shape ({instances},)."
        )
    return np.ascontiguousarray(given, dtype=np.float64)


def require_ids(ids: npt.ArrayLike, instances: int) -> Array:
    """Return numbers of instances."""
    result = whole_numbers("ids", ids)
    wrong = np.flatnonzero((result < 0) | (result >= instances))
    if wrong.size:
        raise InputError(f"ids have the instance {result[wrong[0]]}, expected 0 to {instances - 1}.")
    return result


def require_draws(count: Any, seed: Any, positions: int) -> tuple[int, int]:
    """Return how many labellings are to be drawn, and a seed."""
    draws = require_whole("count", count, 0)
    require_memory(f"A count of {draws} draws", 4 * draws * positions)
    return draws, require_whole("seed", seed, 0)


def require_best(k: Any, positions: int, instances: int, states: int) -> int:
    """Return how many labellings are to be found, which takes lists of so many at each of the states."""
    best = require_whole("k", k, 1, 2**31 - 1)
    require_memory(f"A list of k={best} labellings", best * (4 * positions + 8 * instances + 16 * states))
    return best


def whole_numbers(name: str, given: npt.ArrayLike) -> Array:
    """Return a vector of whole numbers as int64; an empty one may be of any type."""
    result = np.asarray(given)
    if result.ndim != 1 or (result.size and result.dtype.kind not in "iu"):
        raise InputError(f"{name} are {shown(given)}; they must be a vector of whole numbers.")
    if result.dtype == np.uint64 and result.size and result.max() > np.iinfo(np.int64).max:
        raise InputError(f"{name} have {result.max()}, which is more than {np.iinfo(np.int64).max}.")
    return np.ascontiguousarray(result, dtype=np.int64)


def score_array(scores: Any, clique: str, shape: tuple[int, ...], dtype: npt.DTypeLike | None) -> Array:
    """Return the scores of a clique type, contiguous, in single or double precision, of that shape."""
    try:
        given = np.asarray(scores[clique])
    except (KeyError, IndexError, TypeError):
        raise InputError(f"Scores have no array {clique!r}.") from None
    if given.shape != shape:
        raise InputError(f"{clique} scores have shape {given.shape}, expected {shape}.")
    if given.dtype.kind not in "biuf":
        raise InputError(f"{clique} scores are {given.dtype}, expected numbers.")
    wanted = given.dtype if dtype is None else np.dtype(dtype)
    return np.ascontiguousarray(given, wanted if wanted in (np.float32, np.float64) else np.float64)
