"""What trees say of a row, followed node by node."""

from __future__ import annotations

from typing import Any

import numpy as np


def forest_scores(forest: Any, x: Any) -> Any:
    """The sum of all rounds, (T, width)."""
    result = np.zeros((len(x), forest.width))
    for trees in forest.rounds:
        for k, tree in enumerate(trees):
            result[:, k] += [_leaf(forest, tree, row) for row in x]
    return result


def _leaf(forest: Any, tree: Any, row: Any) -> float:
    node = tree.nodes[0]
    while not node["is_leaf"]:
        value = row[node["feature_idx"]]
        left = (
            _known(forest, tree, node, int(value))
            if node["is_categorical"]
            else value <= node["num_threshold"]
        )
        node = tree.nodes[node["left"] if left else node["right"]]
    return float(node["value"])


def _known(forest: Any, tree: Any, node: Any, name: int) -> bool:
    """Whether a name goes to the left; one that training did not have goes where missing values go."""
    column = forest.known[forest.places[node["feature_idx"]]]
    if not _bit(column, name):
        return bool(node["missing_go_to_left"])
    return _bit(tree.raw_left_cat_bitsets[node["bitset_idx"]], name)


def _bit(words: Any, number: int) -> bool:
    return bool((int(words[number // 32]) >> (number % 32)) & 1)
