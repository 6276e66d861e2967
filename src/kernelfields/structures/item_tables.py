"""Features of parts of an item of X, such as spans or siblings: one table per item, given with it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..checks import require_unmasked
from ..errors import InputError


def read_table(where: str, given: Any, count: int, what: str, name: str) -> Any:
    """Return the features of as many parts of one item, (C, F); None where there are none.

    ``where`` names the item, ``what`` its parts, and ``name`` the table.
    """
    if given is None:
        return None
    require_unmasked(given, f"{where}: the table of {name}")
    try:
        table = given.tocsr() if sparse.issparse(given) else np.asarray(given)
        table = table if table.dtype in (np.float32, np.float64) else table.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{where}: features of {what} are not numbers.") from error
    if count == 0:
        return None
    if table.ndim != 2 or table.shape[0] != count:
        raise InputError(f"{where} has {count} {what} and {name} of shape {table.shape}.")
    if not np.isfinite(table.data if sparse.issparse(table) else table).all():
        raise InputError(f"{where}: features of {what} hold NaN or infinity.")
    return table


def stacked_tables(tables: list[Any]) -> Any:
    """Return tables one below the other."""
    if any(sparse.issparse(table) for table in tables):
        return sparse.vstack([sparse.csr_matrix(table) for table in tables], format="csr")
    return np.concatenate(tables)
