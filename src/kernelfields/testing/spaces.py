"""Checks that every space must pass."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..arrays import Array
from ..spaces import BoundSpace


def check_space(space: BoundSpace, rng: np.random.Generator, tolerance: float = 1e-9) -> None:
    """Check linearity, the Riesz identity, the adjoint, the inner product and `take`.

    The identity that solvers live on is inner(representer(g), v) = ⟨g, scores(v)⟩ for every gradient
    g in the scores and every element v.
    """
    u, v = random_element(space, rng), random_element(space, rng)
    g = rng.normal(size=space.structure.shapes[space.clique])
    assert_close = partial(np.testing.assert_allclose, rtol=tolerance, atol=tolerance)
    assert_close(space.scores(2 * u - v), 2 * space.scores(u) - space.scores(v))
    along = float(np.vdot(g, space.scores(v)))
    assert_close(space.inner(space.representer(g), v), along)
    coordinates = v[: len(space.adjoint(g))]
    assert_close(np.dot(space.adjoint(g), coordinates), along)
    assert_close(space.inner(u, v), space.inner(v, u))
    assert space.inner(u, u) > 0
    _check_take(space, v)


def random_element(space: BoundSpace, rng: np.random.Generator) -> Array:
    """A random element that the space itself can represent, image included."""
    return space.representer(rng.normal(size=space.structure.shapes[space.clique]))


def _check_take(space: BoundSpace, element: Array) -> None:
    """Scores of some instances are those of all, cut."""
    structure = space.structure
    ids = np.arange(structure.n_instances)[::2]
    part = space.take(structure.take(ids), ids)
    blank = {clique: np.zeros(shape) for clique, shape in structure.shapes.items()}
    expected = structure.cut({**blank, space.clique: space.scores(element)}, ids)[space.clique]
    np.testing.assert_allclose(part.scores(element), expected, rtol=1e-9, atol=1e-9)
