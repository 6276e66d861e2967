"""A kernel on observations that were moved and rescaled, feature by feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..arrays import Array
from ..checks import require_unmasked
from ..errors import InputError
from ._base import Kernel, with_parts
from .observations import Observations, rows


class Rescaled(Kernel):
    """k(x, x′) = k₁((x − m)/s, (x′ − m)/s), m and s of every feature: what `Standardized` makes of itself.

    Universal if k₁ is.

    Parameters
    ----------
    kernel : Kernel
        k₁.
    centre : (D,) array, optional
        m; zero if not given, and not for sparse observations, which it would fill.
    scale : (D,) array, optional
        s > 0; one if not given.

    Examples
    --------
    >>> from kernelfields.kernels import Linear
    >>> Rescaled(Linear(), centre=[1.0, 0.0], scale=[1.0, 2.0])([[2.0, 4.0]])
    array([[5.]])
    """

    def __init__(self, kernel: Kernel, centre: Any = None, scale: Any = None) -> None:
        self.kernel = kernel
        self.centre = centre
        self.scale = scale

    @property
    def universal(self) -> bool:  # type: ignore[override]
        """As k₁."""
        return self.kernel.universal

    def on(self, observations: Observations) -> Kernel:
        """Return k₁ as it is on what it sees."""
        return with_parts(self, {"kernel": self.kernel.on(self._seen(observations))})

    def block(self, X: Observations, Y: Observations) -> Array:
        """Return k₁ of what it sees."""
        left = self._seen(X)
        return self.kernel.block(left, left if Y is X else self._seen(Y))

    def diagonal(self, X: Observations) -> Array:
        """Return k₁ of what it sees."""
        return self.kernel.diagonal(self._seen(X))

    def _seen(self, X: Observations) -> Any:
        """Return (x − m)/s in the precision of the observations."""
        found = rows(X)
        centre, factors = (self._setting(name, found) for name in ("centre", "scale"))
        if factors is not None and not (factors > 0).all():
            raise InputError("scale of Rescaled has numbers that are not above 0.")
        if sp.issparse(found):
            if centre is not None:
                raise InputError("A kernel that centres does not take sparse observations: set centre=False.")
            return found if factors is None else (found @ sp.diags_array(1 / factors)).tocsr()
        moved = found if centre is None else found - centre
        return moved if factors is None else moved / factors

    def _setting(self, name: str, found: Any) -> Array | None:
        """Return one number per feature."""
        given = getattr(self, name)
        if given is None:
            return None
        require_unmasked(given, f"{name} of Rescaled")
        values = np.asarray(given, dtype=found.dtype)
        if values.shape != (found.shape[1],):
            raise InputError(
                f"{name} of Rescaled has shape {values.shape}, expected ({found.shape[1]},): one per feature."
            )
        return values
