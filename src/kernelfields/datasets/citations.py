"""Scientific papers that cite each other: one graph, few labels."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..checks import require_whole
from ..errors import InputError
from .folder import data_file

SETS = ("cora", "citeseer")


class CitationGraph(NamedTuple):
    """Papers with their words and citations, and which of them to learn from, to choose by and to test on."""

    words: sparse.csr_matrix
    """(N, D): 1 where a paper has a word; some have none."""
    edges: Array
    """(E, 2): two papers of which one cites the other, each pair once."""
    labels: Array
    """(N,): the field of every paper, from 0 on; −1 where the data have none."""
    train: Array
    """Papers to learn from, by number."""
    validation: Array
    """Papers to choose settings by."""
    test: Array

    def known(self, papers: Array) -> list[int | None]:
        """Return the labels of some papers, None for all others: what a model is fitted to."""
        result: list[int | None] = [None] * len(self.labels)
        for v in papers.tolist():
            result[v] = int(self.labels[v])
        return result

    def split(self, seed: int, per_class: int = 20, n_validation: int = 500, n_test: int = 1000) -> Self:
        """Return the same graph with other papers to learn from, drawn: some per field, then the rest.

        Parameters
        ----------
        seed : int
            Of the draw.
        per_class : int
            Papers of each field to learn from.
        n_validation, n_test : int
            Papers to choose by, and to test on.
        """
        rng = np.random.default_rng(require_whole("seed", seed, 0))
        order = rng.permutation(np.flatnonzero(self.labels >= 0))
        size = require_whole("per_class", per_class, 1)
        fields = range(int(self.labels.max()) + 1)
        train = np.concatenate([order[self.labels[order] == field][:size] for field in fields])
        rest = order[~np.isin(order, train)]
        ends = require_whole("n_validation", n_validation, 0), require_whole("n_test", n_test, 0)
        if sum(ends) > len(rest):
            raise InputError(
                f"{sum(ends)} papers to choose by and test on are more than the {len(rest)} left."
            )
        validation, test = rest[: ends[0]], rest[ends[0] : sum(ends)]
        return self._replace(train=np.sort(train), validation=np.sort(validation), test=np.sort(test))


def load_citations(name: str, folder: str | Path | None = None) -> CitationGraph:
    """Load Cora or CiteSeer in the form and with the split of Planetoid.

    Cora: 2,708 papers of 7 fields, 1,433 words, 5,278 pairs. CiteSeer: 3,327 papers of 6 fields, 3,703
    words, 4,552 pairs; 15 papers have neither words nor a label, and 48 cite nothing and are not cited.
    20 papers per field are there to learn from, 500 to choose by, 1,000 to test on.

    Parameters
    ----------
    name : "cora" or "citeseer"
        Which of the two.
    folder : path, optional
        Folder that has ``planetoid_cora`` and ``planetoid_citeseer``; the one in KERNELFIELDS_DATA if not
        given.
    """
    if name not in SETS:
        raise InputError(f"There is no citation graph {name!r}; choose one of {', '.join(map(repr, SETS))}.")
    with np.load(data_file(f"planetoid_{name}", f"{name}.npz", folder)) as data:
        shape = tuple(data["shape"].tolist())
        words = sparse.csr_matrix((np.ones(len(data["indices"])), data["indices"], data["indptr"]), shape)
        parts = [np.flatnonzero(data["split"] == part) for part in (1, 2, 3)]
        return CitationGraph(words, data["edges"].astype(np.int64), data["label"].astype(np.int64), *parts)
