"""Fitted chain models as ONNX models."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...checks import shown
from ...decoders import Posterior, Viterbi
from ...errors import InputError
from ...estimators import SequencePipeline
from ...features import Each, Windows
from ...io.replacing import write_file
from ...models.labeller import SequenceLabeller
from ...persistence.savable import require_fitted
from ...structures import Chain
from .builder import IR_VERSION, OPSET, GraphBuilder
from .chain_recursions import ChainScores, best_labels, marginals
from .clique_scores import NEVER, ScoreGraph


def to_onnx(model: Any, *, dtype: npt.DTypeLike = np.float64) -> Any:
    """Return a fitted chain model as an ONNX model, which labels one sequence of any length T ≥ 1.

    Its input is ``X``, (T, D) numbers. Its outputs are ``labels``, (T,) strings or whole numbers, as the
    model's decoder chooses them, ``indices``, (T,) their places in ``classes_``, and ``marginals``, (T, L):
    Viterbi's algorithm and the forward and backward recursions are Scan nodes. Labels that are neither all
    strings nor all whole numbers are given by ``indices`` alone.

    Known are linear chains (`CRF`, `StructuredSVM`, perceptrons, with features of edges, too), `KernelCRF`
    and others with linear, polynomial and RBF kernels, low-rank and random Fourier features, hidden Markov
    models with Gaussian emissions, rules (``constraints=``) and what `recalibrate` learnt; and
    `SequencePipeline` of these with scalers, PCA and windows.

    Parameters
    ----------
    model : estimator
        Fitted to arrays, with ``structure="chain"``.
    dtype : float64 or float32
        Type of X and of all computations.
    """
    kind = np.dtype(dtype)
    if kind not in (np.float64, np.float32):
        raise InputError(f"dtype is {shown(dtype)}; it must be float64 or float32.")
    require_fitted(model)
    transformers, labeller, width = _parts(model)
    _require_chain(labeller)
    graph = GraphBuilder(kind)
    seen = transformed(graph, transformers, "X")
    learnt = labeller._model()
    scores = ScoreGraph(graph, seen, len(labeller.classes_)).of(learnt)
    probabilities = marginals(graph, scores)
    indices = _decoded(graph, labeller, learnt.forbidden, scores, probabilities)
    return _model(graph, labeller.classes_.tolist(), width, indices, probabilities)


def save_onnx(model: Any, path: str | os.PathLike[str], *, dtype: npt.DTypeLike = np.float64) -> None:
    """Write the ONNX model that `to_onnx` returns to a file."""
    content = to_onnx(model, dtype=dtype).SerializeToString()
    write_file(path, content)


def _parts(model: Any) -> tuple[list[Any], Any, int]:
    """Return transformers, the model of sequences behind them, and the number of columns of X."""
    if not isinstance(model, SequencePipeline):
        return [], model, getattr(model, "n_features_in_", 0)
    inner, labeller, _ = _parts(model.estimator_)
    return [*model.transformers_, *inner], labeller, model.n_features_in_


def _require_chain(model: Any) -> None:
    name = type(model).__name__
    if not isinstance(model, SequenceLabeller):
        raise InputError(f"ONNX export knows models of sequences; {name} is none.")
    if getattr(model, "features_", None) is not None:
        raise InputError(f"ONNX export takes models of arrays; this {name} reads tokens or missing values.")
    learnt = model._model()
    if not isinstance(learnt.structure, Chain) or learnt.structure.order != 1:
        raise InputError(f"ONNX export knows chains of order one, not {shown(learnt.structure)}.")
    if learnt.measure is not None:
        raise InputError("ONNX export does not know base measures.")
    if getattr(model, "posterior_", None) is not None:
        raise InputError("ONNX export does not know means over a posterior.")


def _decoded(graph: GraphBuilder, model: Any, forbidden: Any, scores: ChainScores, probabilities: str) -> str:
    """Return the labels that the model's decoder chooses, as places."""
    decoder = model._decoder(None)
    if isinstance(decoder, Viterbi):
        return best_labels(graph, scores)
    if not isinstance(decoder, Posterior):
        raise InputError(f"ONNX export knows the decoders Viterbi and Posterior, not {shown(decoder)}.")
    if forbidden is None or not forbidden.pairs.any():
        return graph("ArgMax", probabilities, axis=1, keepdims=0)
    # Among labellings that rules allow, the one with the highest sum of marginals; no probability, no label.
    never = graph("LessOrEqual", probabilities, graph.floats(0.0))
    node = graph("Where", never, graph.floats(NEVER), probabilities)
    edge = graph.floats(np.where(forbidden.pairs, NEVER, 0.0))
    return best_labels(graph, ChainScores(node, edge, scores.n_labels, untied=False))


def _model(graph: GraphBuilder, classes: list[Any], width: int, indices: str, probabilities: str) -> Any:
    onnx = graph.onnx
    tensor = onnx.TensorProto
    graph.give(indices, "indices")
    graph.give(probabilities, "marginals")
    outputs = [graph.value("indices", ["T"], tensor.INT64), graph.value("marginals", ["T", len(classes)])]
    if all(type(label) is str for label in classes):
        graph.give(graph("Gather", graph.constant(np.array(classes, dtype=object)), indices), "labels")
        outputs.insert(0, graph.value("labels", ["T"], tensor.STRING))
    elif all(type(label) is int for label in classes):
        graph.give(graph("Gather", graph.whole(classes), indices), "labels")
        outputs.insert(0, graph.value("labels", ["T"], tensor.INT64))
    body = graph.graph("chain", [graph.value("X", ["T", width])], outputs)
    opset = [onnx.helper.make_operatorsetid("", OPSET)]
    result = onnx.helper.make_model(
        body, opset_imports=opset, ir_version=IR_VERSION, producer_name="kernelfields"
    )
    onnx.helper.set_model_props(result, {"classes": json.dumps([str(label) for label in classes])})
    onnx.checker.check_model(result)
    return result


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
