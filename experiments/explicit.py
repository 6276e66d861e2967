"""Degree-2 features written out against the degree-2 kernel: the same model, at two prices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from kernelfields import Parts, Run
from kernelfields.arrays import Array
from kernelfields.datasets import load_letters
from kernelfields.estimators import CRF, KernelCRF
from kernelfields.gram import PackedGram
from kernelfields.kernels import Polynomial

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.results import Outcome, Row

PUBLISHED = 12e6
"""Dimensions of the space of degree-2 features written out, for pitch accents [altun2004gp, 5.1]."""


@dataclass(frozen=True)
class ExplicitSettings:
    """The number of words, and the width of the window around each letter."""

    n_words: int
    windows: list[int]
    """Letters whose pixels are the input of one position: the input grows with them."""
    penalty: float
    tol: float
    check_words: int
    """Words of the small problem that is solved to the end, to compare optima."""
    check_pixels: int
    """Every how manieth pixel is used there."""
    check_tol: float


class Fit(NamedTuple):
    """The cost of a fit, and the objective it reached."""

    value: float
    seconds: float
    megabytes: float
    """Of the matrix that is multiplied in every iteration, and of one element."""


def run(settings: ExplicitSettings, report: Report) -> Outcome:
    """Compare optima on a small problem, then costs as the input grows."""
    X, y = _words(settings.check_words)
    X = [x[:, :: settings.check_pixels] for x in X]
    report("the same optimum twice")
    kernel = _by_kernel(X, y, settings.penalty, settings.check_tol, "float64")
    written = _written_out(X, y, settings.penalty, settings.check_tol, np.float64)
    apart = abs(written.value / kernel.value - 1)
    rows = []
    X, y = _words(settings.n_words)
    for window in settings.windows:
        report(f"pixels of {window} letters")
        rows.append(_row(window, windowed(X, window), y, settings))
    claims = [
        Claim("optimum_relative_difference", apart, at_most=1e-4),
        Claim("memory_ratio_at_largest_input", rows[-1]["memory ratio"], at_least=1.0),
        Claim("time_ratio_at_largest_input", rows[-1]["time ratio"], at_least=1.0),
        Claim("weights_at_largest_input", rows[-1]["weights"], paper=PUBLISHED, at_least=1e7),
    ]
    details = {"small": {"kernel": kernel._asdict(), "explicit": written._asdict()}}
    return Outcome("explicit", claims, rows, details, _notes(settings))


def degree2_features(X: Array, dtype: Any) -> Any:
    """Return φ(x) = (1, √2·x_i, x_i², √2·x_i·x_j for i < j), ⟨φ(x), φ(x′)⟩ = (⟨x, x′⟩ + 1)²; a CSR matrix."""
    D = X.shape[1]
    indices, values = [], []
    for x in X:
        on = np.flatnonzero(x)
        i, j = (on[part] for part in np.triu_indices(len(on)))
        pairs = i * D - i * (i - 1) // 2 + j - i  # their number among all with i ≤ j
        indices.append(np.concatenate([[0], 1 + on, 1 + D + pairs]))
        squares = np.where(i == j, 1.0, np.sqrt(2.0)) * x[i] * x[j]
        values.append(np.concatenate([[1.0], np.sqrt(2.0) * x[on], squares]))
    indptr = np.cumsum([0] + [len(row) for row in indices])
    shape = (len(X), 1 + D + D * (D + 1) // 2)
    return sparse.csr_matrix((np.concatenate(values).astype(dtype), np.concatenate(indices), indptr), shape)


def windowed(X: Sequence[Array], window: int) -> list[Array]:
    """Return the pixels of all letters in a window around each, zeros beyond the ends of a word."""
    reach = window // 2
    padded = [np.pad(x, ((reach, reach), (0, 0))) for x in X]
    return [np.hstack([p[k : k + len(x)] for k in range(window)]) for x, p in zip(X, padded, strict=True)]


def _words(count: int) -> tuple[list[Array], list[list[str]]]:
    X, y = load_letters().split(0)
    step = max(1, len(X) // count)  # words of one kind stand together
    return X[::step][:count], y[::step][:count]


def _row(window: int, X: list[Array], y: list[list[str]], settings: ExplicitSettings) -> Row:
    kernel = _by_kernel(X, y, settings.penalty, settings.tol, "float32")
    written = _written_out(X, y, settings.penalty, settings.tol, np.float32)
    D = X[0].shape[1]
    features = 1 + D + D * (D + 1) // 2
    return {
        "letters in window": window,
        "inputs": D,
        "features written out": features,
        "weights": features * len({label for labels in y for label in labels}),
        "seconds, explicit": written.seconds,
        "seconds, kernel": kernel.seconds,
        "MB, explicit": written.megabytes,
        "MB, kernel": kernel.megabytes,
        "time ratio": written.seconds / kernel.seconds,
        "memory ratio": written.megabytes / kernel.megabytes,
        "difference of values": abs(written.value / kernel.value - 1),
    }


def _by_kernel(X: list[Array], y: list[list[str]], penalty: float, tol: float, dtype: str) -> Fit:
    started = perf_counter()
    model = KernelCRF(
        Polynomial(degree=2),
        penalty=penalty,
        tol=tol,
        run=Run(dtype=dtype),
        parts=Parts(bias=None),
        decoder="posterior",
    ).fit(X, y)
    seconds = perf_counter() - started
    n, L = sum(map(len, X)), len(model.classes_)
    return _fit(model, seconds, PackedGram.bytes_for(n, np.dtype(dtype)) + 2 * n * L * 8)


def _written_out(X: list[Array], y: list[list[str]], penalty: float, tol: float, dtype: Any) -> Fit:
    """Fit with the features written out; writing them counts as training time."""
    started = perf_counter()
    features = degree2_features(np.concatenate(X), dtype)
    lengths = [len(x) for x in X]
    model = CRF(penalty, parts=Parts(bias=None), tol=tol).fit(features, y, lengths=lengths)
    seconds = perf_counter() - started
    element = features.shape[1] * len(model.classes_) * features.dtype.itemsize
    return _fit(model, seconds, features.data.nbytes + features.indices.nbytes + element)


def _fit(model: Any, seconds: float, size: int) -> Fit:
    return Fit(model.certificate_.value, seconds, size / 1e6)


def _notes(settings: ExplicitSettings) -> list[str]:
    return [
        f"{settings.n_words} words; the optima are those of {settings.check_words} words to a relative "
        f"gap of {settings.check_tol:g} in double precision. Memory is that of the matrix that every "
        "iteration multiplies (features written out, or Gram matrix) and of one element; L-BFGS keeps some "
        "twenty elements. The Gram matrix grows with the number of positions instead."
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw seconds and megabytes against the number of inputs."""
    inputs = [row["inputs"] for row in outcome.rows]
    for panel, what in zip(figure.subplots(1, 2), ("seconds", "MB"), strict=True):
        for side, marker in (("explicit", "o-"), ("kernel", "s-")):
            panel.loglog(inputs, [row[f"{what}, {side}"] for row in outcome.rows], marker, label=side)
        panel.set_xticks(inputs, [str(count) for count in inputs])
        panel.xaxis.set_ticks([], minor=True)
        panel.set_xlabel("inputs")
        panel.set_ylabel({"MB": "megabytes"}.get(what, what))
        panel.grid(alpha=0.3)
        panel.legend()


EXPLICIT = Experiment(
    "explicit",
    "Degree-2 features written out against the degree-2 kernel: optimum, time, memory",
    "none: the letters come with the package",
    ExplicitSettings,
    run,
    draw,
)
