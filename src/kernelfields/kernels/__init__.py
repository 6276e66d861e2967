"""Kernels, one per file."""

from ._base import Kernel, ProductKernel
from .linear import Linear
from .polynomial import Polynomial
from .rbf import RBF

__all__ = ["RBF", "Kernel", "Linear", "Polynomial", "ProductKernel"]
