"""A kernel CRF on a million residues in a process of its own.

python -m benchmarks._million_side RESIDUES LANDMARKS
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

from ._conll2000 import ROOT
from ._proteins import GAMMA, PENALTY, read

NOISE = 0.05
"""Standard deviation of what is added to the profiles of further copies."""


def measured(residues: int, landmarks: int) -> dict[str, float]:
    """Run it."""
    call = [sys.executable, "-m", __spec__.name, str(residues), str(landmarks)]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def residues_of(count: int) -> tuple[Any, list[int], list[list[str]]]:
    """JPred4 again and again, with a little noise, until there are so many residues."""
    given = read(*range(1, 8), chains=None if count > 100_000 else 20)
    copies = -(-count // len(given.X))
    random = np.random.default_rng(0)
    X = np.empty((copies * len(given.X), given.X.shape[1]), np.float32)
    for k in range(copies):
        part = X[k * len(given.X) : (k + 1) * len(given.X)]
        part[:] = given.X
        for begin in range(0, len(part) if k else 0, 10_000):
            block = part[begin : begin + 10_000]
            block += NOISE * random.standard_normal(block.shape, dtype=np.float32)
    return X, given.lengths * copies, given.labels * copies


def _main(count: int, landmarks: int) -> None:
    from kernelfields import KernelCRF
    from kernelfields.approximation import Nystroem
    from kernelfields.kernels import RBF

    warnings.simplefilter("ignore")
    X, lengths, y = residues_of(count)
    started = time.perf_counter()
    model = KernelCRF(RBF(GAMMA), penalty=PENALTY, basis=Nystroem(landmarks), tol=1e-2, random_state=0).fit(
        X, y, lengths=lengths
    )
    found = {
        "residues": len(X),
        "seconds": time.perf_counter() - started,
        "iterations": model.n_iter_,
        "relative_gap": model.certificate_.relative_gap,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
