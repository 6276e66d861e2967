"""Structures are asked for separate scores of the cliques of some types when batches are made."""

import re

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.structures import (
    CandidateSegments,
    Chain,
    Dependency,
    Graph,
    Grid,
    Segments,
    SiblingDependency,
    Tree,
)

X = np.zeros((6, 1))
STRUCTURES = {
    "chain": (Chain(), X),
    "second order": (Chain(order=2), X),
    "tree": (Tree(), (X, [-1, 0, 0, 1, 1, 2])),
    "graph": (
        Graph(factors={"three": 3}),
        {"features": X, "edges": [(0, 1)], "factors": {"three": [(1, 2, 3)]}},
    ),
    "edge types": (
        Graph(edge_types=["near", "far"]),
        {"features": X, "edges": {"near": [(0, 1), (4, 5)], "far": [(1, 2)]}},
    ),
    "grid": (Grid(directions=True), X.reshape(2, 3, 1)),
    "segments": (Segments(means=2), X),
    "candidates": (CandidateSegments(), (X, [(0, 2)])),
    "dependency": (Dependency(), X),
    "siblings": (SiblingDependency(siblings=None), (X, [(0, 0, 1)], np.zeros((1, 2)))),
}
SHARED = {("segments", "duration"), ("candidates", "duration")}
"""What has one array of scores in every batch."""


def batch_of(name, own=()):
    structure, item = STRUCTURES[name]
    features, parts = structure.split([item])
    offsets = np.array([0, len(features[0])])
    links = None if parts is None else structure.links(parts, offsets)
    structure = structure.with_labels([0, 1], links)
    return structure.on(offsets, links, 2, own=own)


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_clique_type_gets_its_scores_or_says_why_not(name):
    """Batches made with separate scores are those that are untied afterwards."""
    batch = batch_of(name)
    for clique, cliques in batch.cliques.items():
        try:
            each = batch.untied([clique])
        except InputError as error:
            with pytest.raises(InputError, match=re.escape(str(error))):
                batch_of(name, {clique})
            assert (name, clique) in SHARED
            continue
        assert (name, clique) not in SHARED
        found = batch_of(name, {clique})
        assert found.shapes == each.shapes
        assert found.shapes[clique] == (cliques.count, *cliques.values)
        np.testing.assert_array_equal(found.cliques[clique].members, cliques.members)


@pytest.mark.parametrize("name", STRUCTURES)
def test_other_names_are_refused(name):
    known = ", ".join(map(repr, batch_of(name).cliques))
    with pytest.raises(InputError, match=rf"has no clique type 'wheel'; it has {known}\.$"):
        batch_of(name, {"wheel"})
