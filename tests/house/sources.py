"""The modules of a package, as text and as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

GENERATED = frozenset({"_core", "_version"})
"""Modules that are made when the package is built: no meter counts them, and every folder may import them."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """One file of a package.

    Attributes
    ----------
    name : ("kernelfields", "io", "text"); that of an ``__init__.py`` is its package's
    package : the name of the folder, which begins with the package too
    path : relative to the package
    text : the source
    tree : the source, parsed
    """

    name: tuple[str, ...]
    package: tuple[str, ...]
    path: Path
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The top-level folder, or "." for the files beside them."""
        return self.path.parts[0] if len(self.path.parts) > 1 else "."


def read_modules(package: Path) -> list[Module]:
    """Read all Python files below `package`, in the order of their paths."""
    return [_read(package, path) for path in sorted(package.rglob("*.py")) if path.stem not in GENERATED]


def _read(root: Path, path: Path) -> Module:
    relative = path.relative_to(root)
    folder = (root.name, *relative.parent.parts)
    name = folder if path.stem == "__init__" else (*folder, path.stem)
    text = path.read_text(encoding="utf-8")
    return Module(name, folder, relative, text, ast.parse(text))


def module_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under if, try and with included."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.stmt):
                yield child
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                waiting.append(child)


def functions(tree: ast.Module) -> Iterator[Function]:
    """Yield all functions and methods of a module, nested ones included, in no particular order."""
    return (node for node in ast.walk(tree) if isinstance(node, Function))
