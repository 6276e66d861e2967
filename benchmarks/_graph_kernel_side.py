"""One side of ``graph_kernel``, alone in a process.

python -m benchmarks._graph_kernel_side eigenpairs FILE SOLVER NUMBER TOLERANCE
python -m benchmarks._graph_kernel_side vertices SIZE NUMBER
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from kernelfields.graphs import NeighborGraph, PrecomputedGraph, laplacian, lowest_eigenpairs
from kernelfields.kernels import GraphKernel

from ._train_side import peak_megabytes


def spirals(size: int) -> Any:
    """Two spirals with a mixed core, as in lafferty2004."""
    rng = np.random.default_rng(0)
    radius, arm = np.sqrt(rng.random(size)), np.pi * rng.integers(2, size=size)
    angle = 3 * np.pi * radius + arm
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return (points + 0.02 * rng.normal(size=(size, 2))).astype(np.float32)


def eigenpairs(file: str, solver: str, number: int, tolerance: float) -> dict[str, float]:
    """Seconds for the pairs above the first, and their largest residual by the explicit matrix."""
    W = sparse.csr_matrix(sparse.load_npz(file))
    graph = PrecomputedGraph(W).on([0])
    if solver == "ours":
        start = time.perf_counter()
        vectors = lowest_eigenpairs(laplacian(graph), number + 1, tolerance / 2).vectors[:, 1:]
        seconds = time.perf_counter() - start
    else:
        from sklearn.manifold import SpectralEmbedding

        rival = SpectralEmbedding(
            n_components=number,
            affinity="precomputed",
            eigen_solver=solver,
            eigen_tol=tolerance,
            random_state=0,
        )
        start = time.perf_counter()
        embedding = rival.fit_transform(W)
        seconds = time.perf_counter() - start
        vectors = embedding * np.sqrt(graph.degrees)[:, None]
        vectors /= np.linalg.norm(vectors, axis=0)
    matrix = laplacian(graph).matrix()
    image = matrix @ vectors
    values = np.einsum("ij,ij->j", vectors, image)
    residual = np.linalg.norm(image - vectors * values, axis=0).max()
    return {"seconds": seconds, "residual": float(residual), "largest": float(values.max())}


def vertices(size: int, number: int) -> dict[str, float]:
    """Graph, eigenpairs and kernel of many points; the most memory that all of it took."""
    points = np.random.default_rng(0).random((size, 3), dtype=np.float32)
    start = time.perf_counter()
    kernel = GraphKernel(NeighborGraph(10), n_eigenpairs=number).on(points)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "vertices": len(kernel.basis), "peak_mb": peak_megabytes()}


def main() -> None:
    warnings.simplefilter("ignore")  # rivals that did not converge show in their residuals
    if sys.argv[1] == "eigenpairs":
        file, solver, number, tolerance = sys.argv[2:]
        found = eigenpairs(file, solver, int(number), float(tolerance))
    else:
        found = vertices(int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
