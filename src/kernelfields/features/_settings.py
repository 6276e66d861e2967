"""The text form of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def unusual(extractor: Any, usual: Mapping[str, Any]) -> list[str]:
    """Return ``name=value`` of settings that differ from their defaults, the type of the matrix included."""
    kept = {name: getattr(extractor, name) for name in usual}
    shown = [f"{name}={value!r}" for name, value in kept.items() if value != usual[name]]
    return shown if extractor.dtype == np.float64 else [*shown, f"dtype={extractor.dtype.name!r}"]
