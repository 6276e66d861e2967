"""ONNX graphs, node by node."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...errors import InputError

MISSING = "ONNX export needs the package onnx: pip install 'kernelfields[onnx]'."
OPSET, IR_VERSION = 18, 9


def onnx_package() -> Any:
    """Import onnx; say what to install if it is not there."""
    try:
        import onnx
        import onnx.helper
        import onnx.numpy_helper
    except ImportError as error:
        raise InputError(MISSING) from error
    return onnx


class GraphBuilder:
    """Nodes and constants of a graph; values are the names of tensors.

    Graphs within it, the bodies of loops, have builders of their own, which share its names.
    """

    def __init__(self, dtype: npt.DTypeLike, names: Any = None) -> None:
        self.onnx = onnx_package()
        self.dtype = np.dtype(dtype)
        self.kind = int(self.onnx.helper.np_dtype_to_tensor_dtype(self.dtype))
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._names = count() if names is None else names

    def inner(self) -> GraphBuilder:
        """Return a builder for the body of a loop."""
        return GraphBuilder(self.dtype, self._names)

    def name(self) -> str:
        """Return a name that nothing has."""
        return f"v{next(self._names)}"

    def floats(self, values: Any) -> str:
        """Return a constant of real numbers."""
        return self.constant(np.asarray(values, dtype=self.dtype))

    def whole(self, values: Any) -> str:
        """Return a constant of whole numbers."""
        return self.constant(np.asarray(values, dtype=np.int64))

    def constant(self, values: Array) -> str:
        """Return a constant."""
        name = self.name()
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def __call__(self, operator: str, *inputs: str, **settings: Any) -> str:
        """Add a node with one output; return it."""
        return self.several(operator, 1, *inputs, **settings)[0]

    def several(self, operator: str, outputs: int, *inputs: str, **settings: Any) -> list[str]:
        """Add a node; return its outputs."""
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), names, **settings))
        return names

    def give(self, value: str, name: str) -> None:
        """Give a value a name of its own."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))

    def graph(self, name: str, inputs: list[Any], outputs: list[Any]) -> Any:
        """Return the graph of all nodes."""
        return self.onnx.helper.make_graph(self.nodes, name, inputs, outputs, self.constants)

    def value(self, name: str, shape: Any, kind: int | None = None) -> Any:
        """Describe a tensor, of real numbers if no kind is given."""
        return self.onnx.helper.make_tensor_value_info(name, self.kind if kind is None else kind, shape)

    def log_sum_exp(self, values: str, axis: int) -> str:
        """Return log Σ exp along an axis, from the largest: sums neither overflow nor vanish."""
        axes = self.whole([axis])
        largest = self("ReduceMax", values, axes, keepdims=1)
        total = self("ReduceSum", self("Exp", self("Sub", values, largest)), axes, keepdims=0)
        return self("Add", self("Log", total), self("Squeeze", largest, axes))
