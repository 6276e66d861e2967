"""What cliques see of the input: features that a structure brings along, or a view of their members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import unknown_name
from ..errors import InputError
from ..spaces import concatenated, difference, mean, run_mean
from ..structures import StructureBatch

FIRST, OWN, RUN = "first", "own", "run"
BY_MEMBERS: Mapping[str, Callable[[Any, Array], Any]] = {
    "all": concatenated,
    "difference": difference,
    "mean": mean,
    RUN: run_mean,
}
VIEWS = (FIRST, OWN, *BY_MEMBERS)
"""The observation of the first member; features of the clique itself; those of all members side by side, the
last minus the first, their mean, or the mean over all positions from the first to the last."""


def view_of(batch: StructureBatch, on: str, view: str | None) -> str:
    """Return a view, or if None is given the one that suits a clique type.

    Features that the structure brings along come first; then means over segments, and the observations of
    first members.
    """
    if view is not None:
        return view
    if on in batch.observations:
        return OWN
    return RUN if on == "segment" else FIRST


def observations_of(batch: StructureBatch, on: str, view: str, features: Any) -> tuple[Any, Array | None]:
    """Return observations, and for every clique the row that it sees; None where these are the same.

    Rows of first members point into the observations of vertices: nothing is copied, and functions of
    vertices and of edges share one Gram matrix.
    """
    if view == OWN:
        if on not in batch.observations:
            known = ", ".join(map(repr, batch.observations)) or "none"
            raise InputError(f"{type(batch).__name__} brings features for {known}, not for {on!r}.")
        return batch.observations[on].astype(features.dtype, copy=False), None
    if on == batch.answer and view == FIRST:
        return features, None
    members = batch.cliques[on].members
    if view == FIRST:
        if members.shape[1] == 0 or (len(members) and (members[:, 0] < 0).any()):
            raise InputError(f"{on!r} has cliques without a first vertex: choose another view.")
        return features, members[:, 0]
    return BY_MEMBERS[view](features, members), None


def require_view(name: str, value: Any) -> None:
    """Refuse what is no view."""
    if value is not None and value not in VIEWS:
        raise unknown_name(name, value, VIEWS)


def count_rows(observations: Any) -> Array:
    """Return 0, 1, … for observations that cliques see one by one."""
    return np.arange(observations.shape[0])
