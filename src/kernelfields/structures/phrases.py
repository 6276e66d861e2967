"""Phrase trees as users write them, and their labelled spans.

A tree is a tuple (label, child, child, …). A leaf is a word: a pair (tag, word) of strings, or the number of
the word within its sentence, from 0 on.

    ("S", ("NP", ("DT", "the"), ("NN", "dog")), ("VP", ("VBZ", "barks")))
    ("S", ("NP", 0, 1), ("VP", 2))

Both have the spans (0, 3) S, (0, 2) NP and (2, 3) VP, and words 0 and 1 as spans without a label: tags are
not part of a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import InputError
from ..io.phrases import is_leaf

Span = tuple[int, int, str]
"""First word, word after the last, label; the empty label for what no phrase stands for."""

JOIN = "+"
"""Between the labels of a chain, phrases with a single child, which become one: S over VP is S+VP."""


def binary_spans(tree: Any, where: str = "The tree") -> list[Span]:
    """Return the spans of a tree made binary: n words have 2n − 1 of them.

    Phrases with more than two children get spans with the empty label over all children but the first, all
    but the first two, and so on. The empty tree, (), has no spans.
    """
    spans: list[Span] = []
    nothing = isinstance(tree, tuple) and not tree
    pending: list[tuple[Any, str, list[int] | None]] = [] if nothing else [(tree, "", None)]
    words = 0
    while pending:
        node, above, starts = pending.pop()
        if isinstance(node, _End):
            _close(node, words, spans)
            continue
        if starts is not None:
            starts.append(words)
        if is_leaf(node):
            if not isinstance(node, tuple) and node != words:
                raise InputError(f"{where} has the word {node} where word {words} is expected.")
            spans.append((words, words + 1, above))
            words += 1
            continue
        label = phrase_label(node, where)
        joined = above + JOIN + label if above else label
        if len(node) == 2:
            pending.append((node[1], joined, None))
            continue
        begins: list[int] = []
        pending.append((_End(joined, begins), "", None))
        pending.extend((child, "", begins) for child in reversed(node[1:]))
    return spans


def tree_of(spans: Iterable[Span], leaves: Sequence[Any] | None = None) -> Any:
    """Return the tree of binary spans, with any number of children and chains restored; () of none.

    Parameters
    ----------
    spans : iterable of (i, j, label)
        As `binary_spans` returns them, in any order.
    leaves : sequence, optional
        What stands at the words; their numbers without.

    Examples
    --------
    >>> tree_of([(0, 2, "NP"), (0, 1, ""), (1, 2, ""), (2, 3, "VP"), (0, 3, "S")])
    ('S', ('NP', 0, 1), ('VP', 2))
    >>> tree_of([(0, 1, ""), (1, 2, ""), (2, 3, ""), (1, 3, ""), (0, 3, "S+VP")], ["a", "b", "c"])
    ('S', ('VP', 'a', 'b', 'c'))
    """
    parts: list[list[Any]] = []
    for i, j, label in sorted(spans, key=lambda span: (span[1], -span[0])):
        if j - i == 1:
            children = [i if leaves is None else leaves[i]]
        else:
            right, left = parts.pop(), parts.pop()
            children = left + right
        parts.append([_grown(label, children)] if label else children)
    return parts[0][0] if parts else ()


def with_leaves(tree: Any, leaves: Sequence[Any]) -> Any:
    """Return a tree with other leaves, such as pairs (tag, word) in the place of numbers.

    Examples
    --------
    >>> with_leaves(("S", ("NP", 0), ("VP", 1)), [("NNS", "dogs"), ("VBP", "bark")])
    ('S', ('NP', ('NNS', 'dogs')), ('VP', ('VBP', 'bark')))
    """
    spans = binary_spans(tree)
    words = sum(j - i == 1 for i, j, _ in spans)
    if words != len(leaves):
        raise InputError(f"The tree has {words} words, but there are {len(leaves)} leaves.")
    return tree_of(spans, leaves)


class _End:
    """Where a phrase with several children ends."""

    def __init__(self, label: str, starts: list[int]) -> None:
        self.label = label
        self.starts = starts


def _close(end: _End, words: int, spans: list[Span]) -> None:
    spans.append((end.starts[0], words, end.label))
    spans.extend((start, words, "") for start in end.starts[1:-1])


def phrase_label(node: Any, where: str) -> str:
    """Return the label of a phrase."""
    if not isinstance(node, tuple) or len(node) < 2:
        raise InputError(
            f"{where} has {str(node)[:40]!r} in the place of a phrase (label, child, …), a pair (tag, word) "
            "or the number of a word."
        )
    label = node[0]
    if not isinstance(label, str) or not label or JOIN in label:
        raise InputError(f"{where} has the label {str(label)[:40]!r}, expected a name without {JOIN!r}.")
    return label


def _grown(label: str, children: list[Any]) -> Any:
    """Return a chain of phrases over children."""
    *above, last = label.split(JOIN)
    tree: Any = (last, *children)
    for name in reversed(above):
        tree = (name, tree)
    return tree
