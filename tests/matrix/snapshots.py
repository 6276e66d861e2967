"""Copies of whatever users give, to see whether it was changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse


def snapshot(value: Any) -> Any:
    """Give something that compares equal as long as a value has not changed."""
    if isinstance(value, np.ndarray):
        plain = value.tolist() if value.dtype == object else value.tobytes()
        return (value.shape, str(value.dtype), plain)
    if isinstance(value, pd.DataFrame):
        return (list(value.columns), [str(t) for t in value.dtypes], value.to_numpy().tobytes())
    if sparse.issparse(value):
        parts = ("data", "row", "col", "indices", "indptr")
        return tuple(snapshot(getattr(value, part)) for part in parts if hasattr(value, part))
    if isinstance(value, dict):
        return {key: snapshot(one) for key, one in value.items()}
    if isinstance(value, list | tuple | pd.Series):
        return [snapshot(one) for one in value]
    if isinstance(value, str | bytes | int | float | bool | type(None)) or callable(value):
        return repr(value)
    return (type(value).__name__, snapshot(vars(value)) if hasattr(value, "__dict__") else repr(value))
