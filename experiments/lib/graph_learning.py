"""Laplace and Poisson learning by the package graphlearning, in another Python that has it.

Set KERNELFIELDS_GRAPHLEARNING to that Python; without it these methods are left out.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse

from kernelfields.arrays import Array
from kernelfields.errors import InputError

VARIABLE = "KERNELFIELDS_GRAPHLEARNING"

METHODS = ("laplace", "poisson")

SCRIPT = """
import sys
import numpy as np
from scipy import sparse
import graphlearning as gl
folder = sys.argv[1]
W = sparse.load_npz(folder + "/graph.npz")
for method in map(str.strip, sys.stdin):
    known = np.load(folder + "/known.npy")
    vertices = np.flatnonzero(known >= 0)
    _, labels = np.unique(known[vertices], return_inverse=True)  # it takes 0, 1, ... without gaps
    np.save(folder + "/found.npy", np.asarray(getattr(gl.ssl, method)(W).fit(vertices, labels)))
    print("done", flush=True)
"""
"""Answers to the names of methods, as long as there are any: its import takes long."""


def graph_learning(adjacency: Any, n_labels: int) -> dict[str, Callable[[Array, Any], Array]]:
    """Return its methods by name, as functions of the labels of vertices; none without the variable."""
    python = os.environ.get(VARIABLE)
    if not python:
        return {}
    other = OtherPython(python, adjacency, n_labels)

    def method(name: str) -> Callable[[Array, Any], Array]:
        return lambda known, choice: other.scores(name, known)

    return {f"graphlearning, {name}": method(name) for name in METHODS}


class OtherPython:
    """A process that has the package, and a folder to exchange arrays with it."""

    def __init__(self, python: str, adjacency: Any, n_labels: int) -> None:
        self.n_labels = n_labels
        self.folder = TemporaryDirectory()
        sparse.save_npz(Path(self.folder.name) / "graph.npz", sparse.csr_matrix(adjacency))
        self.process = subprocess.Popen(
            [python, "-c", SCRIPT, self.folder.name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def scores(self, name: str, known: Array) -> Array:
        """Return what it says of all vertices, (V, L), −∞ for labels that are not known."""
        np.save(Path(self.folder.name) / "known.npy", known)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, file=self.process.stdin, flush=True)
        if self.process.stdout.readline().strip() != "done":
            raise InputError(f"The Python in {VARIABLE} failed at {name} of graphlearning.")
        scores = np.full((len(known), self.n_labels), -np.inf)
        scores[:, np.unique(known[known >= 0])] = np.load(Path(self.folder.name) / "found.npy")
        return scores

    def __del__(self) -> None:
        self.process.kill()
        self.process.wait()
