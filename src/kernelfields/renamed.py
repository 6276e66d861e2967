"""Old names of settings, and what to write in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping

RUN = ("dtype", "memory_limit", "patience", "callback", "checkpoint", "checkpoint_seconds", "quick_start")
RENAMED: Mapping[str, str] = {
    "edge_penalty": "parts=Parts(edges=FreeScores(penalty=...))",
    "second_order_penalty": "parts=Parts(second_order=FreeScores(penalty=...))",
    "fit_intercept": "parts=Parts(bias=None)",
    "boundaries": "parts=Parts(boundaries=None)",
    "edges": "parts=Parts(edges=None)",
    "edge_features": "parts=Parts(edge_features=LinearScores())",
    "edge_kernel": "parts=Parts(edge_kernel=KernelScores(...))",
    "edge_kernel_penalty": "parts=Parts(edge_kernel=KernelScores(penalty=...))",
    "clique_kernels": 'parts=Parts(pairs=KernelScores(..., on="edge", view="all"))',
    "label_kernel": "parts=Parts(kernel=KernelScores(labels=...))",
    "norms": "parts=Parts(edges=FreeScores(norm=...))",
    "base_measure": "parts=Parts(known=FixedScores(...))",
    "edge_trees": "parts=Parts(edge_trees=TreeScores())",
    "class_weight": "loss=Log(class_weight=...)",
    "cost": "loss=Log(cost=...)",
    "approximation": 'basis="nystroem"',
    "selection": "basis=SGPS(...)",
    "kernel_weights": "kernel=Weighted([...], by=...)",
    **{name: f"run=Run({name}=...)" for name in RUN},
}


def new_setting(name: str, known: Collection[str]) -> str:
    """Return what to write for an old name; "" where none of the known settings is in its place."""
    new = RENAMED.get(name, "")
    return new if name not in known and new.partition("=")[0] in known else ""
