"""Transformers of a pipeline as ONNX nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...features import Each, Windows
from .builder import GraphBuilder

KNOWN = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, PCA (within each) and Windows"


def transformed(graph: GraphBuilder, transformers: Any, rows: str) -> str:
    """Return the rows of a sequence as a pipeline's transformers make them."""
    for one in transformers:
        rows = _transformed(graph, one, rows)
    return rows


def _transformed(graph: GraphBuilder, one: Any, rows: str) -> str:
    if isinstance(one, Windows):
        return _windows(graph, one, rows)
    name = type(getattr(one, "transformer_", None)).__name__
    if isinstance(one, Each) and one.per_sequence and name == "StandardScaler":
        return _by_itself(graph, one.transformer_, rows)
    if isinstance(one, Each) and not one.per_sequence and name in AFFINE:
        shift, factor = AFFINE[name](one.transformer_)
        moved = rows if shift is None else graph("Sub", rows, graph.floats(shift))
        return moved if factor is None else graph("Mul", moved, graph.floats(factor))
    if isinstance(one, Each) and not one.per_sequence and name == "PCA":
        return _projected(graph, one.transformer_, rows)
    what = f"{name}, sequence by sequence," if isinstance(one, Each) and one.per_sequence else None
    raise InputError(f"ONNX export does not know {what or type(one).__name__}; it knows {KNOWN}.")


def _standard(scaler: Any) -> tuple[Array | None, Array | None]:
    shift = scaler.mean_ if scaler.with_mean else None
    return shift, 1 / scaler.scale_ if scaler.with_std else None


def _unit(scaler: Any) -> tuple[Array | None, Array | None]:
    """x·s + m = (x + m/s)·s."""
    if scaler.clip:
        raise InputError("ONNX export does not know MinMaxScaler(clip=True).")
    return -scaler.min_ / scaler.scale_, scaler.scale_


AFFINE: Mapping[str, Callable[[Any], tuple[Array | None, Array | None]]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _unit,
    "MaxAbsScaler": lambda scaler: (None, 1 / scaler.scale_),
    "RobustScaler": lambda scaler: (
        scaler.center_ if scaler.with_centering else None,
        1 / scaler.scale_ if scaler.with_scaling else None,
    ),
}
"""What is subtracted from columns, and what they are multiplied with then."""


def _projected(graph: GraphBuilder, pca: Any, rows: str) -> str:
    weights = pca.components_.T
    if pca.whiten:
        weights = weights / np.sqrt(pca.explained_variance_)
    return graph("MatMul", graph("Sub", rows, graph.floats(pca.mean_)), graph.floats(weights))


def _by_itself(graph: GraphBuilder, scaler: Any, rows: str) -> str:
    """Standardise by the sequence's own means and deviations; what does not vary is only centred."""
    axes = graph.whole([0])
    mean = graph("ReduceMean", rows, axes, keepdims=1)
    apart = graph("Sub", rows, mean)
    variance = graph("ReduceMean", graph("Mul", apart, apart), axes, keepdims=1)
    floor = 10 * np.finfo(graph.dtype).eps
    scale = graph("Sqrt", variance)
    size = graph("Max", graph("Abs", mean), graph.floats(1.0))
    still = graph("LessOrEqual", scale, graph("Mul", size, graph.floats(floor)))
    kept = graph("Where", still, graph.floats(1.0), scale)
    moved = apart if scaler.with_mean else rows
    return graph("Div", moved, kept) if scaler.with_std else moved


def _windows(graph: GraphBuilder, windows: Windows, rows: str) -> str:
    """Return every position with its neighbours: rows by their places, or the padding beyond the ends."""
    length = graph("Squeeze", graph("Shape", rows, start=0, end=1), graph.whole([0]))
    place = graph("Range", graph.whole(0), length, graph.whole(1))
    last = graph("Sub", length, graph.whole(1))
    parts = []
    for k in range(windows.width):
        step = windows.stride * (k - windows.width // 2)
        there = graph("Add", place, graph.whole(step))
        within = graph("Min", graph("Max", there, graph.whole(0)), last)
        part = graph("Gather", rows, within, axis=0)
        if windows.padding != "edge":
            known = graph("Unsqueeze", graph("Equal", there, within), graph.whole([1]))
            part = graph("Where", known, part, graph.floats(windows.padding))
        if windows.weights is not None:
            part = graph("Mul", part, graph.floats(windows.weights[k]))
        parts.append(part)
    return graph("Concat", *parts, axis=1)
