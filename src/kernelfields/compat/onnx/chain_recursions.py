"""The recursions of a chain as Scan nodes, over sequences of any length ≥ 1.

node[t, j] and edge[i, j] are scores; edge[t, i, j] where every edge has its own, of the step from t − 1 to t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .builder import GraphBuilder


class ChainScores(NamedTuple):
    """Names of tensors with the scores of one sequence."""

    node: str
    """(T, L)."""
    edge: str
    """(L, L), or (T, L, L) if untied; of the first step, there is none, and anything may stand there."""
    n_labels: int
    untied: bool


def marginals(graph: GraphBuilder, scores: ChainScores) -> str:
    """Return p(y_t|x), (T, L): exp(α + β) in every row, normalised."""
    both = graph("Add", _forward(graph, scores), _backward(graph, scores))
    return graph("Softmax", both, axis=1)


def best_labels(graph: GraphBuilder, scores: ChainScores) -> str:
    """Return the labels of the best labelling, (T,): δ_t(j) = node[t, j] + max_i δ_{t−1}(i) + edge[i, j]."""
    L, first = scores.n_labels, _positions_are(graph, scores.node, last=False)
    body = graph.inner()
    reached = _arrivals(body, scores, "before", "edge_t")
    axes = body.whole([0])
    best = body("ReduceMax", reached, axes, keepdims=0)
    origin = body("ArgMax", reached, axis=0, keepdims=0)
    after = body("Add", "node_t", body("Where", "first_t", body.floats([0.0] * L), best))
    outputs = _named(body, {"after": after, "origin": origin})
    final, origins = _scan(
        graph, body, scores, [("before", [L])], first, "first_t", outputs, [L], reverse=False
    )
    end = graph("ArgMax", final, axis=0, keepdims=0)
    return _followed(graph, origins, end, L)


def _forward(graph: GraphBuilder, scores: ChainScores) -> str:
    """α_t(j) = node[t, j] + log Σ_i exp(α_{t−1}(i) + edge[i, j])."""
    L, first = scores.n_labels, _positions_are(graph, scores.node, last=False)
    body = graph.inner()
    total = body.log_sum_exp(_arrivals(body, scores, "before", "edge_t"), 0)
    after = body("Add", "node_t", body("Where", "first_t", body.floats([0.0] * L), total))
    outputs = _named(body, {"after": after, "alpha": after})
    return _scan(graph, body, scores, [("before", [L])], first, "first_t", outputs, [L], reverse=False)[1]


def _backward(graph: GraphBuilder, scores: ChainScores) -> str:
    """β_t(i) = log Σ_j exp(edge[i, j] + node[t + 1, j] + β_{t+1}(j)), from the last position to the first."""
    L, last = scores.n_labels, _positions_are(graph, scores.node, last=True)
    body = graph.inner()
    edge = "edge_next" if scores.untied else scores.edge
    total = body.log_sum_exp(body("Add", edge, body("Unsqueeze", "later", body.whole([0]))), 1)
    beta = body("Where", "last_t", body.floats([0.0] * L), total)
    named = {"earlier": body("Add", "node_t", beta)}
    states = [("later", [L])]
    if scores.untied:  # the edge at t leads from t − 1 to t: it is kept for the step before
        states.append(("edge_next", [L, L]))
        named["edge_kept"] = body("Identity", "edge_t")
    outputs = _named(body, {**named, "beta": beta})
    return _scan(graph, body, scores, states, last, "last_t", outputs, [L], reverse=True)[-1]


def _arrivals(body: GraphBuilder, scores: ChainScores, before: str, own: str) -> str:
    """Return before[i] + edge[i, j]."""
    edge = own if scores.untied else scores.edge
    return body("Add", edge, body("Unsqueeze", before, body.whole([1])))


def _positions_are(graph: GraphBuilder, node: str, *, last: bool) -> str:
    """Return which positions are the first, or the last: (T,) booleans."""
    length = graph("Squeeze", graph("Shape", node, start=0, end=1), graph.whole([0]))
    place = graph("Range", graph.whole(0), length, graph.whole(1))
    wanted = graph("Sub", length, graph.whole(1)) if last else graph.whole(0)
    return graph("Equal", place, wanted)


def _named(body: GraphBuilder, values: dict[str, str]) -> list[str]:
    """Give the outputs of a body names of their own: one value may be several outputs."""
    result = []
    for name, value in values.items():
        result.append(f"{name}_{body.name()}")
        body.give(value, result[-1])
    return result


def _scan(
    graph: GraphBuilder,
    body: GraphBuilder,
    scores: ChainScores,
    states: list[tuple[str, list[int]]],
    flags: str,
    flag: str,
    outputs: list[str],
    shape: list[int],
    *,
    reverse: bool,
) -> list[str]:
    """Add a Scan over positions; return its final states and what it collected."""
    L, tensor = scores.n_labels, graph.onnx.TensorProto
    kinds = [tensor.INT64 if name.startswith("origin") else graph.kind for name in outputs]
    given = [("node_t", [L], graph.kind, scores.node), (flag, [], tensor.BOOL, flags)]
    if scores.untied:
        given.append(("edge_t", [L, L], graph.kind, scores.edge))
    inputs = [body.value(name, size) for name, size in states]
    inputs += [body.value(name, size, kind) for name, size, kind, _ in given]
    sizes = [size for _, size in states] + [shape]
    ends = [body.value(name, size, kind) for name, size, kind in zip(outputs, sizes, kinds, strict=True)]
    starts = [graph.floats(np.zeros(size)) for _, size in states]
    return graph.several(
        "Scan",
        len(outputs),
        *starts,
        *(tensor_name for *_, tensor_name in given),
        body=body.graph(f"step_{graph.name()}", inputs, ends),
        num_scan_inputs=len(given),
        scan_input_directions=[int(reverse)] * len(given),
        scan_output_directions=[int(reverse)],
    )


def _followed(graph: GraphBuilder, origins: str, end: str, L: int) -> str:
    """Return labels from the last to the first: each says where the one before it was."""
    kind = graph.onnx.TensorProto.INT64
    body = graph.inner()
    before = body("Gather", "origin_t", "label", axis=0)
    outputs = _named(body, {"before": before, "label_out": body("Identity", "label")})
    inputs = [body.value("label", [], kind), body.value("origin_t", [L], kind)]
    ends = [body.value(name, [], kind) for name in outputs]
    return graph.several(
        "Scan",
        2,
        end,
        origins,
        body=body.graph("way_back", inputs, ends),
        num_scan_inputs=1,
        scan_input_directions=[1],
        scan_output_directions=[1],
    )[1]
