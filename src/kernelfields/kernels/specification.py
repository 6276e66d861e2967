"""What users give as a kernel: made one by `as_kernel`, and checked on their observations by `check_gram`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from ..arrays import Array
from ..checks import shown, unknown_name
from ..errors import InputError
from ..lazy import Later
from ._base import Kernel
from .observations import MEDIAN, Observations, count, holds_vectors, squared_norms, take

NAMES: Mapping[str, Callable[[], Kernel]] = {
    "additive_chi2": Later(".kernels.chi_square:AdditiveChiSquare"),
    "chi2": Later(".kernels.chi_square:ExponentialChiSquare", gamma=MEDIAN),
    "constant": Later(".kernels.constant:Constant"),
    "cosine": Later(".kernels.cosine:Cosine"),
    "graph": Later(".kernels.graph:GraphKernel"),
    "hamming": Later(".kernels.hamming:Hamming"),
    "jaccard": Later(".kernels.jaccard:Jaccard"),
    "laplacian": Later(".kernels.laplacian:Laplacian", gamma=MEDIAN),
    "linear": Later(".kernels.linear:Linear"),
    "matern": Later(".kernels.matern:Matern", length_scale=MEDIAN),
    "poly": Later(".kernels.polynomial:Polynomial"),
    "polynomial": Later(".kernels.polynomial:Polynomial"),
    "rbf": Later(".kernels.rbf:RBF", gamma=MEDIAN),
    "spectrum": Later(".kernels.spectrum:Spectrum"),
    "subsequence": Later(".kernels.subsequence:Subsequence"),
    "tanimoto": Later(".kernels.tanimoto:Tanimoto"),
    "tree_fragments": Later(".kernels.tree_fragments:TreeFragments"),
}
"""Kernels that need no further settings, with their defaults."""


def as_kernel(specification: Any) -> Kernel:
    """Turn a name, a function or a kernel of scikit-learn into a kernel.

    Parameters
    ----------
    specification : Kernel, str, callable or sklearn.gaussian_process.kernels.Kernel
        A kernel is returned unchanged. A name stands for a kernel with its defaults; "rbf", "laplacian",
        "matern" and "chi2" for those whose width comes from the observations, as in ``RBF(gamma="median")``;
        or for a function of ``sklearn.metrics.pairwise`` that has no kernel here. A function takes matrices,
        as in ``SVC(kernel=function)``; wrap a function of two observations in ``PairFunction``.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF(gamma='median')
    >>> as_kernel("additive")
    Traceback (most recent call last):
        ...
    kernelfields.errors.InputError: kernel='additive' is not known; did you mean \
'additive_chi2'? Choose one of 'additive_chi2', 'chi2', \
'constant', 'cosine', 'graph', 'hamming', 'jaccard', 'laplacian', 'linear', 'matern', 'poly', 'polynomial', \
'rbf', 'spectrum', 'subsequence', 'tanimoto', 'tree_fragments', 'sigmoid'.
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
        from .gaussian_process import GaussianProcessKernel

        return GaussianProcessKernel(specification)
    if callable(specification):
        from .functions import MatrixFunction

        return MatrixFunction(specification)
    from .weighted import Weighted

    if isinstance(specification, Weighted):
        raise InputError(
            f"{shown(specification)} can be the whole kernel of KernelCRF or KernelLogisticRegression only: "
            "give a Kernel, a name or a function."
        )
    raise InputError(f"kernel={specification!r} must be a Kernel, a name or a function.")


def _named(name: str) -> Kernel:
    """Return the kernel of this name from this package, else the one of scikit-learn."""
    if name in NAMES:
        return NAMES[name]()
    others = _functions()
    if name in others:
        from .functions import MatrixFunction

        return MatrixFunction(others[name])
    raise unknown_name("kernel", name, [*NAMES, *others])


def _functions() -> dict[str, Callable[..., Any]]:
    """Return the kernel functions of scikit-learn that this package has no kernel for."""
    from sklearn.metrics.pairwise import PAIRWISE_KERNEL_FUNCTIONS

    return {name: function for name, function in PAIRWISE_KERNEL_FUNCTIONS.items() if name not in NAMES}


SAMPLE = 200
"""Number of observations to check."""


def check_gram(kernel: Kernel, X: Observations) -> None:
    """Refuse a function that is not a kernel on a sample of at most 200 observations.

    It is refused, in this order, for values of the wrong shape; NaN or infinity; k(x, x′) ≠ k(x′, x); a
    diagonal that differs from that of the block; values that depend on which other observations are given;
    an eigenvalue below zero. The sample is spread evenly over X. Numbers count as equal if they differ by at
    most √ε times the largest absolute value, ε the precision of the values (√ε = 1.5e-8 in float64, 3.5e-4
    in float32); an eigenvalue counts as below zero if it is below −√ε times the largest.

    Parameters
    ----------
    kernel : Kernel
        What is checked, its parameters included.
    X : observations
        As the kernel takes them. Errors count them from 0.

    Raises
    ------
    InputError
        One sentence that says what is wrong, and for which observations.

    Examples
    --------
    >>> from kernelfields.kernels import Linear, Precomputed
    >>> check_gram(Linear(), np.array([[1.0], [2.0]]))
    >>> check_gram(Precomputed([[1.0, 2.0], [2.0, 1.0]]), [0, 1])
    Traceback (most recent call last):
        ...
    kernelfields.errors.InputError: The kernel Precomputed(matrix=[[1.0, 2.0], [2.0, 1.0]]) is not \
positive semi-definite: its Gram matrix on 2 observations has the eigenvalue -1, with most weight on \
observations 0 and 1.
    """
    size = count(X)
    if size:
        chosen = np.unique(np.linspace(0, size - 1, min(SAMPLE, size)).astype(np.int64))
        _Check(kernel, X, chosen).run()


