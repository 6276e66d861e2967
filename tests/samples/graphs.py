"""Papers that cite papers of their own field, mostly."""

from pathlib import Path

import numpy as np

from ._files import write_arrays

WORDS = 140


def write_citations(folder: Path, rng: np.random.Generator) -> None:
    """Cora and CiteSeer, with the sizes of their splits; some papers of the latter have no words."""
    write_graph(folder / "planetoid_cora" / "cora.npz", 1700, 7, 0, rng)
    write_graph(folder / "planetoid_citeseer" / "citeseer.npz", 1700, 6, 5, rng)


def write_graph(path: Path, papers: int, fields: int, odd: int, rng: np.random.Generator) -> None:
    """Write one graph, whose last papers are the odd ones."""
    known = papers - odd
    labels = np.append(np.arange(known) % fields, np.full(odd, -1)).astype(np.int8)
    rows = [
        np.unique(
            np.where(
                rng.random(8) < 0.5,
                labels[n] * (WORDS // fields) + rng.integers(10, size=8),
                rng.integers(WORDS, size=8),
            )
        )
        for n in range(known)
    ] + [np.zeros(0, int)] * odd
    own = rng.integers(known // fields, size=(2 * papers, 2)) * fields + rng.integers(
        fields, size=(2 * papers, 1)
    )
    other = rng.integers(known, size=(papers // 2, 2))
    edges = np.unique(np.sort(np.concatenate([own, other]), axis=1), axis=0)
    split = np.zeros(papers, np.uint8)
    order = rng.permutation(known)
    train = np.concatenate([order[labels[order] == field][:20] for field in range(fields)])
    rest = order[~np.isin(order, train)]
    split[train], split[rest[:500]], split[rest[500:1500]] = 1, 2, 3
    write_arrays(
        path,
        indptr=np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int32),
        indices=np.concatenate(rows).astype(np.int32),
        shape=np.array([papers, WORDS], np.int32),
        label=labels,
        edges=edges[edges[:, 0] < edges[:, 1]].astype(np.int32),
        split=split,
    )
