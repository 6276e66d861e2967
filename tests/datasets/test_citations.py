"""Loader of citation graphs: the counts that their README states, and splits."""

import numpy as np
import pytest

from kernelfields.datasets import load_citations
from kernelfields.errors import InputError


@pytest.mark.data
def test_cora_is_as_published(data_dir):
    graph = load_citations("cora", data_dir)
    assert graph.words.shape == (2708, 1433)
    assert graph.words.nnz == 49216
    assert graph.edges.shape == (5278, 2)
    assert np.bincount(graph.labels).tolist() == [351, 217, 418, 818, 426, 298, 180]
    assert np.bincount(graph.labels[graph.train]).tolist() == [20] * 7
    assert (len(graph.validation), len(graph.test)) == (500, 1000)
    equal = graph.labels[graph.edges[:, 0]] == graph.labels[graph.edges[:, 1]]
    np.testing.assert_allclose(equal.mean(), 0.810, atol=5e-4)


@pytest.mark.data
def test_citeseer_has_papers_without_labels_and_without_neighbours(data_dir):
    graph = load_citations("citeseer", data_dir)
    assert graph.words.shape == (3327, 3703)
    assert (graph.labels < 0).sum() == 15
    assert len(np.setdiff1d(np.arange(3327), graph.edges)) == 48
    known = np.concatenate([graph.train, graph.validation, graph.test])
    assert len(np.unique(known)) == len(known) == 1620
    assert (graph.labels[known] >= 0).all()


def test_splits_are_drawn(sample_dir):
    graph = load_citations("citeseer", sample_dir)
    one, again, other = (graph.split(seed) for seed in (0, 0, 1))
    for part in ("train", "validation", "test"):
        np.testing.assert_array_equal(getattr(one, part), getattr(again, part))
    assert (one.train != other.train).any()
    assert np.bincount(one.labels[one.train]).tolist() == [20] * 6
    every = np.concatenate([one.train, one.validation, one.test])
    assert len(np.unique(every)) == len(every) == 120 + 500 + 1000
    assert (one.labels[every] >= 0).all()
    labels = one.known(one.train)
    assert sum(label is not None for label in labels) == 120
    assert labels[one.train[0]] == one.labels[one.train[0]]


def test_what_is_not_there_is_refused(sample_dir):
    with pytest.raises(InputError, match="There is no citation graph 'pubmed'"):
        load_citations("pubmed", sample_dir)
    with pytest.raises(InputError, match="9000 papers to choose by and test on are more than"):
        load_citations("cora", sample_dir).split(0, n_test=8500)
