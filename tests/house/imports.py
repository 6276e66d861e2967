"""Imports of what another folder keeps to itself."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from .sources import Module, modules

Name = tuple[str, ...]

ROOT_MODULES = frozenset({"_core", "_version"})
"""Generated when the package is built; they belong to the whole package."""


def private_imports(package: Path) -> list[str]:
    """Return the imports of a private module from another folder than its own, one for each file and line.

    Imports inside functions count; so does a subfolder that imports a private module of its parent.
    """
    everything = modules(package)
    known = {module.name for module in everything}
    return [
        f"{module.path.as_posix()}:{line} {'.'.join(target)}"
        for module in everything
        for line, target in sorted(_targets(module, known))
        if _is_private(target, module)
    ]


def _targets(module: Module, known: Iterable[Name]) -> Iterator[tuple[int, Name]]:
    """Yield the line and the full name of every module that `module` imports, once for each line."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from {(node.lineno, tuple(alias.name.split("."))) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            origin = _origin(node, module)
            submodules = {(*origin, alias.name) for alias in node.names} & set(known)
            yield from ((node.lineno, target) for target in submodules or {origin})


def _origin(node: ast.ImportFrom, module: Module) -> Name:
    """Return the full name of what stands between ``from`` and ``import``."""
    named = tuple(node.module.split(".")) if node.module else ()
    if not node.level:
        return named
    return module.package[: len(module.package) - node.level + 1] + named


def _is_private(target: Name, module: Module) -> bool:
    """Tell whether a part of the target's name is private to a folder that `module` is not in."""
    if target[0] != module.package[0] or ROOT_MODULES.intersection(target[1:2]):
        return False
    return any(
        part.startswith("_") and not part.startswith("__") and not _may_see(module, target[: depth + 1])
        for depth, part in enumerate(target)
    )


def _may_see(module: Module, private: Name) -> bool:
    """A private module is seen from its own folder, and a private folder from inside too."""
    return module.package == private[:-1] or module.package[: len(private)] == private
