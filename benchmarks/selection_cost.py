"""Selected basis functions beside as many of random landmarks: JPred4, window 15, RBF, 100,000 residues.

A landmark gives a function to every label; as many functions are selected, by the share in the certified
gap. What is asked for is that selection takes at most half as long again as the fit with landmarks, at no
lower accuracy on the blind chains.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from kernelfields import KernelCRF
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF
from kernelfields.selection import SGPS

from ._proteins import GAMMA, PENALTY, Residues, read
from ._run import Bar, Result, machine


def run(quick: bool) -> Result:
    residues, landmarks = (2_000, 20) if quick else (100_000, 300)
    train = read(1, 2, 3, 4, 5, 6, 7).first(residues)
    test = read(0, chains=3 if quick else None)
    functions = 3 * landmarks
    rows = {
        "landmarks": _row(train, test, basis=Nystroem(landmarks)),
        "selected": _row(train, test, basis=SGPS(size=functions, step=max(1, functions // 10))),
    }
    ratio = rows["selected"]["seconds"] / rows["landmarks"]["seconds"]
    loss = rows["landmarks"]["right %"] - rows["selected"]["right %"]
    bars = [Bar("selected_over_nystroem", ratio, at_most=1.5), Bar("points_lost", loss, at_most=0.0)]
    table = [{"functions": name, **row} for name, row in rows.items()]
    return Result("selection_cost", bars, {"machine": machine(), "residues": len(train.X), "fits": table})


def _row(train: Residues, test: Residues, **settings: Any) -> dict[str, float]:
    model = KernelCRF(RBF(GAMMA), penalty=PENALTY, tol=1e-2, random_state=0, **settings)
    started = time.perf_counter()
    model.fit(train.X, train.labels, lengths=train.lengths)
    seconds = time.perf_counter() - started
    answers = model.predict(test.X, lengths=test.lengths)
    right = np.concatenate([np.equal(a, b) for a, b in zip(answers, test.labels, strict=True)])
    return {"seconds": seconds, "right %": 100 * float(right.mean()), "basis": len(model.basis_)}
