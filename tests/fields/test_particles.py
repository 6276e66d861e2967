"""Labellings that are drawn again."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from kernelfields.errors import InputError
from kernelfields.fields import Annealing, Particles, annealed_sum, colours_of
from kernelfields.structures import Chain, ChainBatch, Exact, Factors, Segments

from ._enumerated import labellings

TRIANGLES = {"all": Factors(np.array([[0, 1, 2]]))}


def graph(rng: np.random.Generator, *, shared: bool) -> tuple:
    """A graph of four vertices with a triple, three labels, and scores of it."""
    batch = Exact().on([0, 4], [[0, 1], [1, 2], [2, 3], [3, 0]], 3, shared_edges=shared, factors=TRIANGLES)
    scores = {name: rng.normal(size=shape) for name, shape in batch.shapes.items()}
    return batch, scores


def probabilities(batch, scores) -> np.ndarray:
    one = np.array([batch.score(scores, z.astype(np.int32))[0] for z in labellings(4, 3)])
    return np.exp(one - logsumexp(one))


@pytest.mark.parametrize("shared", [True, False])
def test_sweeps_leave_the_distribution_as_it_is(shared: bool, rng: np.random.Generator) -> None:
    """10,000 labellings drawn exactly, three sweeps later: frequencies within 5 standard errors."""
    batch, scores = graph(rng, shared=shared)
    p = probabilities(batch, scores)
    count = 10_000
    Z = labellings(4, 3)[rng.choice(len(p), count, p=p)]
    many, theta = batch.take([0] * count), batch.cut(scores, [0] * count)
    particles = Particles(many, Z.ravel())
    random = np.random.RandomState(0)
    for _ in range(3):
        particles.sweep(theta, random)
    found = np.bincount(particles.labels.reshape(-1, 4) @ [27, 9, 3, 1], minlength=81) / count
    assert np.abs(found - p).max() < 5 * np.sqrt(p * (1 - p) / count).max()
    assert (np.abs(found - p) < 5 * np.sqrt(p * (1 - p) / count) + 2e-4).all()
    assert (particles.labels != Z.ravel()).any()


def test_sweeps_forget_where_they_began(rng: np.random.Generator) -> None:
    batch, scores = graph(rng, shared=True)
    p = probabilities(batch, scores)
    count = 4000
    many, theta = batch.take([0] * count), batch.cut(scores, [0] * count)
    particles = Particles(many, np.zeros(4 * count))
    random = np.random.RandomState(1)
    for _ in range(30):
        particles.sweep(theta, random)
    found = np.bincount(particles.labels.reshape(-1, 4) @ [27, 9, 3, 1], minlength=81) / count
    assert np.abs(found - p).sum() < 0.12


def test_labels_that_are_not_free_stay(rng: np.random.Generator) -> None:
    batch, scores = graph(rng, shared=True)
    particles = Particles(batch, np.array([2, -1, 1, -1]), np.array([False, True, False, True]))
    random = np.random.RandomState(0)
    particles.begin(scores, random)
    for _ in range(20):
        particles.sweep(scores, random)
        assert particles.labels[[0, 2]].tolist() == [2, 1]


def test_labels_outside_the_sets_of_vertices_are_never_drawn() -> None:
    sets = np.array([[True, False], [True, True]])
    batch = Exact().on([0, 2], [[0, 1]], 2, label_sets=sets)
    scores = {"node": np.array([[0.0, 50.0], [0.0, 0.0]]), "edge": np.zeros((2, 2))}
    particles = Particles(batch, np.array([-1, -1]))
    random = np.random.RandomState(0)
    particles.begin(scores, random)
    particles.sweep(scores, random)
    assert particles.labels[0] == 0


def test_colours_differ_along_cliques() -> None:
    batch = Exact().on(
        [0, 5], [[0, 1], [1, 2], [2, 3], [3, 4], [4, 0]], 2, factors={"t": Factors(np.array([[0, 2, 4]]))}
    )
    colours = colours_of(batch)
    for cliques in batch.cliques.values():
        for members in cliques.members:
            assert len(set(colours[members])) == len(members)
    assert colours_of(ChainBatch([0, 4], 2)).max() == 1


def test_scores_that_are_no_tables_are_refused() -> None:
    batch = Segments().settled([["a", "a", "b"]]).on(np.array([0, 3]), None, 2)
    with pytest.raises(InputError, match="no tables over labels"):
        Particles(batch, np.zeros(3))


@pytest.mark.parametrize("labels", [[-1, -1, -1, -1], [0, -1, -1, 2], [1, 1, 1, 1]])
@pytest.mark.parametrize("shared", [True, False])
def test_annealed_sums_are_sums(labels: list[int], shared: bool, rng: np.random.Generator) -> None:
    batch, scores = graph(rng, shared=shared)
    given = np.array(labels)
    fits = ((labellings(4, 3) == given) | (given < 0)).all(axis=1)
    wanted = logsumexp([batch.score(scores, z.astype(np.int32))[0] for z in labellings(4, 3)[fits]])
    found = annealed_sum(batch, scores, Annealing(steps=60, particles=400), given, np.random.RandomState(0))
    assert abs(found.value - wanted) < 5 * found.error + 1e-9
    assert found.error < 0.1


def test_annealing_refuses_what_is_forbidden() -> None:
    chain = Chain().on(np.array([0, 3]), None, 2)
    scores = {"node": np.zeros((3, 2)), "edge": np.array([[0.0, -np.inf], [0.0, 0.0]])}
    with pytest.raises(InputError, match="Annealing needs finite scores; those of edge"):
        annealed_sum(chain, scores, Annealing(), np.full(3, -1), np.random.RandomState(0))
    with pytest.raises(InputError, match="steps is 0"):
        Annealing(steps=0)
