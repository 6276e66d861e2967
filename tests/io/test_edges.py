"""Edges of graphs in files: what is wrong is found, however it is looked for."""

import numpy as np
import pytest

from kernelfields.errors import InputError
from kernelfields.io.edges import require_edges

ENDS = [0, 1, 2, 3, 4, -1, 5, True, 1.0, None, "1", 2**70]
"""Of which the first five are vertices of a graph of five."""


def is_right(edges):
    """As the definition has it."""
    whole = all(isinstance(edge, list) and len(edge) == 2 for edge in edges)
    if not whole or any(type(end) is not int or not 0 <= end < 5 for edge in edges for end in edge):
        return False
    pairs = [tuple(edge) for edge in edges]
    return all(a != b for a, b in pairs) and len(set(pairs)) == len(pairs)


def test_edges_are_refused_as_they_are_defined(rng):
    seen = set()
    for _ in range(3000):
        count = int(rng.integers(5))
        known = 5 if rng.random() < 0.7 else len(ENDS)
        sizes = np.where(rng.random(count) < 0.03, rng.integers(4, size=count), 2)
        edges = [[ENDS[k] for k in rng.integers(known, size=size)] for size in sizes]
        if count and rng.random() < 0.05:
            edges[0] = tuple(edges[0])
        right = is_right(edges)
        seen.add((right, count))
        if right:
            require_edges(edges, 5)
        else:
            with pytest.raises(InputError, match=r"^edges? \d"):
                require_edges(edges, 5)
    assert len(seen) == 9
