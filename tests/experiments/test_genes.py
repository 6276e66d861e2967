"""Genes as states: by hand and by naive loops."""

import itertools

import numpy as np
import pytest

from experiments.lib.genes import STATES, STRANDS, genes, states_of, steps, word_features, words
from kernelfields.datasets import Genome, load_genome


def test_states_of_a_small_genome():
    labels = np.array(list("NN" + "C" * 12 + "N" + "R" * 9 + "N"))
    states = states_of(labels)
    wanted = "N N A1 A2 A3 C1 C2 C3 C1 C2 C3 Z1 Z2 Z3 N z1 z2 z3 r1 r2 r3 a1 a2 a3 N"
    assert [STATES[k] for k in states] == wanted.split()
    np.testing.assert_array_equal(np.array(["N", "C", "R"])[STRANDS[states]], labels)
    assert all(steps()[a, b] for a, b in itertools.pairwise(states))
    assert genes(labels) == {(2, 14, "C"), (15, 24, "R")}


def test_words_are_base_four_numbers(rng):
    bases = rng.integers(0, 4, size=30)
    for length, shift in ((1, 0), (3, 0), (6, 5), (3, -9), (3, 9)):
        for t, code in enumerate(words(bases, length, shift)):
            letters = [bases[i] if 0 <= i < 30 else 0 for i in range(t + shift - length + 1, t + shift + 1)]
            assert code == int("".join(map(str, letters)), 4)
    matrix = word_features([bases[:10], bases[10:]])
    assert (np.diff(matrix.indptr) == 9).all()


@pytest.mark.data
def test_the_genome_is_as_stated(data_dir):
    genome = load_genome(data_dir)
    assert np.bincount(genome.bases).tolist() == [572333, 353349, 360090, 566669]
    assert len(genes(genome.labels)) == 809 + 639


def test_pieces_begin_and_end_between_genes(sample_dir):
    genome = load_genome(sample_dir)
    pieces = genome.cut(20_000)
    assert len(pieces) > 3
    assert sum(len(piece.bases) for piece in pieces) == len(genome.bases)
    assert all(piece.labels[0] == piece.labels[-1] == "N" for piece in pieces)
    assert sum(len(genes(piece.labels)) for piece in pieces) == len(genes(genome.labels))
    assert isinstance(pieces[0], Genome)
