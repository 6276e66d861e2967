"""Kernels of scikit-learn as parts of a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import InputError, ModelFormatError
from ..persistence.objects import Check, Parts, StoredClass, settings_of

FOREIGN = (
    "CompoundKernel",
    "ConstantKernel",
    "DotProduct",
    "ExpSineSquared",
    "Exponentiation",
    "Matern",
    "PairwiseKernel",
    "Product",
    "RBF",
    "RationalQuadratic",
    "Sum",
    "WhiteKernel",
)
"""Kernels of scikit-learn's Gaussian processes."""


def _function_parts(found: Any) -> Parts:
    """Return the name of a function of scikit-learn; others are code, which a file must not hold."""
    from .functions import PairFunction

    names = [name for name, function in _functions().items() if function is found.function]
    if isinstance(found, PairFunction) or not names:
        raise InputError("The kernel is a Python function, which a model file cannot hold.")
    return {"name": names[0], "parameters": found.parameters}


def _functions() -> Mapping[str, Any]:
    from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

    return PAIRWISE_KERNEL_FUNCTIONS


def _function(parts: Parts, _: Check) -> Any:
    from .functions import MatrixFunction

    functions = _functions()
    if parts["name"] not in functions:
        raise ModelFormatError(f"scikit-learn has no kernel function {parts['name']!r}.")
    return MatrixFunction(functions[parts["name"]], parts["parameters"])


def _gaussian_process(name: str) -> StoredClass:
    """Return the row of a kernel of scikit-learn, which is imported when a file needs it."""

    def make(parts: Parts, check: Check) -> Any:
        from sklearn.gaussian_process import kernels

        cls = getattr(kernels, name)
        return cls(**check(cls, parts))

    return StoredClass(f"sklearn.{name}", f"sklearn.gaussian_process.kernels:{name}", settings_of, make)


SAVED = (
    StoredClass("FunctionOfSklearn", ".kernels.functions:PairFunction", _function_parts, _function),
    StoredClass("FunctionOfSklearn", ".kernels.functions:MatrixFunction", _function_parts, _function),
    *map(_gaussian_process, FOREIGN),
)
