"""Composite kernels as they are written: ``2.0 * RBF() + Linear()``."""

from __future__ import annotations

from enum import IntEnum
from typing import Any


class Binding(IntEnum):
    """How firmly an operator binds."""

    SUM = 1
    PRODUCT = 2
    POWER = 3
    CALL = 4


def written(kernel: Any, within: Binding) -> str:
    """The kernel as an operand, in brackets if it binds less firmly than what is around it."""
    binding = getattr(kernel, "binding", Binding.CALL)
    return f"({kernel!r})" if binding < within else repr(kernel)
