"""What the parsing experiment is made of."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.lib.parsers import ARCS, PRUNING, projective
from experiments.lib.treebank import jack_knifed
from experiments.parse import arc_calibration
from kernelfields.features import CliqueKind, parse_templates
from tests._dependency import is_tree
from tests._listed_trees import trees


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_trees_are_made_projective_by_moving_words_up(n):
    for heads in trees(n, projective=False, single_root=True).tolist():
        found = projective(heads)
        assert is_tree(tuple(found))
        if is_tree(tuple(heads)):
            assert found == heads
        assert found.count(0) == 1
        above = [0, *heads]
        for m, head in enumerate(found, 1):
            at = above[m]
            while at not in (0, head):
                at = above[at]
            assert at == head  # an ancestor it had before


def test_every_part_is_guessed_by_a_model_of_the_others():
    class Seen:
        def __init__(self, X, y):
            assert [10 * x for x in X] == y
            self.X = X

        def predict(self, X):
            return [(x, sorted(self.X)) for x in X]

    found = jack_knifed(list(range(7)), [10 * x for x in range(7)], Seen, 3)
    assert [x for x, _ in found] == list(range(7))
    for x, others in found:
        assert x not in others
        assert len(others) in (4, 5)


def test_calibration_by_hand():
    sure = [np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]), np.array([[0.85, 0.15]])]
    # 0.8 … 0.9 holds two words, one of which is right; 0.9 … 1 holds one, right
    assert arc_calibration(sure, [[0, 2], [0]]) == pytest.approx((abs(0.8 + 0.85 - 1) + 0.1) / 3)


def test_templates_are_of_arcs():
    assert parse_templates(PRUNING).cliques is CliqueKind.ARCS
    assert len(parse_templates(ARCS).templates) > 90
