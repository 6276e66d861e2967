"""Ways to rescale scores, as the command line names them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError, warn_user

SCALINGS: Mapping[str, Mapping[str, str]] = {
    "temperature": {"method": "temperature", "likelihood": "positions"},
    "sequences": {"method": "temperature", "likelihood": "sequences"},
    "vector": {"method": "vector"},
}
"""Options of `recalibrate`: a temperature for the labels of positions, which is what commands print, or for
whole sequences; or one with a bias for every label."""
FOLDS = 5
HOT = 2.0
"""Temperatures above it flatten what models know of neighbours, too, and cost labels."""


def scaling_options(name: str) -> dict[str, str]:
    """Return the options of `recalibrate` that go by a name."""
    if name not in SCALINGS:
        raise InputError(f"--recalibrate is {name!r}; it must be one of {', '.join(SCALINGS)}.")
    return dict(SCALINGS[name])


def recalibrate_by_folds(model: Any, X: list[Any], y: list[Any], groups: list[Any] | None, name: str) -> str:
    """Rescale a model by folds of its training set; return what came of it."""
    options = scaling_options(name)
    if options["method"] == "vector":
        raise InputError("--recalibrate vector needs held-out data: see kf calibrate.")
    count = len(X) if groups is None else len(set(groups))
    if count < 2:
        raise InputError("--recalibrate holds out folds, and there is one sequence or group only.")
    model.recalibrate(X, y, folds=min(FOLDS, count), groups=groups, **options)
    found = model.scaling_
    if found.temperature > HOT:
        too_sure = f"A temperature of {found.temperature:.3g} says that the model is far too sure of itself"
        warn_user(f"{too_sure}: a larger --penalty, or --tune, is the better remedy.", UserWarning)
    what = "label" if options["likelihood"] == "positions" else "sequence"
    return (
        f"Temperature {found.temperature:.3g} by {min(FOLDS, count)} folds: log-likelihood of a {what} "
        f"{found.before:.4f} before, {found.after:.4f} after."
    )
