"""Formats of model files, and how the header of an older one becomes that of the next.

1: the first. 2: the setting ``structure`` instead of ``order``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

FORMAT = 2
"""Version of the files written here."""


def _structured(node: Any) -> Any:
    """Turn the setting ``order`` of format 1 into the ``structure`` of format 2, in models within models."""
    if isinstance(node, list):
        return [_structured(part) for part in node]
    if not isinstance(node, dict):
        return node
    node = {name: _structured(part) for name, part in node.items()}
    parameters = node.get("parameters")
    if isinstance(node.get("recipe"), str) and isinstance(parameters, dict) and "order" in parameters:
        parameters["structure"] = "chain2" if parameters.pop("order") == 2 else "chain"
    return node


UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {1: _structured}
"""By version, what turns the header of older files into that of the next version."""
