"""Brown clusters: classes of words from text without labels."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..checks import require_whole
from ..errors import InputError, quoted
from ..io.lines import Source, read_lines, write_lines
from ..native import BrownClustering, WordPaths, pack_tokens
from .templates import COLUMN

MOST_CLUSTERS = 20_000
"""Three square tables of this size take 10 GB."""
PIECE = 256
"""Words and merges between two looks at signals, so that Ctrl-C ends a long run."""


class BrownClusters:
    r"""Classes of words, and a binary tree of them, from which words stand beside which.

    Words become clusters c(w) so that neighbours tell much about each other: with p(a, b) the share of
    neighbouring tokens whose clusters are a and b, merges are greedy for

    .. math:: I = \sum_{a,b} p(a,b) \log \frac{p(a,b)}{p(a,\cdot)\, p(\cdot,b)}.

    Words come by frequency, each as a cluster of its own; whenever there is one cluster more than wanted,
    the two whose merge costs least information become one. The last clusters are merged on to a single one,
    and the merges are a tree: a word's *path* is the way from its root to the word's cluster, such as
    ``0110``. Starts of paths are coarser clusters. No labels are needed, so give ``fit`` all the text there
    is: templates such as ``cluster6(w[0])`` then carry what few labels teach to words that have none.
    [brown1992; liang2005]

    For V words and C clusters it takes a time of the order of V·C² at most. The order of sentences does not
    matter.

    Parameters
    ----------
    n_clusters : int
        C.
    min_count : int
        Words that occur less often have no cluster, and their neighbours no neighbour there.
    column : str
        Name of the words where sentences are dictionaries of columns; in tuples they are first.

    Attributes
    ----------
    paths : dict
        The path of every word, by frequency.
    counts_ : (V,) array
        How often each of them occurred.
    mutual_information_ : float
        I of the clusters in nats; NaN if they were read from a file.

    Examples
    --------
    >>> text = [s.split() for s in ["the cat sleeps", "a dog sleeps", "the dog eats", "a cat eats"]]
    >>> clusters = BrownClusters(n_clusters=3).fit(text)
    >>> clusters.paths["cat"] == clusters.paths["dog"], clusters.paths["cat"] == clusters.paths["eats"]
    (True, False)
    """

    def __init__(self, n_clusters: int = 200, min_count: int = 1, *, column: str = "w") -> None:
        self.n_clusters = require_whole("n_clusters", n_clusters, 1, MOST_CLUSTERS)
        self.min_count = require_whole("min_count", min_count)
        if not isinstance(column, str) or not COLUMN.fullmatch(column):
            raise InputError(f"column is {column!r}; it must be the name of a column.")
        self.column = column

    def fit(self, sentences: Any) -> BrownClusters:
        """Find the clusters of sentences, labelled or not.

        Parameters
        ----------
        sentences : list of sentences
            As for `TemplateFeatures`: lists of strings, or of tuples whose first entry is the word, or
            dictionaries of columns.
        """
        try:
            tokens = pack_tokens(sentences, [self.column])
        except ValueError as error:
            raise InputError(str(error)) from None
        found = BrownClustering(tokens, self.n_clusters, self.min_count)
        while found.insert(PIECE):
            pass
        merged = len(found.merges()[1])
        while found.join(PIECE):
            pass
        words, counts = found.words()
        lost = float(found.merges()[1][merged:].sum())  # nothing is left of it in a single cluster
        information = lost / found.pairs if found.pairs else 0.0
        return self._set(dict(zip(words, found.paths(), strict=True)), counts, information)

    @property
    def fitted(self) -> bool:
        """Whether there are clusters."""
        return hasattr(self, "paths")

    def write(self, file: Source) -> None:
        """Write a text file: path, word and count in each line, with tabs between them."""
        self.require_fitted()
        for word in self.paths:
            if not word or any(c in word for c in "\t\n\r"):
                raise InputError(
                    f"The word {quoted(word)} is empty or has a tab or line end: no file can hold it."
                )
        rows = zip(self.paths.items(), self.counts_, strict=True)
        write_lines((f"{path}\t{word}\t{count}" for (word, path), count in rows), file, "utf-8")

    @staticmethod
    def read(file: Source) -> BrownClusters:
        """Read clusters from a file as `write` makes it, or from other programs that make Brown clusters."""
        paths: dict[str, str] = {}
        counts: list[int] = []
        for line in read_lines(file, "utf-8"):
            fields = line.text.split("\t")
            if len(fields) != 3 or not _is_path(fields[0]) or not fields[1] or not _is_count(fields[2]):
                raise line.error("expected a path of 0 and 1, a word and a count, with tabs between them.")
            if fields[1] in paths:
                raise line.error(f"the word {quoted(fields[1])} occurs a second time.")
            paths[fields[1]] = fields[0]
            counts.append(int(fields[2]))
        if not paths:
            raise InputError("The file has no clusters; every line should have a path, a word and a count.")
        settings = BrownClusters(min(len(set(paths.values())), MOST_CLUSTERS), max(min(counts), 1))
        return settings._set(paths, np.array(counts, dtype=np.int64), float("nan"))

    def restore(self, paths: Mapping[str, str], counts: Array, information: float) -> BrownClusters:
        """Use clusters from a model file instead of calling ``fit``."""
        texts = [(word, path) for word, path in paths.items() if isinstance(word, str)]
        if len(texts) < len(paths) or not all(isinstance(p, str) and _is_path(p) for _, p in texts):
            raise InputError("Paths of clusters must be strings of 0 and 1, of words.")
        if counts.shape != (len(paths),):
            raise InputError(
                f"counts has shape {counts.shape}, expected ({len(paths)},): one for every word."
            )
        return self._set(dict(paths), counts, information)

    def require_fitted(self) -> None:
        """Refuse to go on without clusters."""
        if not self.fitted:
            raise InputError(
                "The Brown clusters have not been fitted: call fit with sentences, or read a file."
            )

    @cached_property
    def core(self) -> WordPaths:
        """The paths for the compiled core."""
        self.require_fitted()
        return WordPaths(list(self.paths), list(self.paths.values()))

    def __repr__(self) -> str:
        column = "" if self.column == "w" else f", column={self.column!r}"
        return f"BrownClusters(n_clusters={self.n_clusters}, min_count={self.min_count}{column})"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "core"}

    def _set(self, paths: dict[str, str], counts: Array, information: float) -> BrownClusters:
        self.__dict__.pop("core", None)
        self.paths, self.counts_, self.mutual_information_ = paths, counts, information
        return self


def _is_path(text: str) -> bool:
    return bool(text) and not text.strip("01")


def _is_count(text: str) -> bool:
    return len(text) < 19 and text.isascii() and text.isdecimal()
