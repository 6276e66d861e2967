"""Chain models as ONNX graphs: scores, best labelling and marginals, with `onnx` (extra ``onnx``)."""

from .export import save_onnx, to_onnx

__all__ = ["save_onnx", "to_onnx"]
