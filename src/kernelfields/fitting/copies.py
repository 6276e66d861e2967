"""Copies of estimators that are fitted on the side, without anybody watching."""

from __future__ import annotations

from typing import Any

SILENT = {"callback": None, "verbose": 0, "checkpoint": None}
"""Settings of those who watch, or keep, a fit; callbacks may be of a kind that cannot be copied."""


def silent_copy(model: Any, **settings: Any) -> Any:
    """Return an unfitted copy of an estimator with other settings, nested ones included."""
    from sklearn.base import clone

    known = model.get_params(deep=False)
    quiet = {name: value for name, value in SILENT.items() if name in known}
    copy = clone(type(model)(**{**known, **quiet}))
    ends = {name: name.rpartition("__")[2] for name in copy.get_params() if "__" in name}
    within = {name: SILENT[end] for name, end in ends.items() if end in SILENT}
    return copy.set_params(**{**within, **settings})
