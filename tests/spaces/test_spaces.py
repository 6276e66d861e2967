"""Every space passes the same checks; what each refuses."""

import numpy as np
import pytest

from kernelfields.spaces import Free, LinearFeatures
from kernelfields.testing import check_space
from tests._problems import small_chain, spaces

NAMES = list(spaces(np.random.default_rng(0)))


@pytest.mark.parametrize("name", NAMES)
def test_space_passes_all_checks(name, rng):
    check_space(spaces(rng)[name], rng)


def test_check_space_notices_a_wrong_representer(rng):
    space = spaces(rng)["linear"]

    class Wrong(type(space)):
        def representer(self, gradient):
            return 2 * super().representer(gradient)

    with pytest.raises(AssertionError):
        check_space(Wrong(space.structure, "node", space.features.matrix), rng)


def test_edges_with_input_need_scores_of_their_own(rng):
    chain = small_chain()
    with pytest.raises(TypeError, match="scores of their own"):
        LinearFeatures(chain, "edge", rng.normal(size=(chain.n_vertices, 2)))
    with pytest.raises(TypeError, match="scores of their own"):
        Free(chain, "edge", np.ones(chain.n_edges, dtype=bool))


def test_triples_need_a_structure_that_has_them():
    with pytest.raises(TypeError, match="ChainBatch has no 'triple' to score"):
        Free(small_chain(), "triple")


def test_edges_with_input_look_at_their_first_position(rng):
    chain = small_chain(shared_edges=False)
    features = rng.normal(size=(chain.n_vertices, 2))
    space = LinearFeatures(chain, "edge", features)
    w = rng.normal(size=space.size)
    by_hand = [
        np.einsum("d,dab->ab", features[t], w.reshape(2, 3, 3))
        for a, b in zip(chain.offsets[:-1], chain.offsets[1:], strict=True)
        for t in range(a, b - 1)
    ]
    np.testing.assert_allclose(space.scores(w), by_hand)
