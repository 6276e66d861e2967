"""Formats of model files, and how the header of an older one becomes that of the next.

1: the first. 2: the setting ``structure`` instead of ``order``. 3: one name for settings that mean the same.
4: the kernel named "rbf" takes its width from the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

FORMAT = 4
"""Version of the files written here."""

Settings = dict[str, Any]


def _in_models(node: Any, change: Callable[[str, Settings], None]) -> Any:
    """Return a part of a header in which ``change`` has seen all settings, in models within models too."""
    if isinstance(node, list):
        return [_in_models(part, change) for part in node]
    if not isinstance(node, dict):
        return node
    node = {name: _in_models(part, change) for name, part in node.items()}
    if isinstance(node.get("recipe"), str) and isinstance(node.get("parameters"), dict):
        change(node["recipe"], node["parameters"])
    return node


def _name_structure(recipe: str, settings: Settings) -> None:
    """Turn the ``order`` of format 1 into the ``structure`` of format 2."""
    if "order" in settings:
        settings["structure"] = "chain2" if settings.pop("order") == 2 else "chain"


_NEW_NAMES = {
    "bias": "fit_intercept",
    "epochs": "max_iter",
    "restarts": "n_init",
    "rounds": "max_iter",
    "shrinkage": "learning_rate",
    "step": "learning_rate",
}


def _rename_settings(recipe: str, settings: Settings) -> None:
    """Give the settings of format 2 their names of format 3; no estimator had both names."""
    for old in _NEW_NAMES.keys() & settings.keys():
        settings[_NEW_NAMES[old]] = settings.pop(old)


def _fix_widths(recipe: str, settings: Settings) -> None:
    """Give the kernel named "rbf" the width 1 that it had up to format 3."""
    for name in ("kernel", "edge_kernel"):
        if name in settings:
            settings[name] = _with_width(settings[name])


def _with_width(kernel: Any) -> Any:
    """Return the setting of a kernel, or of several, with that width."""
    if kernel == "rbf":
        return {"$object": "RBF", "parts": {"gamma": 1.0}}
    if isinstance(kernel, list):
        return [_with_width(part) for part in kernel]
    if isinstance(kernel, dict):
        return {name: _with_width(part) for name, part in kernel.items()}
    return kernel


UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda header: _in_models(header, _name_structure),
    2: lambda header: _in_models(header, _rename_settings),
    3: lambda header: _in_models(header, _fix_widths),
}
"""By version, what turns the header of older files into that of the next version."""
