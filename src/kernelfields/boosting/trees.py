"""Regression trees on histograms: the one place that knows how scikit-learn grows them.

`HistGradientBoostingRegressor` is the public face of these trees, and fits one loss of its own from
beginning to end; a tree at a time it bins the inputs anew, and keeps a table of thresholds with every
tree (four times the time, and hundreds of megabytes for some thousand trees). So its parts are used
directly, though they are private: `_BinMapper`, `TreeGrower` and the predictor that it makes. They have
kept their signatures since version 1.5; tests hold them against the public class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ..arrays import Array
from .tree_arrays import WORDS, TreeArrays

N_BINS = 256
"""Codes of a column, the last of them for missing values."""
LARGE = 2**22
"""Entries from which on threads pay: below, they wait for each other."""


@dataclass(frozen=True)
class TreeSettings:
    """How large trees grow."""

    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    penalty: float = 1.0
    """λ of ½λ Σ (leaf value)²."""
    max_features: float = 1.0
    """Share of the columns that each split may choose from."""


class GrownTree(NamedTuple):
    """A tree, and what it says of every row."""

    tree: Any
    values: Array


class Bins:
    """Inputs as codes of one byte, and what leads from values to them.

    Parameters
    ----------
    matrix : (N, D) array
        Inputs; NaN is a missing value.
    categorical : (D,) booleans
        Columns whose values are names, written as whole numbers from 0 to 254.
    """

    def __init__(self, matrix: Array, categorical: Array) -> None:
        from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper

        known = [_categories(matrix[:, d]) if categorical[d] else None for d in range(matrix.shape[1])]
        self.threads = _threads(matrix.size)
        self.mapper: Any = _BinMapper(
            N_BINS,
            is_categorical=categorical.astype(np.uint8) if categorical.any() else None,
            known_categories=known if categorical.any() else None,
            random_state=0,
            n_threads=self.threads,
        )
        self.codes = self.mapper.fit_transform(matrix)
        self.missing = np.isnan(matrix).any(axis=0).astype(np.uint8)

    def grow(
        self, gradient: Array, curvature: Array, settings: TreeSettings, random: Any, rows: Array | None
    ) -> GrownTree:
        """Return the tree of a Newton step: −Σ gradient / (Σ curvature + λ) in every leaf."""
        from sklearn.ensemble._hist_gradient_boosting.grower import TreeGrower

        codes = self.codes if rows is None else np.asfortranarray(self.codes[rows])
        taken = slice(None) if rows is None else rows
        grower = TreeGrower(
            codes,
            np.ascontiguousarray(gradient[taken], dtype=np.float32),
            np.ascontiguousarray(curvature[taken], dtype=np.float32),
            max_leaf_nodes=settings.max_leaf_nodes,
            max_depth=settings.max_depth,
            min_samples_leaf=settings.min_samples_leaf,
            n_bins=N_BINS,
            n_bins_non_missing=self.mapper.n_bins_non_missing_,
            has_missing_values=self.missing,
            is_categorical=self.mapper.is_categorical_,
            l2_regularization=settings.penalty,
            feature_fraction_per_split=settings.max_features,
            rng=random,
            n_threads=self.threads,
        )
        grower.grow()
        tree = grower.make_predictor(self.mapper.bin_thresholds_)
        return GrownTree(tree, _leaf_values(grower, len(codes)) if rows is None else self.values(tree))

    def values(self, tree: Any) -> Array:
        """Return what a tree says of every row."""
        return np.asarray(tree.predict_binned(self.codes, self.mapper.missing_values_bin_idx_, self.threads))


class Forest:
    """A sum of trees for each of some columns of scores.

    Parameters
    ----------
    width : int
        Number of columns.
    known, places : arrays
        Names that occur in columns of names, as bits, and where those of each column are.
    """

    def __init__(self, width: int, known: Array, places: Array) -> None:
        self.width = width
        self.rounds: list[list[Any]] = []
        self.known, self.places = known, places

    @classmethod
    def on(cls, bins: Bins, width: int) -> Self:
        """Return a forest without trees, to be grown on some inputs."""
        return cls(width, *bins.mapper.make_known_categories_bitsets())

    @classmethod
    def of(cls, arrays: TreeArrays) -> Self:
        """Make the trees again that `arrays` took apart; they must be sound."""
        from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor

        known, places = (np.array(part, dtype=np.uint32) for part in (arrays.known, arrays.places))
        result = cls(arrays.width, known, places)
        nodes, trees = _nodes(arrays), []
        ends, set_ends = np.cumsum(arrays.sizes), np.cumsum(arrays.set_counts)
        for end, size, last, count in zip(ends, arrays.sizes, set_ends, arrays.set_counts, strict=True):
            sets = np.array(arrays.left_sets[last - count : last], dtype=np.uint32)
            trees.append(TreePredictor(nodes[end - size : end].copy(), np.zeros_like(sets), sets))
        result.rounds = [trees[k : k + arrays.width] for k in range(0, len(trees), arrays.width)]
        return result

    def arrays(self) -> TreeArrays:
        """Take all trees apart: what prediction needs of them."""
        from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

        trees = [tree for trees in self.rounds for tree in trees]
        empty = np.zeros(0, dtype=PREDICTOR_RECORD_DTYPE)
        nodes = np.concatenate([empty, *(tree.nodes for tree in trees)])
        sets = [tree.raw_left_cat_bitsets for tree in trees]
        return TreeArrays(
            self.width,
            np.array([len(tree.nodes) for tree in trees], dtype=np.int64),
            nodes["value"].copy(),
            nodes["feature_idx"].astype(np.int32),
            nodes["num_threshold"].copy(),
            nodes["missing_go_to_left"].astype(bool),
            np.stack([nodes["left"], nodes["right"]], axis=1).astype(np.int32),
            nodes["is_leaf"].astype(bool),
            nodes["is_categorical"].astype(bool),
            nodes["bitset_idx"].astype(np.int32),
            np.array([len(one) for one in sets], dtype=np.int64),
            np.concatenate([np.zeros((0, WORDS), dtype=np.uint32), *sets]),
            np.array(self.known, dtype=np.uint32).reshape(-1, WORDS),
            np.array(self.places, dtype=np.int32),
        )

    def add(self, trees: Sequence[Any], step: float) -> None:
        """Take in one tree per column, its leaves multiplied by a step."""
        for tree in trees:
            tree.nodes["value"] *= step
        self.rounds.append(list(trees))

    def cut(self, count: int) -> None:
        """Forget all rounds after some."""
        del self.rounds[count:]

    def scores(self, matrix: Array, first: int = 0) -> Array:
        """(N, width): the sum of the trees from some round on, at every row of a matrix."""
        matrix = np.ascontiguousarray(matrix, dtype=np.float64)
        result, threads = np.zeros((len(matrix), self.width)), _threads(matrix.size)
        for trees in self.rounds[first:]:
            for k, tree in enumerate(trees):
                result[:, k] += tree.predict(matrix, self.known, self.places, threads)
        return result


def _nodes(arrays: TreeArrays) -> Array:
    """All nodes as scikit-learn keeps them; zeros where only training looks."""
    from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE

    result = np.zeros(len(arrays.values), dtype=PREDICTOR_RECORD_DTYPE)
    columns = {
        "value": arrays.values,
        "feature_idx": arrays.features,
        "num_threshold": arrays.thresholds,
        "missing_go_to_left": arrays.missing_left,
        "left": arrays.children[:, 0],
        "right": arrays.children[:, 1],
        "is_leaf": arrays.leaves,
        "is_categorical": arrays.categorical,
        "bitset_idx": arrays.sets,
    }
    for name, values in columns.items():
        result[name] = values
    return result


def _leaf_values(grower: Any, count: int) -> Array:
    """Return the value of the leaf that holds each row, as growing has left them."""
    result = np.empty(count)
    for leaf in grower.finalized_leaves:
        result[leaf.sample_indices] = leaf.value
    return result


def _categories(column: Array) -> Array:
    """Values of a column of names, sorted."""
    return np.unique(column[~np.isnan(column)])


def _threads(size: int) -> int:
    from sklearn.utils._openmp_helpers import _openmp_effective_n_threads

    return int(_openmp_effective_n_threads()) if size >= LARGE else 1
