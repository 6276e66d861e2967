"""Dependency trees with features of siblings as a setting: of the tokens of X, or given with X."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array, offsets_of
from ..checks import as_list, is_list, require_unmasked, shown
from ..errors import InputError
from ..features import CliqueKind, TemplateFeatures, Templates
from ..features.extractor import templates_of
from .item_tables import read_table, stacked_tables
from .parses import Dependency, read_allowed, words_of
from .sibling_rows import are_siblings, every_sibling
from .siblings import SiblingDependencyBatch

COLUMNS = 2**18
"""Of features of siblings, which are hashed."""


class SiblingItem(NamedTuple):
    """What an item of X has besides the features of its arcs."""

    tokens: Any = None
    allowed: Array | None = None
    siblings: Any = None
    features: Any = None


class SiblingLinks(NamedTuple):
    """Which arcs and siblings a batch has."""

    allowed: Array | None
    siblings: Array
    """(C, 3)."""
    offsets: Array
    features: Any
    """(C, F)."""


@dataclass(frozen=True)
class SiblingDependency(Dependency):
    """Projective dependency trees of second order: siblings have scores of their own.

    Siblings are two neighbouring words of one head on the same side of it; the first word on a side has the
    head itself in the place of the other one. Items of X and y are as for `Dependency`; a tree scores by the
    features of its arcs and by those of its siblings. A sentence of n words has n³/3 siblings: with
    ``pruned=True`` only those of the arcs that are allowed, by far the fewest. A model has the weights of the
    features of siblings as ``sibling_coef_``.

    Parameters
    ----------
    projective, single_root, labels, pruned
        As in `Dependency`; trees must be projective.
    siblings : str, Templates, TemplateFeatures or None
        What to look at in siblings: templates of siblings, by default those of ``features.sets``, for X that
        are tokens. Their features are hashed, to 2¹⁸ columns unless `TemplateFeatures` with ``n_hash`` say
        otherwise. With None, items of X end with two more parts, siblings and their features: (C, 3) words,
        head, inner and outer one, and a (C, F) array or sparse matrix. Siblings that are not listed score 0.

    Examples
    --------
    >>> from kernelfields import CRF
    >>> X = [[("a", "D"), ("dog", "N"), ("barks", "V")], [("dogs", "N"), ("bark", "V"), ("loudly", "R")]]
    >>> y = [[2, 3, 0], [2, 0, 2]]
    >>> model = CRF(0.01, structure=SiblingDependency(), features="arcs").fit(X, y)
    >>> model.predict(X) == y
    True
    """

    siblings: Any = "siblings"

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        super().__post_init__()
        if not self.projective:
            raise InputError("Scores of siblings are for projective trees: projective must be True.")
        if self.siblings is not None:
            self._extractor  # noqa: B018  # refuses what is none

    @property
    def linked(self) -> bool:  # type: ignore[override]
        """Whether items of X hold more than features of arcs."""
        return self.pruned or self.siblings is None

    def split(self, X: Any, lengths: Any = None) -> tuple[Any, Any]:
        """Return features of arcs or tokens, and the rest of every item."""
        if lengths is not None:
            raise InputError("lengths= is for sequences; X must be a list with an item for every sentence.")
        X = as_list(X)
        if not is_list(X):
            raise InputError("X must be a list with an item for every sentence.")
        parts = [self._part(s, item) for s, item in enumerate(X)]
        return [item[0] if self.linked else item for item in X], parts

    def _part(self, s: int, item: Any) -> SiblingItem:
        if not self.linked:
            return SiblingItem(item)
        names = ["features", "allowed", "siblings", "sibling_features"]
        names = names[: 2 if self.pruned else 1] + names[2 if self.siblings is None else 4 :]
        if not isinstance(item, tuple | list) or len(item) != len(names):
            raise InputError(f"Sentence {s} of X is not ({', '.join(names)}).")
        allowed = read_allowed(s, item[1]) if self.pruned else None
        if self.siblings is not None:
            return SiblingItem(item[0], allowed)
        return SiblingItem(None, allowed, *item[-2:])

    def item(self, features: Any, part: Any) -> Any:
        """Return the same item with other features of its arcs."""
        more = () if part.allowed is None else (part.allowed,)
        if self.siblings is None:
            more = (*more, part.siblings, part.features)
        return (features, *more) if more else features

    def kept(self, parts: Any) -> Array | None:
        """Return which arcs are allowed."""
        return super().kept([part.allowed for part in parts]) if self.pruned else None

    def links(self, parts: Any, offsets: Array) -> SiblingLinks:
        """Return which arcs of all sentences are allowed, and their siblings."""
        allowed = super().links([part.allowed for part in parts], offsets) if self.pruned else None
        words = words_of(offsets)
        if self.siblings is None:
            return SiblingLinks(allowed, *_given(parts, words))
        rows, starts = every_sibling(words, allowed)
        mine = [rows[a:b] for a, b in pairwise(starts.tolist())]
        items = [(part.tokens, own) for part, own in zip(parts, mine, strict=True)]
        return SiblingLinks(allowed, rows, starts, self._extractor.transform(items)[0])

    def encode(self, y: Any, offsets: Array, links: Any) -> Array:
        """Return outputs as `Dependency` does."""
        return super().encode(y, offsets, links.allowed)

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> SiblingDependencyBatch:
        """Return all trees of the sentences."""
        labels = n_labels if self.labels else None
        return SiblingDependencyBatch(words_of(offsets), labels, self.single_root, *links).untied(own)

    @cached_property
    def _extractor(self) -> TemplateFeatures:
        """What makes features of siblings."""
        given = self.siblings
        if isinstance(given, str):
            given = templates_of(given)
        if isinstance(given, str | Templates):
            given = TemplateFeatures(given, n_hash=COLUMNS, dtype=np.float32)
        if not isinstance(given, TemplateFeatures):
            raise InputError(f"siblings is {shown(given)}; it must be templates, TemplateFeatures or None.")
        if given.templates.cliques is not CliqueKind.SIBLINGS:
            kind = given.templates.cliques.name.lower()
            raise InputError(f"siblings are templates of {kind}; expected templates of siblings.")
        if given.n_hash is None:
            raise InputError("siblings are TemplateFeatures with a vocabulary; give them n_hash= instead.")
        return given


def _given(parts: Sequence[SiblingItem], words: Array) -> tuple[Array, Array, Any]:
    """Return the siblings that items of X list: rows in order, where those of each begin, and features."""
    rows, tables, width = [], [], None
    for s, part in enumerate(parts):
        mine = _rows(s, part.siblings, int(words[s]))
        table = read_table(f"Sentence {s} of X", part.features, len(mine), "siblings", "sibling_features")
        order = np.lexsort((mine[:, 1], mine[:, 2], mine[:, 0]))
        rows.append(mine[order])
        if len(mine) and table is None:
            raise InputError(f"Sentence {s} of X has {len(mine)} siblings and no sibling_features.")
        if len(mine):
            width = table.shape[1] if width is None else width
            if table.shape[1] != width:
                found = f"Sentence {s} of X has {table.shape[1]} features per pair of siblings"
                raise InputError(f"{found}, expected {width}.")
            tables.append(table[order])
    flat = np.concatenate([np.empty((0, 3), np.int32), *rows])
    return flat, offsets_of([len(mine) for mine in rows]), stacked_tables(tables) if tables else None


def _rows(s: int, given: Any, words: int) -> Array:
    """Return the siblings of one sentence, each once."""
    require_unmasked(given, f"Sentence {s} of X: the list of siblings", "leave out those that there are not")
    try:
        rows = np.asarray(given)
    except ValueError:
        rows = np.zeros(())
    if rows.size == 0:
        return np.empty((0, 3), np.int32)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu":
        raise InputError(f"Sentence {s} of X: siblings are not whole numbers of shape (C, 3).")
    odd = np.flatnonzero(~are_siblings(rows, words))
    if len(odd):
        what = f"{rows[odd[0]].tolist()} is no head, inner and outer word"
        raise InputError(f"Sentence {s} of X has {words} words; {what}.")
    if len(np.unique(rows, axis=0)) < len(rows):
        raise InputError(f"Sentence {s} of X lists siblings twice.")
    return rows.astype(np.int32)
