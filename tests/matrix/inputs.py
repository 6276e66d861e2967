"""Kinds of input: the same sequences in every form that users bring."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from kernelfields.models.clique_types import Edges
from kernelfields.structures import Graph, TreeReweighted, TreeReweightedMax

from . import links as shapes
from .data import COLUMNS

TEMPLATES = "0[0]\n0[-1]\nbias"
TREES = {"settings": {"structure": "tree"}, "links": shapes.parents_of}
GRAPHS = {
    "settings": {"structure": "graph", "candidates": [Edges()]},
    "links": shapes.neighbours_of,
    "item": shapes.with_edges,
}
"""Boundaries, which are among the candidates otherwise, graphs do not have."""


class Given(NamedTuple):
    """Sequences as a user gives them."""

    X: Any
    lengths: list[int] | None
    rows: list[Any] | None
    """The same as float64 arrays, for code of the tests; None for tokens."""
    links: list[Any] | None = None
    """Parents of trees, neighbours of graphs."""
    parts: list[Any] | None = None
    """What is left of X without these."""
    sums: str = "exact"
    """As in `Kind`."""

    @property
    def features(self) -> Any:
        """What X says of positions."""
        return self.X if self.parts is None else self.parts


@dataclass(frozen=True)
class Kind:
    """One form of sequences of (T, D) arrays.

    ``meaning`` says which numbers it stands for, ``twin`` is a kind of the same numbers in the same
    storage, so that models must be equal, and ``settings`` is what an estimator needs to read it.
    """

    name: str
    one: Callable[[Any], Any]
    flat: bool = False
    together: Callable[[list[Any]], Any] = list
    single: bool = False
    meaning: Callable[[Any], Any] | None = np.asarray
    twin: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    links: Callable[[int], Any] | None = None
    """What joins so many vertices, if items are trees or graphs."""
    item: Callable[[Any, Any], Any] = shapes.with_parents
    """An item of features and links."""
    sums: str = "exact"
    """Whether marginals are "exact" or "approximate", or there are "none"."""

    def given(self, matrices: list[Any]) -> Given:
        """Give sequences in this form."""
        rows = None if self.meaning is None else [self.meaning(m).astype(np.float64) for m in matrices]
        if self.links is not None:
            links, parts = [self.links(len(m)) for m in matrices], [self.one(m) for m in matrices]
            items = [self.item(one, joined) for one, joined in zip(parts, links, strict=True)]
            return Given(items, None, rows, links, parts, self.sums)
        if not self.flat:
            return Given(self.together([self.one(m) for m in matrices]), None, rows)
        return Given(self.one(np.concatenate(matrices)), [len(m) for m in matrices], rows)


def _csr(matrix: Any, dtype: Any = np.float64, index: Any = np.int32) -> Any:
    result = sparse.csr_matrix(matrix, dtype=dtype)
    result.indices, result.indptr = result.indices.astype(index), result.indptr.astype(index)
    return result


def _arranged(matrix: Any, entries: Callable[[Any], list[tuple[int, float]]]) -> Any:
    """A CSR matrix with the entries of every row as they come."""
    rows = [entries(row) for row in matrix]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.array([c for row in rows for c, _ in row], dtype=np.int32)
    values = np.array([v for row in rows for _, v in row], dtype=np.float64)
    return sparse.csr_matrix((values, columns, ends.astype(np.int32)), shape=matrix.shape)


def _backwards(row: Any) -> list[tuple[int, float]]:
    return [(c, row[c]) for c in np.flatnonzero(row)[::-1]]


def _in_halves(row: Any) -> list[tuple[int, float]]:
    return [(c, row[c] / 2) for c in np.flatnonzero(row) for _ in range(2)]


def _every_entry(row: Any) -> list[tuple[int, float]]:
    return list(enumerate(row))


def _frame(matrix: Any) -> Any:
    return pd.DataFrame(matrix, columns=list(COLUMNS[: matrix.shape[1]]))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="matrix")


def _mapped(matrix: Any) -> Any:
    with tempfile.NamedTemporaryFile(dir=_folder().name, delete=False) as file:
        path = Path(file.name)
    np.asarray(matrix, dtype=np.float64).tofile(path)
    return np.memmap(path, dtype=np.float64, mode="r", shape=matrix.shape)


def _locked(matrix: Any) -> Any:
    result = np.array(matrix, dtype=np.float64)
    result.setflags(write=False)
    return result


def _backward_strides(matrix: Any) -> Any:
    return np.array(matrix[::-1, ::-1], dtype=np.float64)[::-1, ::-1]


def _words(matrix: Any) -> list[str]:
    return [f"w{int(4 * row.sum()) % 5}" for row in matrix]


def _dictionaries(matrix: Any) -> list[dict[str, Any]]:
    return [
        {"bias": True, "word": word, "a": float(row[0])}
        for word, row in zip(_words(matrix), matrix, strict=True)
    ]


def _positive(matrix: Any) -> Any:
    return matrix > 0


def _csr_of_booleans(matrix: Any) -> Any:
    return sparse.csr_matrix(matrix > 0)


def _of_tokens(linked: Mapping[str, Any]) -> dict[str, Any]:
    """The same items of words, which features are made from."""
    return {**linked, "settings": {"features": TEMPLATES, **linked["settings"]}}


def _by(inference: Any) -> dict[str, Any]:
    """Graphs whose labellings are not summed over exactly."""
    return {**GRAPHS, "settings": {**GRAPHS["settings"], "structure": Graph(inference=inference)}}


KINDS = {
    kind.name: kind
    for kind in (
        Kind("f64", partial(np.array, dtype=np.float64)),
        Kind("f32", partial(np.array, dtype=np.float32), single=True),
        Kind("big-endian", partial(np.array, dtype=">f8"), twin="f64"),
        Kind("integers", lambda m: np.ceil(m).astype(np.int64), meaning=np.ceil),
        Kind("booleans", _positive, meaning=_positive),
        Kind("fortran", partial(np.array, dtype=np.float64, order="F"), twin="f64"),
        Kind("strides", _backward_strides, twin="f64"),
        Kind("memory-mapped", _mapped, twin="f64"),
        Kind("read-only", _locked, twin="f64"),
        Kind("lists", lambda m: np.asarray(m, dtype=np.float64).tolist(), twin="f64"),
        Kind("series", np.array, together=pd.Series, twin="f64"),
        Kind("frames", _frame, twin="f64"),
        Kind("flat", partial(np.array, dtype=np.float64), flat=True, twin="f64"),
        Kind("csr", _csr),
        Kind("csr-64", partial(_csr, index=np.int64), twin="csr"),
        Kind("csr-f32", partial(_csr, dtype=np.float32), single=True),
        Kind("csr-booleans", _csr_of_booleans, single=True, meaning=_positive),
        Kind("csr-unsorted", partial(_arranged, entries=_backwards), twin="csr"),
        Kind("csr-duplicates", partial(_arranged, entries=_in_halves), twin="csr"),
        Kind("csr-zeros", partial(_arranged, entries=_every_entry)),
        Kind("csc", sparse.csc_matrix, twin="csr"),
        Kind("coo", sparse.coo_matrix, twin="csr"),
        Kind("flat-csr", _csr, flat=True, twin="csr"),
        Kind("flat-csr-booleans", _csr_of_booleans, flat=True, single=True, meaning=_positive),
        Kind("tokens", _words, single=True, meaning=None, settings={"features": TEMPLATES}),
        Kind("words", _words, single=True, meaning=None),
        Kind("dictionaries", _dictionaries, single=True, meaning=None),
        Kind("trees", partial(np.array, dtype=np.float64), **TREES),
        Kind("csr-trees", _csr, **TREES),
        Kind("token-trees", _words, single=True, meaning=None, **_of_tokens(TREES)),
        Kind("graphs", partial(np.array, dtype=np.float64), **GRAPHS),
        Kind("csr-graphs", _csr, **{**GRAPHS, "item": shapes.with_turned_edges}),
        Kind("token-graphs", _words, single=True, meaning=None, **_of_tokens(GRAPHS)),
        Kind(
            "adjacency-graphs",
            partial(np.array, dtype=np.float64),
            **{**GRAPHS, "item": shapes.with_adjacency},
            twin="graphs",
        ),
        Kind(
            "reweighted-graphs",
            partial(np.array, dtype=np.float64),
            **_by(TreeReweighted()),
            sums="approximate",
        ),
        Kind("searched-graphs", partial(np.array, dtype=np.float64), **_by(TreeReweightedMax()), sums="none"),
    )
}
