"""Whether two objects say the same."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np
from scipy import sparse

FUNCTIONS = (type, np.ufunc, BuiltinFunctionType, FunctionType, MethodType)


def same_content(left: Any, right: Any) -> bool:
    """Whether two settings are equal, whatever they are made of; functions only if they are one.

    Arrays, also inside of objects, are compared number by number, objects by class and attributes.
    """
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if sparse.issparse(left):
        return left.shape == right.shape and left.dtype == right.dtype and (left != right).nnz == 0
    if isinstance(left, np.ndarray):
        same = left.shape == right.shape and left.dtype == right.dtype
        return same and np.array_equal(left, right, equal_nan=left.dtype.kind in "fc")
    if isinstance(left, dict):
        return list(left) == list(right) and all(same_content(left[key], right[key]) for key in left)
    if isinstance(left, list | tuple):
        pairs = zip(left, right, strict=False)
        return len(left) == len(right) and all(same_content(a, b) for a, b in pairs)
    if isinstance(left, FUNCTIONS) or not hasattr(left, "__dict__"):
        return bool(left == right)
    return same_content(vars(left), vars(right))
