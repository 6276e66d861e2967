"""Kernels that look at the observations of a training set before they compare any."""

from __future__ import annotations

from abc import abstractmethod
from typing import NoReturn

from ..arrays import Array
from ..checks import shown
from ..errors import InputError
from ._base import Kernel
from .observations import Observations


class DataKernel(Kernel):
    """The settings of a kernel that is learnt from observations, without their labels.

    `on` makes the kernel: it is the only thing to ask of this one. Estimators call it with the
    observations that they are fitted to and those given without labels, and keep the kernel that it
    returns as ``kernel_``.
    """

    @property
    def looks_first(self) -> bool:
        """It does."""
        return True

    @property
    def uses_unlabelled(self) -> bool:
        """They are."""
        return True

    @property
    def takes_missing(self) -> bool:
        """It does not, unless it says so: what it looks at first must be numbers."""
        return False

    @abstractmethod
    def on(self, observations: Observations) -> Kernel:
        """Return the kernel that these observations make of the settings, a function of two observations."""

    def block(self, X: Observations, Y: Observations) -> Array:
        """Refuse: there are no values before `on`."""
        refuse(self)

    def diagonal(self, X: Observations) -> Array:
        """Refuse: there are no values before `on`."""
        refuse(self)


def refuse(kernel: Kernel) -> NoReturn:
    """Say that a kernel has no values yet."""
    raise InputError(
        f"{shown(kernel)} has to look at observations first: use kernel.on(observations), as estimators do."
    )
