"""Names that a shell completes with the tab key; what is heavy is imported when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable

Completion = Callable[[str], list[str]]


def starting(names: Callable[[], Iterable[str]]) -> Completion:
    """Return a completion by names that are looked up when they are needed."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def _models() -> list[str]:
    from ._models import MODELS

    return [*MODELS, "auto"]


def _formats() -> Iterable[str]:
    from ..files.kinds import FORMATS

    return FORMATS


def _structures() -> Iterable[str]:
    from ..tables import STRUCTURES

    return [*STRUCTURES, "dependency", "constituency", "matching"]


def _constraints() -> Iterable[str]:
    from ..tables import CONSTRAINTS

    return [*CONSTRAINTS, "repair", "none"]


models = starting(_models)
formats = starting(_formats)
structures = starting(_structures)
constraints = starting(_constraints)
features = starting(lambda: ("ner", "pos", "chunking", "letters"))
budgets = starting(lambda: ("30s", "2m", "10m", "1h"))


def several_models(incomplete: str) -> list[str]:
    """Complete the last of some models that are separated by commas."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in models(last) if name != "auto"]
