"""What follows from sums is what recursions of its own say: a chain that knows nothing but its marginals."""

from functools import cached_property

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.structures import ChainBatch, SumBatch
from kernelfields.testing import check_structure


class Sums(SumBatch):
    """A chain without entropies, covariances and draws."""

    @cached_property
    def chain(self):
        """Return the chain that has them."""
        return ChainBatch(self.offsets, self.n_labels, "edge" not in self.own)

    @property
    def cliques(self):
        return self.chain.cliques

    def marginals(self, scores, weights=None):
        return self.chain.marginals(scores, weights)


@pytest.mark.parametrize("own", [(), ("edge",)])
@pytest.mark.parametrize("lengths", [(3, 0, 1, 2), (0, 0), ()])
def test_all_oracles(lengths, own, rng):
    batch = Sums(np.cumsum([0, *lengths]), 2, own)
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    check_structure(batch, scores)
    scores["node"][:1, 0] = scores["edge"][..., 1, 0] = -np.inf
    check_structure(batch, scores)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_covariances_of_directions_of_any_length(size, rng):
    batch = Sums([0, 4, 9], 3)
    scores, along = ({c: rng.normal(size=s) for c, s in batch.shapes.items()} for _ in range(2))
    wanted = batch.chain.covariance(scores, along)
    found = batch.covariance(scores, {name: size * array for name, array in along.items()})
    for name, array in wanted.items():
        np.testing.assert_allclose(found[name] / size, array, atol=1e-9)


def test_no_direction_and_no_draws(rng):
    batch = Sums([0, 2], 2)
    scores = {name: rng.normal(size=shape).astype(np.float32) for name, shape in batch.shapes.items()}
    zero = {name: np.zeros_like(array) for name, array in scores.items()}
    assert not any(array.any() for array in batch.covariance(scores, zero).values())
    assert batch.sample(scores, 0, seed=1).shape == (0, 2)
    draws = batch.sample(scores, 5, seed=1)
    np.testing.assert_array_equal(draws, batch.sample(scores, 5, seed=1))


def test_unknown_clique_types_have_no_scores_of_their_own():
    with pytest.raises(InputError, match=r"^Sums has no clique type 'arc'; it has 'node', 'edge'\.$"):
        Sums([0, 2], 2).untied({"arc"})
