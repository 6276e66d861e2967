"""Formats of model files, and how the header of an older one becomes that of the next.

1: the first. 2: the setting ``structure`` instead of ``order``. 3: one name for settings that mean the same.
4: the kernel named "rbf" takes its width from the data. 5: so do "laplacian", "matern" and "chi2", and no
posterior is linearised. 6: settings that belong together are one object, such as the loss with its
costs, and the parts of a model.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from .composition import compose

FORMAT = 6
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


_WIDTHS = {
    "chi2": ("ExponentialChiSquare", "gamma"),
    "laplacian": ("Laplacian", "gamma"),
    "matern": ("Matern", "length_scale"),
    "rbf": ("RBF", "gamma"),
}
"""By names of kernels, their classes and settings of their width."""
_FUNCTION = "FunctionOfSklearn"
"""Has names of functions, which are no names of kernels."""


def _fix_widths(names: Collection[str], recipe: str, settings: Settings) -> None:
    """Give kernels of some names the width 1 that they had before it came from the data."""
    for name in ("kernel", "edge_kernel"):
        if name in settings:
            settings[name] = _with_width(settings[name], names)


def _with_width(kernel: Any, names: Collection[str]) -> Any:
    """Return the setting of a kernel, or of several, with that width."""
    if isinstance(kernel, str) and kernel in names:
        kind, width = _WIDTHS[kernel]
        return {"$object": kind, "parts": {width: 1.0}}
    if isinstance(kernel, list):
        return [_with_width(part, names) for part in kernel]
    if isinstance(kernel, dict) and kernel.get("$object") != _FUNCTION:
        return {name: _with_width(part, names) for name, part in kernel.items()}
    return kernel


def _average_functions(node: Any) -> Any:
    """Drop "linearised", which format 4 had: models average over the functions that they have kept."""
    if isinstance(node, list):
        return [_average_functions(part) for part in node]
    if not isinstance(node, dict):
        return node
    result = {name: _average_functions(part) for name, part in node.items()}
    if result.get("$object") in ("Laplace", "Averaging") and isinstance(result.get("parts"), dict):
        result["parts"].pop("linearised", None)
    return result


UPGRADES: Mapping[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda header: _in_models(header, _name_structure),
    2: lambda header: _in_models(header, _rename_settings),
    3: lambda header: _in_models(header, partial(_fix_widths, ("rbf",))),
    4: lambda header: _average_functions(
        _in_models(header, partial(_fix_widths, ("laplacian", "matern", "chi2")))
    ),
    5: lambda header: _in_models(header, compose),
}
"""By version, what turns the header of older files into that of the next version."""
