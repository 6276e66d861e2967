"""Objective against seconds for every optimiser, on CoNLL-2000 and on letters: a figure.

    python -m benchmarks.optimiser_figure docs/optimisers.png [--quick] [--sentences 500] [--seconds 3]

The problems are linear CRFs: the first sentences of CoNLL-2000 with the CRF++ template (sparse features),
and one fold of the OCR letters (pixels). Every optimiser sees the same `Problem` and gets the same number
of seconds of processor time, on one thread. Averaged SGD is the native sweep that `CRF` starts from; its
objective is computed between epochs, off the clock.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy import sparse
from threadpoolctl import threadpool_limits

from kernelfields.arrays import offsets_of
from kernelfields.datasets import load_letters
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.online import Descent, Sweep
from kernelfields.online.descent import calibrated_step
from kernelfields.solvers import (
    LBFGS,
    BlockJacobi,
    ConjugateGradients,
    IterativeScaling,
    MetaDescent,
    NewtonCG,
    Progress,
    Stop,
    Subspace,
)
from kernelfields.spaces import Boundary, Free, SparseFeatures
from kernelfields.structures import ChainBatch

from . import _conll2000 as conll

GAP = 1e-7
SOLVERS = {
    "L-BFGS": LBFGS(),
    "conjugate gradients": ConjugateGradients(),
    "Newton-CG": NewtonCG(),
    "block-Jacobi": BlockJacobi(),
    "subspace descent": Subspace(),
    "meta-descent": MetaDescent(batch=50),
    "iterative scaling": IterativeScaling(),
}


@dataclass
class Trace:
    """What one optimiser went through; it ends when its time is up."""

    limit: float
    seconds: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    started: float = field(default_factory=time.process_time)

    def __call__(self, progress: Progress, point: Any) -> bool:
        """Note an iteration; say whether time is up."""
        self.seconds.append(time.process_time() - self.started)
        self.values.append(progress.value)
        return self.seconds[-1] >= self.limit


def linear_problem(features: Any, lengths: Any, texts: list[Any]) -> Problem:
    """A linear CRF, every penalty 1."""
    _, labels = np.unique(np.concatenate([list(text) for text in texts]), return_inverse=True)
    chain = ChainBatch(offsets_of(lengths), int(labels.max()) + 1)
    nodes = SparseFeatures(chain, "node", sparse.csr_matrix(features, dtype=np.float64))
    terms = [Term("features", nodes, 1.0), Term("bias", Free(chain, "node"), 1.0)]
    terms += [Term("boundaries", Boundary(chain), 1.0), Term("edges", Free(chain, "edge"), 1.0)]
    return Problem.of(LogLoss(chain, labels), terms)


def chunking_problem(sentences: int) -> Problem:
    """The first sentences of CoNLL-2000."""
    corpus = conll.read("train", sentences)
    data, _ = conll.featurise(corpus)
    return linear_problem(data.X, data.lengths, corpus.labels)


def letters_problem(words: int | None) -> Problem:
    """The first fold of the OCR letters."""
    images, texts = (sequences[:words] for sequences in load_letters().split(0))
    return linear_problem(np.concatenate(images), [len(text) for text in texts], texts)


def descend(problem: Problem, limit: float) -> Trace:
    """Averaged SGD, epoch by epoch."""
    trace, random = Trace(limit), np.random.default_rng(0)
    sweep = Sweep(problem.structure, problem.terms, problem.loss.outputs)  # type: ignore[attr-defined]
    rule, spent = Descent(calibrated_step(sweep, random)), 0.0
    spent = time.process_time() - trace.started
    while spent < limit:
        before = time.process_time()
        sweep.begin_average()
        sweep.learn(rule, random.permutation(problem.n_instances))
        spent += time.process_time() - before
        trace.seconds.append(spent)
        trace.values.append(problem.at(sweep.average()).value)
    return trace


def traces(problem: Problem, limit: float) -> tuple[dict[str, Trace], float]:
    """Run every optimiser from zero; give its trace, and the lowest value known."""
    result = {}
    for name, solver in SOLVERS.items():
        result[name] = Trace(limit)
        solver.minimize(problem, problem.zero(), Stop(gap=GAP, iterations=100_000), result[name])
    result["averaged SGD"] = descend(problem, limit)
    best = LBFGS().minimize(problem, problem.zero(), Stop(gap=GAP)).point.value
    return result, min(best, *(min(trace.values) for trace in result.values()))


def draw(found: dict[str, tuple[dict[str, Trace], float]], path: str) -> None:
    """Relative height above the lowest value known, against seconds."""
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    panels = figure.subplots(1, len(found), sharey=True)
    for panel, (title, (runs, best)) in zip(panels, found.items(), strict=True):
        for name, trace in runs.items():
            above = np.maximum(np.array(trace.values) / best - 1, GAP)
            panel.loglog(np.maximum(trace.seconds, 1e-3), above, label=name)
        panel.set_title(title)
        panel.set_xlabel("seconds of processor time")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("relative height above the optimum")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.optimiser_figure", description=__doc__)
    parser.add_argument("path", help="where to write the figure")
    parser.add_argument("--quick", action="store_true", help="forty sequences of each, half a second")
    parser.add_argument("--sentences", type=int, default=500, help="of CoNLL-2000")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each optimiser")
    options = parser.parse_args()
    mpl.use("agg")
    limit, count = (0.5, 40) if options.quick else (options.seconds, options.sentences)
    with threadpool_limits(1):
        found = {
            f"CoNLL-2000, {count} sentences": traces(chunking_problem(count), limit),
            "OCR letters, fold 0": traces(letters_problem(40 if options.quick else None), limit),
        }
    for title, (runs, best) in found.items():
        print(title)
        for name, trace in runs.items():
            reached = np.array(trace.values) / best - 1
            times = [
                f"{trace.seconds[int(np.argmax(reached <= level))]:.2f}" if (reached <= level).any() else "-"
                for level in (1e-1, 1e-2, 1e-3, 1e-5)
            ]
            print(f"  {name:20} {len(reached) - 1:5d} steps; s to 1e-1, 1e-2, 1e-3, 1e-5: {', '.join(times)}")
    draw(found, options.path)


if __name__ == "__main__":
    main()
