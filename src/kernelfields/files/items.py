"""Labelled sequences, trees or graphs, whatever file they came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..features import ArrayTokens
from ..tables import STRUCTURES

LINKS = {"tree": "parents", "graph": "edges"}
"""What items have besides tokens or numbers, by the names of structures."""


class NamedColumns(np.ndarray):
    """A matrix with named columns, which models match by name as they do those of data frames."""

    columns: Sequence[str] | None = None

    @classmethod
    def of(cls, numbers: Any, columns: Sequence[str]) -> NamedColumns:
        """Name the columns of a matrix."""
        named: NamedColumns = np.asarray(numbers).view(cls)
        named.columns = columns
        return named


class TreeInput(NamedTuple):
    """A tree as models take it."""

    features: Any
    parents: list[int]
    """Counted within the tree, −1 for roots."""


class GraphInput(NamedTuple):
    """A graph as models take it."""

    features: Any
    edges: list[list[int]]
    """Pairs of positions, counted within the graph."""


class Place(NamedTuple):
    """Where an item was read."""

    file: str
    number: int
    """Of the item, counted from 0."""
    line: int | None
    """Of its first position, if every position has a line."""

    def at(self, position: int) -> str:
        """Return where a position is, in words."""
        if self.line is not None:
            return f"{self.file}, line {self.line + position}"
        return f"{self.file}, sequence {self.number}, position {position}"


@dataclass(frozen=True)
class Item:
    """One sequence, one tree, or one graph."""

    x: Any
    """What models of sequences take: tokens (strings, tuples of columns, dictionaries) or a (T, D) array."""
    y: list[Any] | None
    """Labels, None for unobserved ones; or None if there are no labels."""
    texts: list[str]
    """What to show of every position."""
    source: Any
    """As it was read, to be written again with labels."""
    parents: list[int] | None = None
    """Of every position of a tree, counted from 0 and −1 for roots."""
    edges: list[list[int]] | None = None
    """Pairs of positions of a graph."""

    group: Any = None
    """What it belongs to, a person say: items of one group stay on one side of a split; None if not told."""

    place: Place | None = None
    """Where it was read, if that is known."""

    @property
    def input(self) -> Any:
        """What models take."""
        if self.edges is not None:
            return GraphInput(self.x, self.edges)
        return self.x if self.parents is None else TreeInput(self.x, self.parents)

    @property
    def structure(self) -> str:
        """The name of the structure that takes it."""
        return "graph" if self.edges is not None else "chain" if self.parents is None else "tree"

    @property
    def name(self) -> str | None:
        """What the file calls it, if it does."""
        other = getattr(self.source, "other", {})
        comments = (c.removeprefix("#").partition("=") for c in getattr(self.source, "comments", ()))
        told = {key.strip(): value.strip() for key, _, value in comments}
        found = getattr(self.source, "name", None) or other.get("id") or told.get("sent_id")
        return None if found is None else str(found)

    def flat(self) -> Item:
        """Return it as a sequence."""
        return replace(self, parents=None, edges=None)


@dataclass(frozen=True)
class FileData:
    """All the sequences, trees or graphs in a file."""

    items: list[Item]
    kind: str
    notes: tuple[str, ...] = ()
    """What of the file is not there, or not as it was."""

    @property
    def inputs(self) -> list[Any]:
        """Inputs."""
        return [item.input for item in self.items]

    @property
    def labels(self) -> list[list[Any]]:
        """Labels."""
        return [item.y or [] for item in self.items]

    @property
    def texts(self) -> list[list[str]]:
        """What to show."""
        return [item.texts for item in self.items]

    @property
    def names(self) -> list[str] | None:
        """What the file calls the items; None if it does not name them all."""
        told = [item.name for item in self.items]
        return [name for name in told if name is not None] if all(told) else None

    @property
    def is_text(self) -> bool:
        """Whether positions are tokens of text, not numbers or dictionaries of features."""
        first = next((item.x[0] for item in self.items if len(item.x)), None)
        return isinstance(first, str | tuple)

    @property
    def is_letters(self) -> bool:
        """Whether tokens are single letters, what FASTA takes for some: bases or amino acids, in any file."""
        tokens = (token for item in self.items for token in item.x)
        return self.is_text and all(isinstance(t, str) and len(t) == 1 and "!" <= t <= "~" for t in tokens)

    @property
    def is_sparse(self) -> bool:
        """Whether features are many and mostly absent: those of tokens."""
        first = next((item.x[0] for item in self.items if len(item.x)), None)
        return isinstance(first, str | tuple | dict)

    @property
    def is_joint(self) -> bool:
        """Whether tokens have numbers beside them."""
        return any(isinstance(item.x, ArrayTokens) for item in self.items)

    @property
    def structure(self) -> str:
        """The name of the structure that takes the items."""
        return next((item.structure for item in self.items if item.structure != "chain"), "chain")

    @property
    def noun(self) -> str:
        """What items are called, all of them."""
        return STRUCTURES[self.structure].words.items

    @property
    def n_positions(self) -> int:
        """Positions of all sequences."""
        return sum(len(item.x) for item in self.items)

    @property
    def known(self) -> list[Any]:
        """All observed labels, concatenated."""
        return [label for item in self.items for label in item.y or [] if label is not None]

    @property
    def groups(self) -> list[Any] | None:
        """What items belong to; None if nobody said it."""
        told = [item.group for item in self.items]
        return None if all(group is None for group in told) else told

    @property
    def n_columns(self) -> int:
        """Columns of a token."""
        first = next((item.x[0] for item in self.items if len(item.x)), "")
        return len(first) if isinstance(first, tuple) else 1

    @property
    def form(self) -> str:
        """What positions are, in words."""
        first = next((item.x[0] for item in self.items if len(item.x)), None)
        if isinstance(first, np.ndarray):
            return f"{len(first)} numbers"
        if isinstance(first, dict):
            return "objects of features"
        tokens = "tokens of one column" if self.n_columns == 1 else f"tokens of {self.n_columns} columns"
        beside = next((item.x for item in self.items if isinstance(item.x, ArrayTokens)), None)
        return tokens if beside is None else f"{tokens} with {beside.numbers.shape[1]} numbers each"

    def flat(self) -> FileData:
        """Return trees and graphs as sequences."""
        return FileData([item.flat() for item in self.items], self.kind, self.notes)

    def take(self, ids: Any) -> FileData:
        """Return some of the sequences."""
        return FileData([self.items[i] for i in ids], self.kind)
