"""Annotations that say nothing: a bare ``Any``."""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .sources import Function, Module, functions


def count_annotations(everything: Sequence[Module]) -> Mapping[str, Counter[bool]]:
    """Count the annotations of parameters and returns per room: those that are a bare ``Any``, and others.

    ``Any | None`` also counts, because a union with ``Any`` allows everything; ``list[Any]`` does not.
    """
    found: dict[str, Counter[bool]] = defaultdict(Counter)
    for module in everything:
        for function in functions(module.tree):
            found[module.room].update(map(_is_bare, _annotations(function)))
    return found


def share_of_any(counts: Iterable[Counter[bool]]) -> float:
    """Return the share of bare ``Any``, to three digits."""
    total = sum(counts, Counter[bool]())
    return round(total[True] / max(1, total.total()), 3)


def _annotations(function: Function) -> Iterator[ast.expr]:
    """Yield the annotations of one function; those of self and cls are missing anyway."""
    given = function.args
    for parameter in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if parameter is not None and parameter.annotation is not None:
            yield parameter.annotation
    if function.returns is not None:
        yield function.returns


def _is_bare(annotation: ast.expr) -> bool:
    match annotation:
        case ast.Name(id="Any") | ast.Attribute(attr="Any") | ast.Constant(value="Any"):
            return True
        case ast.BinOp(op=ast.BitOr()):
            return _is_bare(annotation.left) or _is_bare(annotation.right)
    return False
