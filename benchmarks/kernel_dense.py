"""Dense kernel CRFs beside linear CRFs and beside kernel machines without structure.

Letters: fold 0, RBF, to a certified relative gap of 1e-3, against CRFsuite's linear CRF to its own end,
`SVC` and `GaussianProcessClassifier` (few letters: it cannot take more) on the same letters. Predictions for
all other letters beside the matrix products they consist of, by NumPy. Named
entities: 1,000 sentences, degree 2, against `SVC` with the same kernel on the same tokens; each side in a
process of its own, whose peak memory counts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from kernelfields import KernelCRF, Parts
from kernelfields.datasets import load_letters
from kernelfields.gram import gram_of
from kernelfields.kernels import RBF

from ._run import Bar, Result, Side, alternate

ROOT = Path(__file__).resolve().parents[1]
GAMMA, PENALTY, C = 0.03, 0.05, 10.0
SIZES = (2000, 5000, 10_000, 20_000, 40_000)


def run(quick: bool) -> Result:
    letters, model, X_test = _letters(1 if quick else 5, words=60 if quick else None)
    prediction = _prediction(model, X_test, 1 if quick else 5)
    entities = _entities(1 if quick else 3, 40 if quick else 1000)
    products = _products(SIZES[:2] if quick else SIZES)
    bars = [
        Bar("letters_fit_over_svc", letters["kernelfields"] / letters["svc"], at_most=1.3),
        Bar("letters_fit_over_crfsuite", letters["kernelfields"] / letters["crfsuite"], at_most=1.0),
        Bar("letters_fit_predict_speedup", letters["svc_both"] / letters["kernelfields_both"], at_least=5.0),
        Bar("predict_of_gemm", prediction["predict_of_gemm"], at_least=0.7),
        Bar("ner_fit_over_svc", entities["ours"]["seconds"] / entities["svc"]["seconds"], at_most=1.0),
        Bar("ner_memory_over_gram", entities["ours"]["peak_mb"] / entities["ours"]["gram_mb"], at_most=1.3),
    ]
    return Result(
        "kernel_dense",
        bars,
        {"letters": letters, "prediction": prediction, "entities": entities, "products": products},
    )


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    started = time.perf_counter()
    result = call()
    return time.perf_counter() - started, result


def _letters(rounds: int, words: int | None) -> tuple[dict[str, Any], KernelCRF, list[Any]]:
    """Medians of seconds, every side in turn; the last model, and the letters that it did not see."""
    from sklearn.svm import SVC

    data = load_letters()
    (X, y), (X_test, y_test) = data.split(0), data.split(*range(1, 10))
    X, y = X[:words], y[:words]
    X_test, y_test = X_test[: words and 10 * words], y_test[: words and 10 * words]
    flat, flat_test = np.concatenate(X), np.concatenate(X_test)
    labels, truth = np.concatenate(y), np.concatenate(y_test)
    seconds: dict[str, list[float]] = {}
    for _ in range(rounds):
        ours, model = _timed(
            lambda: KernelCRF(
                kernel=RBF(gamma=GAMMA), penalty=PENALTY, parts=Parts(bias=None), decoder="posterior"
            ).fit(X, y)
        )
        ours_predict, found = _timed(lambda model=model: model.predict(X_test))
        svc, machine = _timed(lambda: SVC(kernel="rbf", gamma=GAMMA, C=C).fit(flat, labels))
        svc_predict, theirs = _timed(lambda machine=machine: machine.predict(flat_test))
        row = {
            "kernelfields": ours,
            "svc": svc,
            "crfsuite": _crfsuite(X, y),
            "kernelfields_both": ours + ours_predict,
            "svc_both": svc + svc_predict,
        }
        for name, value in row.items():
            seconds.setdefault(name, []).append(value)
    errors = {
        "error": 100 * float(np.mean(np.concatenate(found) != truth)),
        "svc_error": 100 * float(np.mean(theirs != truth)),
        "relative_gap": model.certificate_.relative_gap,
        "iterations": model.n_iter_,
    }
    small = min(400, len(flat) // 5)
    rows = {
        **{k: median(v) for k, v in seconds.items()},
        **errors,
        **_gaussian_process(flat[:small], labels[:small]),
    }
    return rows, model, X_test


def _prediction(model: KernelCRF, X: list[Any], rounds: int) -> dict[str, float]:
    """Marginals of all letters beside the two products with the basis and with the coefficients alone."""
    basis, coef = model.basis_, model.dual_coef_.astype(np.float32)
    flat = np.concatenate(X).astype(np.float32)
    square = np.ones((2048, 2048), np.float32)

    def products() -> None:
        for start in range(0, len(flat), 2048):
            (flat[start : start + 2048] @ basis.T) @ coef

    threads = os.cpu_count() or 1
    sides = {
        "predict": Side(lambda: model.predict_marginals(X), threads),
        "products": Side(products, threads),
        "square": Side(lambda: square @ square, threads),
    }
    seconds = alternate(sides, rounds)
    work = 2 * len(flat) * len(basis) * (basis.shape[1] + coef.shape[1])
    rates = {"predict": work, "products": work, "square": 2 * 2048**3}
    return {
        **{f"{name}_gflops": rates[name] / seconds[name] / 1e9 for name in sides},
        "predict_of_gemm": seconds["products"] / seconds["predict"],
    }


def _gaussian_process(X: Any, y: Any) -> dict[str, float]:
    """scikit-learn's classifier and ours without edges, on few letters."""
    from sklearn.gaussian_process import GaussianProcessClassifier, kernels

    from kernelfields import KernelLogisticRegression

    width = (1 / (2 * GAMMA)) ** 0.5
    theirs, _ = _timed(lambda: GaussianProcessClassifier(kernels.RBF(width), optimizer=None).fit(X, y))
    ours, _ = _timed(lambda: KernelLogisticRegression(RBF(gamma=GAMMA), penalty=PENALTY).fit(X, y))
    return {"gpc_small": theirs, "kernel_logistic_small": ours}


