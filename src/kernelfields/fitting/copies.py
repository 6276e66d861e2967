"""Copies of estimators that are fitted on the side, without anybody watching."""

from __future__ import annotations

from typing import Any

SILENT = {"callback": None, "verbose": 0, "checkpoint": None}
"""Settings of those who watch, or keep, a fit."""


def silent_copy(model: Any, **settings: Any) -> Any:
    """Return an unfitted copy of an estimator with other settings, nested ones included."""
    from sklearn.base import clone

    copy = clone(model)
    ends = {name: name.rpartition("__")[2] for name in copy.get_params()}
    quiet = {name: SILENT[end] for name, end in ends.items() if end in SILENT}
    return copy.set_params(**{**quiet, **settings})
