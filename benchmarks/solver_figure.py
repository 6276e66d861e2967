"""Objective against iterations, products with K and seconds, for every smooth solver: a figure.

    python -m benchmarks.solver_figure docs/solvers.png [--quick]

The problem is a kernel CRF on the OCR letters, trained on one fold: an RBF kernel on vertices and free
label pairs. Newton's method, block-Jacobi, subspace descent and L-BFGS work in the inner product of the
space; Euclidean L-BFGS is SciPy's on the coefficients, the papers' route. Iterations of different
methods are different things: products with K are what they all spend, and do not depend on the machine.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from kernelfields.arrays import offsets_of
from kernelfields.datasets import load_letters
from kernelfields.gram import Gram, StoredGram
from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.solvers import LBFGS, BlockJacobi, NewtonCG, Progress, Stop, Subspace
from kernelfields.spaces import Expansion, Free
from kernelfields.structures import ChainBatch
from kernelfields.testing import minimize_euclidean

GAMMA, PENALTY, EDGE_PENALTY = 0.025, 0.1, 1.0
GAP = 1e-6
SOLVERS = {
    "L-BFGS": LBFGS(),
    "Newton-CG": NewtonCG(),
    "block-Jacobi": BlockJacobi(),
    "subspace descent": Subspace(),
}
PLAIN = "Euclidean L-BFGS"


class CountedGram(Gram):
    """A Gram matrix that counts its products."""

    def __init__(self, gram: Gram) -> None:
        self.gram, self.size, self.dtype, self.diagonal = gram, gram.size, gram.dtype, gram.diagonal
        self.count = 0

    def times(self, columns: Any) -> Any:
        """K·A."""
        self.count += 1
        return self.gram.times(columns)


@dataclass
class Trace:
    """What one solver went through."""

    gram: CountedGram
    iterations: list[int] = field(default_factory=list)
    products: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def __call__(self, progress: Progress, point: Any) -> None:
        """Note an iteration."""
        self.iterations.append(progress.iteration)
        self.products.append(self.gram.count)
        self.seconds.append(progress.seconds)
        self.values.append(progress.value)


def letters_problem(words: int | None) -> Problem:
    """Give the problem on the first fold, or on some words of it."""
    images, texts = (sequences[:words] for sequences in load_letters().split(0))
    letters, labels = np.unique(np.concatenate([list(text) for text in texts]), return_inverse=True)
    chain = ChainBatch(offsets_of([len(text) for text in texts]), len(letters))
    gram = CountedGram(StoredGram(RBF(GAMMA)(np.concatenate(images).astype(np.float64))))
    terms = [
        Term("kernel", Expansion(chain, "node", gram), PENALTY),
        Term("edges", Free(chain, "edge"), EDGE_PENALTY),
    ]
    return Problem.of(LogLoss(chain, labels), terms)


def traces(words: int | None, iterations: int) -> tuple[dict[str, Trace], float]:
    """Run every solver from zero; give its trace, and the best lower bound."""
    problem = letters_problem(words)
    gram, bound = problem.terms[0].space.gram, -np.inf
    result = {}
    for name, solver in SOLVERS.items():
        gram.count = 0
        result[name] = Trace(gram)
        found = solver.minimize(problem, problem.zero(), Stop(gap=GAP), result[name])
        bound = max(bound, found.progress.lower_bound)
    gram.count = 0
    result[PLAIN] = Trace(gram)
    minimize_euclidean(problem, iterations=iterations, observer=result[PLAIN])
    return result, bound


def draw(found: dict[str, Trace], bound: float, path: str) -> None:
    """Value over the best lower bound, relatively, on three axes."""
    figure = Figure(figsize=(12, 4.5), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for panel, what in zip(panels, ("iterations", "products", "seconds"), strict=True):
        for name, trace in found.items():
            above = np.maximum(np.array(trace.values) / bound - 1, 1e-9)
            panel.loglog(
                np.maximum(getattr(trace, what), 0.5 if what != "seconds" else 0.05), above, label=name
            )
        panel.set_xlabel({"products": "products with K"}.get(what, what))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("relative height above the best bound")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(found))
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.solver_figure", description=__doc__)
    parser.add_argument("path", help="where to write the figure")
    parser.add_argument("--quick", action="store_true", help="forty words only")
    options = parser.parse_args()
    mpl.use("agg")
    found, bound = traces(40 if options.quick else None, 50 if options.quick else 200)
    for name, trace in found.items():
        print(
            f"{name:18} {trace.iterations[-1]:5d} iterations {trace.products[-1]:6d} products "
            f"{trace.seconds[-1]:7.1f} s  {trace.values[-1] / bound - 1:.1e} above the bound"
        )
    draw(found, bound, options.path)


if __name__ == "__main__":
    main()
