"""Gram matrices beside SciPy, scikit-learn and NumPy.

Sparse inner products of named-entity features (CoNLL-2002), on all our threads against SciPy's one:
``(X @ X.T).toarray()`` as it is written for some thousand tokens, and some rows against all tokens
where SciPy would need tens of gigabytes for everything. The Gaussian Gram matrix of the OCR letters
against scikit-learn's. Products K·A against NumPy's, all threads on both sides, with the rate of a
square matrix product in the same rounds as the ceiling.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from kernelfields.datasets import load_conll2002, load_letters, spelling_templates
from kernelfields.features import TemplateFeatures
from kernelfields.gram import KernelBlocks, PackedGram, gram_of
from kernelfields.kernels import RBF, Linear

from . import _run

ALL = os.cpu_count() or 1
F32 = np.dtype(np.float32)


def dense_products(X: Any, Y: Any) -> np.ndarray:
    """Ours: the index of Y, then all inner products."""
    blocks = KernelBlocks(Linear(), X, Y, F32)
    out = np.empty(blocks.shape, dtype=F32)
    blocks.fill(out, 0, 0)
    return out


def sparse_products(quick: bool, rounds: int) -> list[dict[str, Any]]:
    """Inner products of token features, equal number by number."""
    sentences = load_conll2002("train", 20 if quick else 1000).sentences
    X, _ = TemplateFeatures(spelling_templates(), dtype=np.float32).fit_transform(sentences)
    some = X[: 200 if quick else 8000]
    rows = X[np.random.default_rng(1).permutation(X.shape[0])[: 100 if quick else 1024]]
    table = []
    for left, right in ((some, some), (rows, X)):
        np.testing.assert_array_equal(dense_products(left, right), (left @ right.T).toarray())
        sides = {
            "scipy": _run.Side(lambda left=left, right=right: (left @ right.T).toarray()),
            "ours": _run.Side(lambda left=left, right=right: dense_products(left, right), ALL),
        }
        if left is right:
            sides["packed"] = _run.Side(lambda right=right: PackedGram.of(Linear(), right, F32), ALL)
        seconds = _run.alternate(sides, rounds)
        table.append(_row(f"{left.shape[0]} x {right.shape[0]}", seconds, seconds["scipy"] / seconds["ours"]))
    return table


def gaussian(quick: bool, rounds: int) -> list[dict[str, Any]]:
    """The Gram matrix of all letters, half of it kept."""
    X = np.concatenate(load_letters().images)[: 300 if quick else 4617]
    table = []
    for dtype in ("float32", "float64"):
        Z = X.astype(dtype)
        K = PackedGram.of(RBF(0.02), Z, np.dtype(dtype)).block(*[np.arange(len(Z))] * 2)
        np.testing.assert_allclose(K, rbf_kernel(Z, gamma=0.02), atol=1e-5)
        sides = {
            "sklearn": _run.Side(lambda Z=Z: rbf_kernel(Z, gamma=0.02), ALL),
            "ours": _run.Side(lambda Z=Z: PackedGram.of(RBF(0.02), Z, Z.dtype), ALL),
            "gram_of": _run.Side(lambda Z=Z: gram_of(RBF(0.02), Z), ALL),
        }
        seconds = _run.alternate(sides, rounds)
        table.append(_row(f"{len(Z)} {dtype}", seconds, seconds["sklearn"] / seconds["ours"]))
    return table


def products(n: int, m: int, dtype: str, rounds: int) -> dict[str, Any]:
    """K·A, K stored."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8)).astype(dtype)
    K, A = X @ X.T, rng.normal(size=(n, m)).astype(dtype)
    gram = PackedGram.from_matrix(K)
    np.testing.assert_allclose(gram.times(A), K @ A, rtol=0, atol=1e-5 * np.abs(K @ A).max())
    square = np.ascontiguousarray(K[:2048, :2048])
    sides = {
        "numpy": _run.Side(lambda: K @ A, ALL),
        "ours": _run.Side(lambda: gram.times(A), ALL),
        "square": _run.Side(lambda: square @ square, ALL),
    }
    seconds = _run.alternate(sides, rounds)
    row = _row(f"{n} x {m} {dtype}", seconds, seconds["numpy"] / seconds["ours"])
    ceiling = len(square) ** 3 / seconds["square"]
    bytes_read = PackedGram.bytes_for(n, gram.dtype)
    return {
        **row,
        "of_square_product": n * n * m / seconds["ours"] / ceiling,
        "gbytes_per_s": bytes_read / seconds["ours"] / 1e9,
    }


def _row(what: str, seconds: dict[str, float], ratio: float) -> dict[str, Any]:
    return {"what": what, **{f"{name}_ms": 1e3 * value for name, value in seconds.items()}, "ratio": ratio}


def run(quick: bool) -> _run.Result:
    rounds = 1 if quick else 5
    by_sparse = sparse_products(quick, rounds)
    sizes = [(300, 26, "float32"), (500, 9, "float64")] if quick else SIZES
    details = {
        "machine": _run.machine(),
        "threads": ALL,
        "sparse": by_sparse,
        "rbf": gaussian(quick, rounds),
        "products": [products(*size, rounds=2 * rounds + 1) for size in sizes],
    }
    bar = _run.Bar("sparse_speedup", min(row["ratio"] for row in by_sparse), at_least=10.0)
    return _run.Result("gram", [bar], details)


SIZES = [(4617, 26, "float32"), (4617, 26, "float64"), (20000, 9, "float32")]
