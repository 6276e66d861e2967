"""Fits that start from nothing, and change nothing before they are done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from ..persistence.savable import Savable
from ..structures import Structure
from ..tables import STRUCTURES

Model = TypeVar("Model", bound=Savable)
Settings = ParamSpec("Settings")

Fit = Callable[Concatenate[Model, Settings], Model]


def starts_afresh(fit: Fit[Model, Settings]) -> Fit[Model, Settings]:
    """Let a fit see only settings, and let the model have what it learnt all at once, at the end.

    The fit runs on a copy that has learnt nothing. If it fails, the model stays as it was; if it succeeds,
    nothing is left of an earlier fit. A fit that goes on from an earlier one asks for it by `previous`.
    """

    @wraps(fit)
    def fitted(model: Model, /, *args: Settings.args, **settings: Settings.kwargs) -> Model:
        fresh = model._unfitted()
        vars(fresh)["_previous"] = model
        with _structure_of(model).in_its_words():
            fit(fresh, *args, **settings)
        model._become(fresh)
        return model

    return fitted


def _structure_of(model: Savable) -> Structure:
    """Return the structure that is set; chains where there is none, or none that a fit will accept."""
    given = getattr(model, "structure", "chain")
    return given if isinstance(given, Structure) else STRUCTURES.get(str(given), STRUCTURES["chain"])


def previous(model: Model) -> Model | None:
    """Return the fitted model that a running fit is about to replace; None if there is none."""
    before: Model | None = vars(model).get("_previous")
    return before if before is not None and hasattr(before, "classes_") else None
