"""Composite kernels as expressions: ``2.0 * RBF() + Linear()``."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class Binding(IntEnum):
    """Precedence of operators."""

    SUM = 1
    PRODUCT = 2
    POWER = 3
    CALL = 4


def written(kernel: Any, within: Binding) -> str:
    """Return the kernel as an operand, in brackets if its operator binds less than the one around it."""
    binding = getattr(kernel, "binding", Binding.CALL)
    return f"({kernel!r})" if binding < within else repr(kernel)
