"""The imports of a module, and those of what another folder keeps to itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .sources import GENERATED, Module

Name = tuple[str, ...]


class Import(NamedTuple):
    """One name that a module imports.

    Attributes
    ----------
    line : where
    origin : the full name of the module that it is imported from, or that is imported as a whole
    name : the name in that module; None for a whole module
    """

    line: int
    origin: Name
    name: str | None


def imports(module: Module) -> Iterator[Import]:
    """Yield what a module imports: at its top, inside functions, and for type checkers only."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, tuple(alias.name.split(".")), None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, module)
            yield from (Import(node.lineno, origin, alias.name) for alias in node.names)


def imported_module(found: Import, known: set[Name]) -> Name:
    """Return the module that is imported, or from which a name is."""
    whole = (*found.origin, found.name or "")
    return whole if whole in known else found.origin


def private_imports(everything: Sequence[Module]) -> list[str]:
    """Return the imports of a private module from another folder than its own, one for each file and line.

    Imports inside functions count; so does a subfolder that imports a private module of its parent.
    """
    known = {module.name for module in everything}
    return [
        f"{module.path.as_posix()}:{line} {'.'.join(target)}"
        for module in everything
        for line, target in sorted({(found.line, imported_module(found, known)) for found in imports(module)})
        if _is_private(target, module)
    ]


def _origin(node: ast.ImportFrom, module: Module) -> Name:
    """Return the full name of what stands between ``from`` and ``import``."""
    named = tuple(node.module.split(".")) if node.module else ()
    if not node.level:
        return named
    return module.package[: len(module.package) - node.level + 1] + named


def _is_private(target: Name, module: Module) -> bool:
    """Tell whether a part of the target's name is private to a folder that `module` is not in."""
    if target[0] != module.package[0] or GENERATED.intersection(target[1:2]):
        return False
    return any(
        part.startswith("_") and not part.startswith("__") and not _may_see(module, target[: depth + 1])
        for depth, part in enumerate(target)
    )


def _may_see(module: Module, private: Name) -> bool:
    """A private module is seen from its own folder, and a private folder from inside too."""
    return module.package == private[:-1] or module.package[: len(private)] == private
