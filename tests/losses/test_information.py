"""Information maximisation against enumeration and numerical derivatives."""

import numpy as np
import pytest

from kernelfields import InputError
from kernelfields.losses import Information, InformationMaximisation
from kernelfields.structures import BeliefPropagation, BeliefPropagationBatch, ChainBatch, TreeBatch
from kernelfields.testing import Enumerated
from kernelfields.testing.losses import dot, shifted
from tests._problems import small_scores

STRUCTURES = {
    "chain": ChainBatch([0, 3, 4, 4, 8], 3),
    "chain, own edges": ChainBatch([0, 3, 4, 4, 8], 3, shared_edges=False),
    "tree": TreeBatch([0, 3, 4, 4, 8], [2, 2, -1, -1, -1, 4, 4, 4], 3),
}
NOTHING = np.full(8, -1)


@pytest.mark.parametrize("by_instance", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", list(STRUCTURES))
def test_value_and_derivatives(name, weighted, by_instance, rng):
    structure, scores = STRUCTURES[name], small_scores(STRUCTURES[name], rng)
    weights = rng.random(4) + 0.1 if weighted else None
    counts = np.ones(4) if weights is None else weights
    loss = Information(structure, InformationMaximisation(1.3, by_instance=by_instance), NOTHING, weights)
    brute, vertices = Enumerated(structure, scores), np.repeat(counts, [3, 1, 0, 4])
    if by_instance:
        vertices = np.where(np.isin(np.arange(8), structure.sources), vertices, 0.0)
    shares = np.average(brute.marginals().parts["node"], axis=0, weights=vertices)
    wanted = counts @ brute.entropy() + 1.3 * vertices.sum() * (shares @ np.log(shares))
    found = loss.at(scores)
    np.testing.assert_allclose(found.value, wanted, rtol=1e-9)
    np.testing.assert_allclose(found.values @ counts, wanted, rtol=1e-9)
    assert not loss.convex
    direction = small_scores(structure, rng)
    up, down = (loss.at(shifted(scores, direction, step)) for step in (1e-5, -1e-5))
    np.testing.assert_allclose(dot(found.gradient, direction), (up.value - down.value) / 2e-5, rtol=1e-6)
    for clique, values in loss.curvature(scores, direction).items():
        numeric = (up.gradient[clique] - down.gradient[clique]) / 2e-5
        np.testing.assert_allclose(values, numeric, rtol=1e-4, atol=1e-5)


def test_some_instances_have_shares_of_their_own(rng):
    structure = STRUCTURES["chain"]
    scores = small_scores(structure, rng)
    loss = Information(structure, InformationMaximisation(), NOTHING)
    part = loss.take([0, 3])
    assert part.structure.n_instances == 2
    cut = structure.cut(scores, [0, 3])
    assert part.at(cut).value == pytest.approx(
        Information(structure.take([0, 3]), InformationMaximisation(), np.full(7, -1)).at(cut).value
    )


def test_labels_that_never_occur_and_forbidden_ones(rng):
    structure = STRUCTURES["chain"]
    scores = small_scores(structure, rng)
    scores["node"][:, 2] = -np.inf
    found = Information(structure, InformationMaximisation(), NOTHING).at(scores)
    assert np.isfinite(found.value)
    assert all(np.isfinite(parts).all() for parts in found.gradient.values())


def test_approximate_sums_and_bad_settings_are_refused():
    edges = [[0, 1], [1, 2], [0, 2], [4, 5], [5, 6], [6, 7], [4, 7]]
    structure = BeliefPropagationBatch([0, 3, 4, 4, 8], edges, 3, inference=BeliefPropagation())
    with pytest.raises(InputError, match="needs exact sums over labellings"):
        Information(structure, InformationMaximisation(), NOTHING)
    with pytest.raises(InputError, match="balance is -1"):
        InformationMaximisation(balance=-1)
