"""The structures whose outputs are trees or links, by name and by fitted model."""

from __future__ import annotations

from typing import Any

from ..models.model import fitted_structure
from ._constituencies import ConstituencyTask
from ._dependencies import DependencyTask
from ._matchings import MatchingTask
from ._parses import ParseTask

TASKS: dict[str, ParseTask] = {
    task.name: task for task in (DependencyTask(), ConstituencyTask(), MatchingTask())
}


def task_of(model: Any) -> ParseTask | None:
    """Return what the commands do with a fitted model; None for one that labels positions."""
    if not hasattr(model, "structure_"):
        return None
    structure = fitted_structure(model)
    return next((task for task in TASKS.values() if task.takes(structure)), None)
