"""A million residues, seen through 2,000 landmarks."""

from __future__ import annotations

import numpy as np

from kernelfields import KernelCRF
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF

from ._million_side import residues_of
from ._proteins import GAMMA, PENALTY
from ._sharded_sides import Task


def task(quick: bool) -> Task:
    """Return the fit that is shared out."""
    X, lengths, labels = residues_of(2_000 if quick else 1_000_000)
    landmarks, iterations = (50, 3) if quick else (2_000, 20)

    def model() -> KernelCRF:
        basis = Nystroem(landmarks)
        settings = {"penalty": PENALTY, "tol": 1e-3, "max_iter": iterations, "random_state": 0}
        return KernelCRF(RBF(GAMMA), basis=basis, **settings)

    return Task(X, np.asarray(lengths), labels, model)
