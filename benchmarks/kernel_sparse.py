"""Kernel CRFs with few basis functions: protein secondary structure, JPred4, window 15, RBF.

Fits with 2,500 landmarks beside scikit-learn's Nystroem + LogisticRegression, each alone in a process and to
the same relative distance from its own minimum; residues per second of prediction with 500 basis functions,
beside scikit-learn's SVC with the support vectors that it has; and how the time of a fit grows with the
number of residues, with that of basis functions, and SVC's with that of residues.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from itertools import chain as joined
from statistics import median
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernelfields import KernelCRF, Parts
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF

from ._conll2000 import ROOT
from ._proteins import GAMMA, PENALTY, Residues, read
from ._run import Bar, Result, Side, alternate, machine

SIDES = ("ours", "nystroem_logistic", "nystroem_sgd")
ITERATIONS = 20
"""Of the fits whose growth is measured: how many are needed is another question."""


def run(quick: bool) -> Result:
    rank, chains = (30, 4) if quick else (2500, None)
    rounds = dict.fromkeys(SIDES, 1)  # the logistic one fits many times anyway, to find its limit
    rounds["ours"] = 1 if quick else 3
    fits = {side: [_side(side, rank, seed, chains) for seed in range(rounds[side])] for side in SIDES}
    seconds = {side: median(fit["seconds"] for fit in found) for side, found in fits.items()}
    prediction = _prediction(quick)
    growth, by_basis, svc = _growth(quick), _growth_by_basis(quick), _svc_growth(quick)
    bars = [
        Bar(
            "protein_time_over_nystroem_logistic",
            seconds["ours"] / seconds["nystroem_logistic"],
            at_most=0.7,
        ),
        Bar("predict_residues_per_second", prediction["residues_per_second"], at_least=100_000),
        Bar("predict_speedup_svc", prediction["speedup_svc"], at_least=20),
        Bar("exponent_n", _exponent(growth, "residues"), at_most=1.1),
    ]
    table = [{"side": side, **fit} for side in SIDES for fit in fits[side]]
    details = {
        "machine": machine(),
        "fits": table,
        "prediction": prediction,
        "growth": growth,
        "growth_by_basis": by_basis,
        "exponent_basis": _exponent(by_basis, "basis"),
        "svc_growth": svc,
        "svc_seconds_extrapolated": _extrapolated(svc, table[0]["residues"]),
    }
    return Result("kernel_sparse", bars, details)


def _side(side: str, rank: int, seed: int, chains: int | None) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks._kernel_sparse_side", side, str(rank), str(seed)]
    command += [] if chains is None else [str(chains)]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return json.loads(output.splitlines()[-1])


def _prediction(quick: bool) -> dict[str, Any]:
    """Seconds per residue of the blind set, compact model and SVC trained on the same residues."""
    rank, residues, rounds = (20, 300, 2) if quick else (500, 10_000, 5)
    train, blind = read(1, chains=3 if quick else None).first(residues), read(0, chains=3 if quick else None)
    model = KernelCRF(
        RBF(GAMMA),
        penalty=PENALTY,
        basis=Nystroem(rank),
        random_state=0,
        parts=Parts(bias=None),
        decoder="posterior",
    )
    model.fit(train.X, train.labels, lengths=train.lengths)
    compact = model.compact()
    assert compact.predict(blind.X, lengths=blind.lengths) == model.predict(blind.X, lengths=blind.lengths)
    svc = SVC(C=1 / PENALTY, gamma=GAMMA).fit(train.X, list(joined.from_iterable(train.labels)))
    step = 1 if quick else 20  # it takes its time
    some, truth = blind.X[::step], np.array(list(joined.from_iterable(blind.labels)))[::step]
    times = alternate(
        {
            "ours": Side(lambda: compact.predict(blind.X, lengths=blind.lengths), threads=2),
            "svc": Side(lambda: svc.predict(some), threads=2),
        },
        rounds,
    )
    ours, theirs = times["ours"] / len(blind.X), times["svc"] / len(some)
    return {
        "residues_per_second": 1 / ours,
        "svc_residues_per_second": 1 / theirs,
        "speedup_svc": theirs / ours,
        "q3": 100 * compact.score(blind.X, blind.labels, lengths=blind.lengths),
        "svc_q3": 100 * float(np.mean(svc.predict(some) == truth)),
        "basis": len(compact.basis_),
        "support_vectors": int(svc.n_support_.sum()),
    }


def _growth(quick: bool) -> list[dict[str, float]]:
    """Seconds of a fit at a fixed basis and a fixed number of iterations."""
    rank, rounds = (20, 1) if quick else (500, 3)
    sizes = (200, 400, 800) if quick else (10_000, 20_000, 50_000, 100_000, 200_000)
    everything = read(1, chains=12) if quick else read(*range(1, 8))
    seconds: dict[int, list[float]] = {size: [] for size in sizes}
    for _ in range(rounds + 1):  # one ahead that does not count
        for size in sizes:
            seconds[size].append(_fit_seconds(everything.first(size), rank))
    return [{"residues": size, "seconds": median(found[1:])} for size, found in seconds.items()]


def _growth_by_basis(quick: bool) -> list[dict[str, float]]:
    """The same at a fixed number of residues."""
    ranks, size = ((10, 20), 400) if quick else ((125, 250, 500, 1000, 2000), 50_000)
    train = read(*range(1, 8), chains=12 if quick else None).first(size)
    return [{"basis": rank, "seconds": _fit_seconds(train, rank)} for rank in ranks]


def _svc_growth(quick: bool) -> list[dict[str, float]]:
    """Seconds of scikit-learn's SVC with the same kernel on as many residues as it can take."""
    sizes = (100, 200) if quick else (2500, 5000, 10_000)
    everything = read(1, chains=6 if quick else None)
    rows = []
    for size in sizes:
        train = everything.first(size)
        started = time.perf_counter()
        SVC(C=1 / PENALTY, gamma=GAMMA).fit(train.X, list(joined.from_iterable(train.labels)))
        rows.append({"residues": len(train.X), "seconds": time.perf_counter() - started})
    return rows


def _extrapolated(rows: list[dict[str, float]], residues: int) -> float:
    """Seconds at another size, if they go on to grow by the same power."""
    last = rows[-1]
    return float(last["seconds"] * (residues / last["residues"]) ** _exponent(rows, "residues"))


def _fit_seconds(train: Residues, rank: int) -> float:
    settings = {"basis": Nystroem(rank), "random_state": 0, "max_iter": ITERATIONS, "tol": 1e-9}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        started = time.perf_counter()
        KernelCRF(RBF(GAMMA), penalty=PENALTY, **settings, parts=Parts(bias=None), decoder="posterior").fit(
            train.X, train.labels, lengths=train.lengths
        )
        return time.perf_counter() - started


def _exponent(growth: list[dict[str, float]], against: str) -> float:
    """The slope of log seconds over the logarithm of a size."""
    logs = np.log([[row[against], row["seconds"]] for row in growth])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])
