"""Kernel values k(x_t, b_o) as ONNX nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ...kernels import RBF, Columns, Kernel, Linear, Polynomial, Product, Scaled, Sum
from .builder import GraphBuilder


def kernel_block(graph: GraphBuilder, kernel: Kernel, rows: str, basis: Array) -> str:
    """Return k(x_t, b_o), (T, n), for the rows of a sequence and a fixed basis."""
    if isinstance(kernel, Columns):
        chosen = np.arange(basis.shape[1])[_columns(kernel.columns)]
        return kernel_block(
            graph, kernel.kernel, graph("Gather", rows, graph.whole(chosen), axis=1), basis[:, chosen]
        )
    if isinstance(kernel, Scaled):
        inner = kernel_block(graph, kernel.kernel, rows, basis)
        return graph("Mul", inner, graph.floats(kernel.factor))
    if isinstance(kernel, Sum | Product):
        operator = "Add" if isinstance(kernel, Sum) else "Mul"
        first, *others = (kernel_block(graph, one, rows, basis) for one in kernel.parts)
        for other in others:
            first = graph(operator, first, other)
        return first
    products = graph("MatMul", rows, graph.floats(basis.T))
    if isinstance(kernel, Linear):
        return products
    if isinstance(kernel, Polynomial):
        inner = graph("Add", graph("Mul", products, graph.floats(kernel.gamma)), graph.floats(kernel.offset))
        return graph("Pow", inner, graph.floats(kernel.degree))
    if isinstance(kernel, RBF):
        return _gaussian(graph, kernel, rows, basis, products)
    raise InputError(
        f"ONNX export knows linear, polynomial and RBF kernels, their sums, products, multiples and columns, "
        f"not {type(kernel).__name__}."
    )


def _columns(columns: Any) -> Any:
    return columns if isinstance(columns, slice) else np.asarray(columns)


def _gaussian(graph: GraphBuilder, kernel: RBF, rows: str, basis: Array, products: str) -> str:
    """exp(−γ(‖x‖² + ‖b‖² − 2⟨x, b⟩)); rounding may not make distances negative."""
    own = graph("ReduceSum", graph("Mul", rows, rows), graph.whole([1]), keepdims=1)
    norms = graph.floats((np.asarray(basis, dtype=np.float64) ** 2).sum(axis=1))
    far = graph("Sub", graph("Add", own, norms), graph("Mul", products, graph.floats(2.0)))
    far = graph("Max", far, graph.floats(0.0))
    return graph("Exp", graph("Mul", far, graph.floats(-kernel.inverse_width)))