def _crfsuite(X: list[Any], y: list[list[str]]) -> float:
    """Seconds of ``train`` alone, linear features, its own stopping rule."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for images, labels in zip(X, y, strict=True):
        trainer.append([{f"p{k}": 1.0 for k in np.flatnonzero(image)} for image in images], labels)
    trainer.set_params({"c1": 0.0, "c2": 1.0, "feature.possible_transitions": True})
    return _timed(lambda: trainer.train(os.devnull))[0]


def _entities(rounds: int, sentences: int) -> dict[str, Any]:
    """Medians over processes of each side, in turn."""
    sides: dict[str, list[dict[str, float]]] = {"ours": [], "svc": []}
    for _ in range(rounds):
        for side, runs in sides.items():
            command = [sys.executable, "-m", "benchmarks._kernel_side", side, str(sentences)]
            output = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
            runs.append(json.loads(output.stdout.strip().split("\n")[-1]))
    return {side: {key: median(r[key] for r in runs) for key in runs[0]} for side, runs in sides.items()}


def _products(sizes: tuple[int, ...]) -> dict[str, Any]:
    """K·A with nine columns: seconds against N, and the share of this machine's GEMM rate."""
    rng = np.random.default_rng(0)
    square = rng.normal(size=(2000, 2000)).astype(np.float32)
    gemm = 2 * 2000**3 / min(_timed(lambda: square @ square)[0] for _ in range(5))
    rows = []
    for n in sizes:
        X = rng.normal(size=(n, 30)).astype(np.float32)
        build, gram = _timed(lambda X=X: gram_of(RBF(gamma=0.01), X, np.float32))
        A = rng.normal(size=(n, 9)).astype(np.float32)
        seconds = median(_timed(lambda gram=gram, A=A: gram.times(A))[0] for _ in range(3))
        rows.append(
            {"n": n, "build": build, "product": seconds, "share_of_gemm": 2 * n * n * 9 / seconds / gemm}
        )
        del gram
    slopes = {
        f"exponent_{name}": float(
            np.polyfit(np.log([r["n"] for r in rows]), np.log([r[name] for r in rows]), 1)[0]
        )
        for name in ("build", "product")
    }
    return {"gemm_gflops": gemm / 1e9, "sizes": rows, **slopes}
