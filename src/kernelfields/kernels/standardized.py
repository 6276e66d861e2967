"""A kernel on standardised observations."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from ..checks import require_flag
from ..errors import InputError
from ._base import Kernel
from .data_kernel import DataKernel
from .observations import Observations, rows
from .rescaled import Rescaled


class Standardized(DataKernel):
    """k₁ on observations whose features have mean 0 and variance 1 over the training set.

    Mean and standard deviation are those of all observations, labelled or not, with repetitions; a feature
    that never varies is only centred. What ``StandardScaler`` does before scikit-learn's models, but part
    of the model, so that it is learnt anew in every fold, and kept in its file.

    Parameters
    ----------
    kernel : Kernel
        k₁, which looks at standardised observations, also if it looks at them first.
    centre : bool
        Whether to subtract means, which sparse observations do not allow; kernels of distances, as `RBF`,
        are the same without.
    scale : bool
        Whether to divide by standard deviations.

    Examples
    --------
    >>> from kernelfields.kernels import Linear
    >>> Standardized(Linear()).on([[0.0], [4.0]])([[0.0], [4.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    def __init__(self, kernel: Kernel, centre: bool = True, scale: bool = True) -> None:
        self.kernel = kernel
        self.centre = centre
        self.scale = scale

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """As k₁."""
        return self.kernel.universal

    def on(self, observations: Observations) -> Kernel:
        """Return the kernel with the means and deviations of these observations."""
        centre, scale = (require_flag(name, getattr(self, name)) for name in ("centre", "scale"))
        found = rows(observations)
        if centre and sp.issparse(found):
            raise InputError("A kernel that centres does not take sparse observations: set centre=False.")
        count = max(1, found.shape[0])
        double = found.astype(np.float64)
        means = np.asarray(double.sum(axis=0)).ravel() / count
        deviations = None
        if scale:
            # of sparse observations too: entries that are not stored are as far from the mean as it is from 0
            squares = double.multiply(double).sum(axis=0) if sp.issparse(double) else None
            variances = (
                np.square(double - means).sum(axis=0) / count
                if squares is None
                else np.maximum(np.asarray(squares).ravel() / count - means**2, 0.0)
            )
            deviations = np.sqrt(variances)
            deviations[deviations <= 1e-12 * np.abs(means)] = 1.0  # rounding alone
        return Rescaled(self.kernel, means if centre else None, deviations).on(observations)
