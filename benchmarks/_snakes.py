"""Snakes with scores that were counted, not learnt: a model of the kind that searches meet."""

from __future__ import annotations

import numpy as np

from kernelfields.datasets.folder import data_file
from kernelfields.structures import SearchedGraphBatch

LABELS = 11


def images(part: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """Colours (H, W, 3) of 0 and 1, and labels (H, W), of every image."""
    with np.load(data_file("snakes", "snakes.npz")) as data:
        shapes, offsets = data[f"{part}_shape"], data[f"{part}_offsets"]
        rgb, label = data[f"{part}_rgb"] // 255, data[f"{part}_label"]
    return [
        (rgb[a:b].reshape(h, w, 3).astype(np.int64), label[a:b].reshape(h, w).astype(np.int64))
        for (h, w), a, b in zip(shapes.tolist(), offsets[:-1], offsets[1:], strict=True)
    ]


def grid_edges(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Edges to the right, then edges down, of a grid whose vertices are numbered row by row."""
    v = np.arange(height * width).reshape(height, width)
    right = np.stack([v[:, :-1].ravel(), v[:, 1:].ravel()], axis=1)
    return right, np.stack([v[:-1].ravel(), v[1:].ravel()], axis=1)


def problems() -> list[tuple[SearchedGraphBatch, dict[str, np.ndarray]]]:
    """Every test image as a graph with scores: logarithms of smoothed counts of the training images."""
    node, pair = _counted(images("train"))
    result = []
    for colours, _ in images("test"):
        codes = _codes(colours)
        right, down = grid_edges(*codes.shape)
        flat, edges = codes.ravel(), np.concatenate([right, down])
        tables = [
            pair[way][flat[ends[:, 0]] % 8, flat[ends[:, 1]] % 8] for way, ends in enumerate((right, down))
        ]
        graph = SearchedGraphBatch([0, flat.size], edges, LABELS, shared_edges=False)
        result.append((graph, {"node": node[flat], "edge": np.concatenate(tables)}))
    return result


def _codes(colours: np.ndarray) -> np.ndarray:
    """The colours of a pixel (the last three bits) and of its four neighbours, in one number."""
    own = colours @ np.array([1, 2, 4])
    padded = np.pad(own, 1)
    h, w = own.shape
    around = [padded[1 + a : 1 + a + h, 1 + b : 1 + b + w] for a, b in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    return own + sum(part * 8 ** (k + 1) for k, part in enumerate(around))


def _counted(train: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    node, pair = np.full((8**5, LABELS), 0.1), np.full((2, 8, 8, LABELS, LABELS), 0.1)
    for colours, labels in train:
        codes, truth = _codes(colours).ravel(), labels.ravel()
        np.add.at(node, (codes, truth), 1.0)
        for way, ends in enumerate(grid_edges(*labels.shape)):
            a, b = ends.T
            np.add.at(pair[way], (codes[a] % 8, codes[b] % 8, truth[a], truth[b]), 1.0)
    joint = pair / pair.sum(axis=(-1, -2), keepdims=True)
    apart = joint.sum(axis=-1, keepdims=True) * joint.sum(axis=-2, keepdims=True)
    return np.log(node / node.sum(axis=1, keepdims=True)), np.log(joint / apart)
