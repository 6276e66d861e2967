"""Turns what users write into a kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InputError
from ._base import Kernel
from .chi_square import AdditiveChiSquare, ExponentialChiSquare
from .constant import Constant
from .cosine import Cosine
from .functions import MatrixFunction
from .gaussian_process import GaussianProcessKernel
from .hamming import Hamming
from .jaccard import Jaccard
from .laplacian import Laplacian
from .linear import Linear
from .matern import Matern
from .polynomial import Polynomial
from .rbf import RBF
from .spectrum import Spectrum
from .subsequence import Subsequence
from .tanimoto import Tanimoto

NAMES: Mapping[str, Callable[[], Kernel]] = {
    "additive_chi2": AdditiveChiSquare,
    "chi2": ExponentialChiSquare,
    "constant": Constant,
    "cosine": Cosine,
    "hamming": Hamming,
    "jaccard": Jaccard,
    "laplacian": Laplacian,
    "linear": Linear,
    "matern": Matern,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": RBF,
    "spectrum": Spectrum,
    "subsequence": Subsequence,
    "tanimoto": Tanimoto,
}
"""Kernels that need no further settings, with their defaults."""


def as_kernel(specification: Any) -> Kernel:
    """Turn a name, a function or a kernel of scikit-learn into a kernel.

    Parameters
    ----------
    specification : Kernel, str, callable or sklearn.gaussian_process.kernels.Kernel
        A kernel is returned unchanged. A name stands for a kernel with its defaults (γ = 1 and so on, not
        those of scikit-learn, which depend on the data), or for a function of ``sklearn.metrics.pairwise``
        that has no kernel here. A function takes matrices, as in ``SVC(kernel=function)``; wrap a function
        of two observations in ``PairFunction``.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF()
    >>> as_kernel("tree")
    Traceback (most recent call last):
        ...
    kernelfields.errors.InputError: kernel='tree' is not known; choose one of 'additive_chi2', 'chi2', \
'constant', 'cosine', 'hamming', 'jaccard', 'laplacian', 'linear', 'matern', 'poly', 'polynomial', 'rbf', \
'spectrum', 'subsequence', 'tanimoto' or 'sigmoid'.
    """
    if isinstance(specification, Kernel):
        return specification
    if isinstance(specification, str):
        return _named(specification)
    if isinstance(specification, type):
        name = specification.__name__
        raise InputError(f"kernel={name} is a class, but must be an object: write {name}().")
    from sklearn.gaussian_process.kernels import Kernel as GaussianProcess

    if isinstance(specification, GaussianProcess):
        return GaussianProcessKernel(specification)
    if callable(specification):
        return MatrixFunction(specification)
    raise InputError(f"kernel={specification!r} must be a Kernel, a name or a function.")


def _named(name: str) -> Kernel:
    """Return the kernel of this name from this package, else the one of scikit-learn."""
    if name in NAMES:
        return NAMES[name]()
    others = _functions()
    if name in others:
        return MatrixFunction(others[name])
    *most, last = map(repr, [*NAMES, *others])
    raise InputError(f"kernel={name!r} is not known; choose one of {', '.join(most)} or {last}.")


def _functions() -> dict[str, Callable[..., Any]]:
    """Return the kernel functions of scikit-learn that this package has no kernel for."""
    from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

    return {name: function for name, function in PAIRWISE_KERNEL_FUNCTIONS.items() if name not in NAMES}
