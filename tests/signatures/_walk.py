"""Every numeric parameter of everything public, and values that no sensible caller gives."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

MODULES = (
    "estimators",
    "models.parts",
    "decoders",
    "structures",
    "kernels",
    "features",
    "fields",
    "metrics",
    "constraints",
    "emissions",
    "solvers",
    "losses",
    "approximation",
    "selection",
    "online",
    "datasets",
    "io",
    "gram",
    "report",
    "plot",
    "active",
    "trials",
    "guarantees",
)

NAN, INF = float("nan"), float("inf")
VALUES: tuple[Any, ...] = (0, -1, NAN, INF, -INF, 2**31, 2**62, 10**30, 1e308, 2.5, "x", None, [1], True)


class Parameter(NamedTuple):
    """One numeric parameter of something public."""

    target: str
    """``module.function``, ``module.Class`` or ``module.Class.method``."""
    name: str


def parameters() -> Iterator[Parameter]:
    """All of them, in the order of the modules."""
    for module in MODULES:
        found = importlib.import_module(f"kernelfields.{module}")
        for name in found.__all__:
            thing = getattr(found, name)
            if callable(thing):
                for target, called in _called(f"{module}.{name}", thing):
                    yield from (Parameter(target, one) for one in _numeric(called))


def _called(target: str, thing: Any) -> Iterator[tuple[str, Any]]:
    """The thing itself and, of a class, its methods; what only bases have is theirs."""
    yield target, thing
    if inspect.isclass(thing):
        for name, method in inspect.getmembers(thing, callable):
            if not name.startswith("_"):
                yield f"{target}.{name}", method


def _numeric(called: Any) -> Iterator[str]:
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        return
    for parameter in signature.parameters.values():
        words = re.sub(r"\[.*\]", "", str(parameter.annotation))
        if re.search(r"\b(int|float)\b", words):
            yield parameter.name
