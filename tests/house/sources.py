"""The modules of a package, as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Module(NamedTuple):
    """One file of a package.

    Attributes
    ----------
    name : ("kernelfields", "io", "text"); that of an ``__init__.py`` is its package's
    package : the name of the folder, which begins with the package too
    path : relative to the package
    tree : what the file says
    """

    name: tuple[str, ...]
    package: tuple[str, ...]
    path: Path
    tree: ast.Module


def modules(package: Path) -> list[Module]:
    """Read all Python files below `package`, in the order of their paths."""
    return [_module(package, path) for path in sorted(package.rglob("*.py"))]


def _module(root: Path, path: Path) -> Module:
    relative = path.relative_to(root)
    folder = (root.name, *relative.parent.parts)
    name = folder if path.stem == "__init__" else (*folder, path.stem)
    return Module(name, folder, relative, ast.parse(path.read_text(encoding="utf-8")))


def module_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield the statements of a module, those under if, try and with included."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        for child in ast.iter_child_nodes(waiting.pop()):
            if isinstance(child, ast.stmt):
                yield child
            if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                waiting.append(child)
