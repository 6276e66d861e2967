"""How the package is laid out: folders, layers, lines."""

from __future__ import annotations

import io
import tokenize
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .sources import Module


def files_of_largest_folder(everything: Sequence[Module]) -> list[str]:
    """Return the Python files of the folder that holds most of them directly."""
    folders = Counter(module.path.parent for module in everything)
    largest = max(sorted(folders), key=folders.__getitem__)
    return [module.path.as_posix() for module in everything if module.path.parent == largest]


def rooms(everything: Sequence[Module]) -> list[str]:
    """Return the folders at the top."""
    return sorted({module.room for module in everything} - {"."})


def layers(pyproject: Path) -> list[str]:
    """Return the layers of the longest contract of import-linter."""
    contracts = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return max((contract.get("layers", []) for contract in contracts), key=len)


def count_lines(everything: Sequence[Module]) -> int:
    """Count the lines of all modules."""
    return sum(len(module.text.splitlines()) for module in everything)


def comment_lines(everything: Sequence[Module]) -> list[str]:
    """Return the lines that hold a comment and nothing else."""
    return [
        f"{module.path.as_posix()}:{token.start[0]} {token.string}"
        for module in everything
        if any(
            line.lstrip().startswith("#") for line in module.text.splitlines()
        )  # few files need the tokenizer
        for token in tokenize.generate_tokens(io.StringIO(module.text).readline)
        if token.type == tokenize.COMMENT and token.line.lstrip() == token.line[token.start[1] :]
    ]
