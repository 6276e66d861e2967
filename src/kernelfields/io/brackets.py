"""Penn brackets: constituency trees as text.

    ( (S (NP-SBJ (DT The) (NN dog)) (VP (VBZ barks)) (. .)))

A tree in Python is the nested tuple (label, child, …) whose leaves are (tag, word), see `phrases`. Trees may
go over several lines, and several may stand on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import InputError, quoted
from .lines import Source, TextLine, read_lines, require_short, write_lines
from .phrases import PhraseTree, is_leaf, require_tree

TRACE = "-NONE-"
"""The tag of what is not said."""
MOST_NODES = 1_000_000
"""Brackets of a tree: one with more of them was never closed."""

_PIECE = re.compile(r"[()]|[^() \t]+")
_APART = re.compile(r"[() \t\r\n]")


def read_brackets(
    source: Source, *, functions: bool = True, traces: bool = True, encoding: str = "utf-8"
) -> Iterator[PhraseTree]:
    """Read trees one by one.

    A bracket without a label around a single tree, as the Penn Treebank has it, is taken off. Malformed input
    raises an `InputError` that names file, line and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        A path that ends with .gz is decompressed.
    functions : bool
        Whether function tags and indices of labels are kept; without them NP-SBJ-1 and NP=2 become NP. Tags
        of words, and labels that begin with "-", stay as they are.
    traces : bool
        Whether words with the tag -NONE- are kept; without them phrases that become empty go, too.
    encoding : str
        Any encoding that contains ASCII.

    Yields
    ------
    tuple
        A tree with at least one word.

    Examples
    --------
    >>> from io import StringIO
    >>> [tree] = read_brackets(StringIO("( (S (NP-SBJ (NN dog)) (VP (VBZ barks) (NP (-NONE- *)))))"),
    ...                        functions=False, traces=False)
    >>> tree
    ('S', ('NP', ('NN', 'dog')), ('VP', ('VBZ', 'barks')))
    """
    open_nodes: list[list[Any]] = []
    begun, count = None, 0
    for line in read_lines(source, encoding):
        for piece in _PIECE.findall(line.text):
            if piece == "(":
                begun, count = (line, 1) if not open_nodes else (begun, count + 1)
                if count > MOST_NODES:
                    raise line.error(f"the tree has more than {MOST_NODES:,} brackets.")
                open_nodes.append([None])
            elif not open_nodes:
                what = "a bracket is closed that was not opened" if piece == ")" else f"{quoted(piece, 40)}"
                raise line.error(what + ("." if piece == ")" else " is outside of all brackets."))
            elif piece != ")":
                _add(line, open_nodes[-1], piece)
            else:
                node = _closed(line, open_nodes.pop())
                if open_nodes:
                    open_nodes[-1].append(node)
                else:
                    yield _stripped(line, node, functions, traces)
    if open_nodes and begun is not None:
        raise begun.error(f"the tree that begins here ends with {len(open_nodes)} brackets still open.")


def write_brackets(
    trees: Iterable[Any], target: Source, *, outer: bool = True, encoding: str = "utf-8"
) -> None:
    """Write one tree per line, so that `read_brackets` reads the same ones.

    Parameters
    ----------
    trees : iterable of trees
        Nested tuples (label, child, …), whose leaves are (tag, word).
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    outer : bool
        Whether a bracket without a label is around each tree, as the Penn Treebank has it.
    encoding : str
        Any encoding that contains ASCII.
    """
    texts = (bracketed(require_tree(tree, f"Tree {s}"), f"Tree {s}") for s, tree in enumerate(trees))
    write_lines((f"( {text})" if outer else text for text in texts), target, encoding)


def bracketed(tree: PhraseTree, what: str = "The tree") -> str:
    """Return a tree as text on one line.

    Examples
    --------
    >>> bracketed(("NP", ("DT", "the"), ("NN", "dog")))
    '(NP (DT the) (NN dog))'
    """
    pieces: list[str] = []
    waiting: list[Any] = [tree]
    while waiting:
        top = waiting.pop()
        if isinstance(top, str):
            pieces.append(top)
            continue
        _require_text(top[0], what, may_be_empty=not is_leaf(top))
        if is_leaf(top):
            _require_text(top[1], what)
            pieces.append(f" ({top[0]} {top[1]})")
        else:
            pieces.append(f" ({top[0]}")
            waiting += [")", *reversed(top[1:])]
    return "".join(pieces)[1:]


def _add(line: TextLine, node: list[Any], piece: str) -> None:
    """Put a label or a word into the innermost open bracket."""
    if len(piece) > 1:
        try:
            require_short(piece, "a word or label")
        except InputError as error:
            raise line.error(str(error)) from None
    if node == [None]:
        node[0] = piece
    elif len(node) > 1:
        raise line.error(f"{quoted(piece, 40)} stands beside another word or a bracket.")
    else:
        node.append(piece)


def _closed(line: TextLine, node: list[Any]) -> PhraseTree:
    """Return a bracket that was read to its end."""
    if len(node) == 1:
        raise line.error(
            "a bracket is empty." if node[0] is None else f"nothing is below {quoted(node[0], 40)}."
        )
    if any(isinstance(child, str) for child in node[1:]) and len(node) > 2:
        raise line.error(f"{quoted(node[1], 40)} stands beside a bracket.")
    return (node[0] or "", *node[1:])


def _stripped(line: TextLine, tree: PhraseTree, functions: bool, traces: bool) -> PhraseTree:
    """Return a tree without what is not wanted."""
    if tree[0] == "" and len(tree) == 2:
        tree = tree[1]
    if functions and traces:
        return tree
    done: list[PhraseTree | None] = []
    waiting: list[tuple[PhraseTree, bool]] = [(tree, False)]
    while waiting:
        top, complete = waiting.pop()
        if is_leaf(top):
            done.append(None if top[0] == TRACE and not traces else top)
        elif complete:
            children = [child for child in done[1 - len(top) :] if child is not None]
            del done[1 - len(top) :]
            label = top[0] if functions else without_functions(top[0])
            done.append((label, *children) if children else None)
        else:
            waiting += [(top, True), *((child, False) for child in reversed(top[1:]))]
    if done[0] is None:
        raise line.error("the tree that ends here has no words, only traces.")
    return done[0]


def without_functions(label: str) -> str:
    """Return a label without function tags and indices.

    Examples
    --------
    >>> without_functions("NP-SBJ-1"), without_functions("NP=2"), without_functions("-LRB-")
    ('NP', 'NP', '-LRB-')
    """
    return label if label.startswith(("-", "=")) else re.split("[-=]", label, maxsplit=1)[0]


def _require_text(text: Any, what: str, may_be_empty: bool = False) -> None:
    if _APART.search(text) or not (text or may_be_empty):
        raise InputError(
            f"{what} has {quoted(text, 40)}, which may not be empty or contain a bracket, a space, a tab "
            "or the end of a line."
        )
