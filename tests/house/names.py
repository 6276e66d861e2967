"""Class names that mean two things."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Sequence

from .sources import Module, module_level


def names_defined_twice(everything: Sequence[Module]) -> list[str]:
    """Return the class names that several modules define, each with the files that do."""
    files: dict[str, set[str]] = defaultdict(set)
    for module in everything:
        for statement in module_level(module.tree):
            if isinstance(statement, ast.ClassDef):
                files[statement.name].add(module.path.as_posix())
    return [f"{name}: {', '.join(sorted(where))}" for name, where in sorted(files.items()) if len(where) > 1]
