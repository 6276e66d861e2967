"""Fields without labels, fitted from several starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..checks import Check, one_of, proper_share, require_not_negative, require_settings, shown, whole
from ..data.reading import read_to_fit
from ..data.seeds import random_state
from ..errors import InputError
from ..fitting.settings import CHECKS
from ..kernels import as_kernel
from ..losses import InformationMaximisation
from ..observations import in_precision
from ..tables import structure_of
from .clusters import guessed_clusters, kernel_points, no_change, persistence, random_clusters
from .vertex_kernels import takes_objects

CLUSTER_CHECKS: Mapping[str, Check] = {
    **CHECKS,
    "n_clusters": whole(2, 10_000),
    "stay": proper_share,
    "balance": require_not_negative,
    "start": one_of(["kmeans", "random"]),
}


class Clusters(NamedTuple):
    """What several starts led to."""

    model: Any
    """The one with the lowest objective."""
    objectives: list[float]


def fit_clusters(
    settings: Any,
    make: Callable[..., Any],
    X: Any,
    y: Any,
    lengths: Any,
    sample_weight: Any,
    *,
    structure: Any,
    stay: float,
) -> Clusters:
    """Fit a model of clusters from every start; with ``stay`` = 1, of whole sequences.

    ``settings`` is the estimator that has them, ``make`` the class of the model.
    """
    name = type(settings).__name__
    if y is not None:
        raise InputError(f"y is {shown(y)}; {name} learns without labels, and takes None only.")
    require_settings(vars(settings), CLUSTER_CHECKS)
    verbatim, count = takes_objects(settings.kernel), settings.n_clusters
    structure = structure_of(structure)
    inputs, _ = read_to_fit(structure, settings.features, X, lengths, verbatim=verbatim)
    whole_ones, random = stay == 1, random_state(settings.random_state)
    items = int((np.diff(inputs.offsets) > 0).sum() if whole_ones else inputs.offsets[-1])
    if items < count:
        what = structure.words.items if whole_ones else structure.words.places
        raise InputError(f"X has {items} {what}, fewer than n_clusters={count}.")
    observations, offsets = in_precision(inputs.features, settings.dtype), inputs.offsets
    kernel, together = as_kernel(settings.kernel).on(observations), offsets if whole_ones else None
    by_size = settings.start == "random"
    points = None if by_size else kernel_points(kernel, observations, random)
    models = []
    for _ in range(settings.n_init):
        guess = (
            random_clusters(int(offsets[-1]), count, together, random)
            if points is None
            else guessed_clusters(points, count, together, random)
        )
        parts = [one.tolist() for one in np.split(guess, offsets[1:-1])]
        model = make(kernel, **_options(settings, structure, stay))
        guesses = structure.shaped(parts, inputs.links)
        models.append(model.fit(X, guesses, lengths=lengths, sample_weight=sample_weight))
    objectives = [model.objective_ for model in models]
    return Clusters(models[int(np.argmin(objectives))], objectives)


def _options(settings: Any, structure: Any, stay: float) -> dict[str, Any]:
    """Return the settings of a model of clusters."""
    count = settings.n_clusters
    handed_on = ("penalty", "features", "approximation", "tol", "max_iter", "dtype", "memory_limit")
    return {
        **{name: getattr(settings, name) for name in (*handed_on, "random_state", "verbose")},
        "structure": structure,
        "boundaries": False,
        "edges": False,
        "classes": list(range(count)),
        "loss": InformationMaximisation(float(settings.balance), by_instance=stay == 1),
        "base_measure": None if stay == 1 else persistence(float(stay), count),
        "constraints": no_change(count) if stay == 1 else None,
        "decoder": "posterior",
    }
