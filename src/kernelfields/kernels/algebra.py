"""What + and * mean for kernels and numbers."""

from __future__ import annotations

from numbers import Real
from typing import Any

from ._base import Kernel
from .constant import Constant
from .product import Product
from .scaled import Scaled
from .specification import as_kernel
from .sum import Sum


def add(left: Any, right: Any) -> Kernel:
    """Return k + k′; a number is a constant kernel, and 0 is ignored, so that ``sum(kernels)`` works."""
    if _is_zero(left):
        return _operand(right)
    return _operand(left) if _is_zero(right) else Sum(_operand(left), _operand(right))


def multiply(left: Any, right: Any) -> Kernel:
    """Return k · k′, or c · k for a number c."""
    if isinstance(left, Real):
        return Scaled(_operand(right), float(left))
    if isinstance(right, Real):
        return Scaled(_operand(left), float(right))
    return Product(_operand(left), _operand(right))


def _operand(value: Any) -> Kernel:
    return Constant(float(value)) if isinstance(value, Real) else as_kernel(value)


def _is_zero(value: Any) -> bool:
    return isinstance(value, Real) and value == 0