class _Check:
    """A kernel on a sample; ``names`` are the numbers of the sample's observations in X."""

    def __init__(self, kernel: Kernel, X: Observations, names: Array) -> None:
        self.kernel = kernel
        self.names = names
        self.alone = take(X, names[:1])
        self.sample = take(X, names)
        n = len(names)
        self.gram = self._values(kernel.block(self.sample, self.sample), (n, n), "block")

    def run(self) -> None:
        """Run the checks in order: each relies on those before it."""
        self._finite()
        # Equal numbers may differ by this.
        self.root = float(np.sqrt(np.finfo(self.gram.dtype).eps))
        self.slack = self.root * float(np.abs(self.gram).max())
        self._symmetric()
        self._diagonal()
        self._function_of_two()
        self._eigenvalues()

    def _refuse(self, what: str) -> NoReturn:
        name = " ".join(repr(self.kernel).split())  # long ones come in several lines
        raise InputError(f"The kernel {name} {what}.")

    def _values(self, found: Any, shape: tuple[int, ...], what: str) -> Array:
        values = np.asarray(found)
        if values.shape != shape:
            self._refuse(f"gives a {what} of shape {values.shape} where {shape} is needed")
        if values.dtype not in (np.float32, np.float64):
            self._refuse(f"gives a {what} of {values.dtype} where float32 or float64 is needed")
        return values

    def _finite(self) -> None:
        bad = np.argwhere(~np.isfinite(self.gram))
        if len(bad):
            i, j = bad[0]
            self._refuse(f"gives {self.gram[i, j]} for observations {self.names[i]} and {self.names[j]}")

    def _symmetric(self) -> None:
        off = np.abs(self.gram - self.gram.T)
        i, j = np.unravel_index(off.argmax(), off.shape)
        if off[i, j] > self.slack:
            self._refuse(
                f"is not symmetric: it gives {self.gram[i, j]:g} for observations {self.names[i]} and"
                f" {self.names[j]}, but {self.gram[j, i]:g} for {self.names[j]} and {self.names[i]}"
            )

    def _diagonal(self) -> None:
        found = self._values(self.kernel.diagonal(self.sample), (len(self.names),), "diagonal")
        off = np.abs(found - self.gram.diagonal())
        i = off.argmax()
        if not off[i] <= self.slack:
            self._refuse_rounding(i, float(found[i]))
            self._refuse(
                f"gives {found[i]:g} on its diagonal, but {self.gram[i, i]:g} in its Gram matrix,"
                f" for observation {self.names[i]}"
            )

    def _refuse_rounding(self, i: Any, expected: float) -> None:
        """Refuse long vectors: distances come from inner products, which leaves them few digits."""
        if not holds_vectors(self.sample):
            return
        one = take(self.sample, np.array([i]))
        length = float(np.sqrt(squared_norms(one)[0]))
        short = one / max(length, 1.0)
        if abs(self.kernel.diagonal(short)[0] - self.kernel.block(short, short)[0, 0]) <= self.root:
            self._refuse(
                f"loses its digits on vectors as long as observation {self.names[i]}, of length {length:.2g}:"
                f" for it and itself {self.gram.dtype} gives {self.gram[i, i]:g} instead of {expected:g};"
                " centre and scale the columns, or let the data choose the width, as gamma='median' does"
            )

    def _function_of_two(self) -> None:
        """Refuse values that depend on other observations, as those of a kernel that standardises X do."""
        block = self.kernel.block(self.alone, self.sample)
        found = self._values(block, (1, len(self.names)), "block")[0]
        off = np.abs(found - self.gram[0])
        j = off.argmax()
        if not off[j] <= self.slack:
            self._refuse(
                f"is not a function of two observations: for {self.names[0]} and {self.names[j]} it gives"
                f" {self.gram[0, j]:g} or {found[j]:g}, depending on the other observations"
            )

    def _eigenvalues(self) -> None:
        gram = self.gram.astype(np.float64)
        # No diagonal entry exceeds the largest eigenvalue, so this is never too lenient; and quick.
        if _has_cholesky_factor(gram, self.root * float(gram.diagonal().max())):
            return
        values, vectors = np.linalg.eigh(gram)
        if values[0] >= -self.root * np.abs(values).max():
            return
        heaviest = self.names[np.argsort(-np.abs(vectors[:, 0]), kind="stable")[:3]]
        *most, last = map(str, heaviest)
        where = f"observations {', '.join(most)} and {last}" if most else f"observation {last}"
        self._refuse(
            f"is not positive semi-definite: its Gram matrix on {len(self.names)} observations has the"
            f" eigenvalue {values[0]:.3g}, with most weight on {where}"
        )


def _has_cholesky_factor(gram: Array, shift: float) -> bool:
    """Return whether all eigenvalues exceed −shift."""
    try:
        np.linalg.cholesky(gram + shift * np.eye(len(gram)))
    except np.linalg.LinAlgError:
        return False
    return True
