"""Trees at their limits: nothing, one label, great depth, bad scores, parents that form no forest."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from kernelfields.errors import InfeasibleError, ScoreError
from kernelfields.structures import ChainBatch, TreeBatch

Array = np.ndarray[Any, Any]


def test_one_label():
    tree = TreeBatch([0, 3, 4], [1, -1, 1, -1], n_labels=1)
    scores = {"node": np.array([[1.0], [2.0], [3.0], [4.0]]), "edge": np.array([[0.5]])}
    np.testing.assert_allclose(tree.log_partition(scores), [7.0, 4.0])
    np.testing.assert_array_equal(tree.entropy(scores), [0.0, 0.0])
    np.testing.assert_array_equal(tree.marginals(scores).parts["edge"], [[2.0]])
    np.testing.assert_array_equal(tree.argmax(scores).labels, [0, 0, 0, 0])


def test_nothing_at_all():
    tree = TreeBatch([0, 0, 0], [], n_labels=2, shared_edges=False)
    scores = {"node": np.zeros((0, 2)), "edge": np.zeros((0, 2, 2))}
    np.testing.assert_array_equal(tree.log_partition(scores), [0.0, 0.0])
    assert tree.sample(scores, 3, seed=0).shape == (3, 0)
    assert tree.covariance(scores, scores)["edge"].shape == (0, 2, 2)


def test_ties_go_to_the_lower_label():
    tree = TreeBatch([0, 4], [3, 0, 3, -1], n_labels=3)
    scores = {"node": np.zeros((4, 3)), "edge": np.zeros((3, 3))}
    np.testing.assert_array_equal(tree.argmax(scores).labels, [0, 0, 0, 0])
    scores["node"][3] = [0, 1, 1]
    scores["edge"][1] = [0, 0, 2]
    scores["edge"][2] = [0, 2, 2]
    np.testing.assert_array_equal(tree.argmax(scores).labels, [2, 1, 2, 1])


ORACLES = ["log_partition", "marginals", "entropy", "argmax", "covariance", "sample"]


def call(tree: TreeBatch, oracle: str, scores: dict[str, Array]) -> object:
    more = {"covariance": (scores,), "sample": (2, 0)}.get(oracle, ())
    return getattr(tree, oracle)(scores, *more)


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_scores_are_refused(oracle, shared, bad):
    tree = TreeBatch([0, 1, 4], [-1, 2, -1, 2], n_labels=2, shared_edges=shared)
    for name, shape in tree.shapes.items():
        scores = {name: np.zeros(shape) for name, shape in tree.shapes.items()}
        scores[name][(-1,) * len(shape)] = bad
        with pytest.raises(ScoreError, match="Tree 1 has scores that are NaN or"):
            call(tree, oracle, scores)


@pytest.mark.parametrize("oracle", ORACLES)
def test_instances_without_labelling_are_refused(oracle):
    tree = TreeBatch([0, 1, 4], [-1, 2, -1, 2], n_labels=2)
    scores = {"node": np.zeros((4, 2)), "edge": np.array([[0.0, -np.inf], [-np.inf, 0.0]])}
    scores["node"][1] = [0, -np.inf]  # the two leaves want different labels of the root
    scores["node"][3] = [-np.inf, 0]
    with pytest.raises(InfeasibleError, match="Tree 1 has no allowed labelling"):
        call(tree, oracle, scores)


def test_bad_shared_edges_harm_only_instances_with_edges():
    tree = TreeBatch([0, 2], [-1, -1], n_labels=2)
    scores = {"node": np.zeros((2, 2)), "edge": np.full((2, 2), np.nan)}
    np.testing.assert_allclose(tree.log_partition(scores), [2 * np.log(2)])


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ([-1, -1, 2, 2], "Vertex 2 of instance 1 is its own parent."),
        ([-1, -1, 3, 0], "Vertex 3 of instance 1 has parent 0, which is outside the instance."),
        ([-1, -1, -2, 2], "Vertex 2 of instance 1 has parent -2, which is outside the instance."),
        ([4, -1, 3, 2], "Vertex 0 of instance 0 has parent 4, which is outside the instance."),
        ([-1, 0, 3, 2], "Vertex 2 of instance 1 is its own ancestor."),
        ([-1, 0, 3], r"parents have shape \(3,\), expected \(4,\)."),
        ([-1.0, 0.0, 3.0, -1.0], r"parents are \[-1.0, .*\]; they must be a vector of whole numbers."),
    ],
)
def test_parents_that_form_no_forest(parents, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        TreeBatch([0, 2, 4], parents, n_labels=2)


def test_vertices_below_a_cycle_are_not_blamed():
    with pytest.raises(ValueError, match=r"^Vertex 2 of instance 0 is its own ancestor\.$"):
        TreeBatch([0, 5], [1, 2, 3, 4, 2], n_labels=2)


def test_wrong_shapes_are_named():
    tree = TreeBatch([0, 2], [-1, 0], n_labels=2)
    with pytest.raises(ValueError, match=r"edge scores have shape \(1, 2, 2\), expected \(2, 2\)"):
        tree.log_partition({"node": np.zeros((2, 2)), "edge": np.zeros((1, 2, 2))})


def test_depth_needs_no_stack_and_costs_no_precision():
    T = 100_000
    rng = np.random.default_rng(2)
    chain = ChainBatch([0, T], n_labels=3)
    scores = {"node": rng.standard_normal((T, 3)), "edge": 4 * np.eye(3)}
    direction = {"node": 10 + rng.standard_normal((T, 3)), "edge": rng.standard_normal((3, 3))}
    for parents in (np.arange(T) - 1, np.append(np.arange(1, T), -1)):
        tree = TreeBatch([0, T], parents, n_labels=3)
        turned = {
            "node": direction["node"],
            "edge": direction["edge"].T if parents[0] > 0 else direction["edge"],
        }
        np.testing.assert_allclose(tree.log_partition(scores), chain.log_partition(scores), rtol=1e-13)
        np.testing.assert_array_equal(tree.argmax(scores).labels, chain.argmax(scores).labels)
        node = tree.marginals(scores).parts["node"]
        np.testing.assert_allclose(node, chain.marginals(scores).parts["node"], rtol=0, atol=1e-13)
        change = tree.covariance(scores, turned)["node"]
        np.testing.assert_allclose(change, chain.covariance(scores, direction)["node"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(change.sum(axis=1), 0, rtol=0, atol=1e-13)
        assert tree.sample(scores, 1, seed=0).max() == 2


def test_wide_stars_keep_precision():
    leaves = 20_000
    tree = TreeBatch([0, leaves + 1], np.append(np.full(leaves, leaves), -1), n_labels=2)
    scores = {"node": np.zeros((leaves + 1, 2)), "edge": np.array([[1.0, 0.0], [0.0, 1.0]])}
    scores["node"][:-1:2, 0] = 3.0
    scores["node"][1:-1:2, 1] = 3.0  # as many leaves for either label: the root stays undecided
    marginals = tree.marginals(scores).parts
    np.testing.assert_allclose(marginals["node"][-1], [0.5, 0.5], rtol=0, atol=1e-12)
    np.testing.assert_allclose(marginals["edge"].sum(), leaves, rtol=1e-13)


PROGRAM = """
import hashlib, numpy as np
from kernelfields.structures import TreeBatch
rng = np.random.default_rng(0)
offsets = np.arange(0, 8001, 20)
place = np.arange(8000) % 20
parents = np.where(place == 0, -1, np.arange(8000) - place + rng.integers(np.maximum(place, 1)))
tree = TreeBatch(offsets, parents, 6)
scores = {name: rng.standard_normal(shape) for name, shape in tree.shapes.items()}
found = tree.marginals(scores)
arrays = [found.log_partition, *found.parts.values(), *tree.covariance(scores, scores).values()]
arrays += [tree.sample(scores, 5, 3), tree.entropy(scores), *tree.argmax(scores)]
print(hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
"""


def test_results_do_not_depend_on_the_number_of_threads():
    digests = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2", "3")
    }
    assert len(digests) == 1
    assert len(digests.pop().strip()) == 64
