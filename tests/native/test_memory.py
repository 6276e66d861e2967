"""Memory that cannot be had, and arrays that lead outside, in the core itself."""

import numpy as np
import pytest
from scipy import sparse

from kernelfields import native
from kernelfields.errors import InputError
from kernelfields.gram import PackedGram
from kernelfields.spaces import LinearFeatures, SparseFeatures, WeightPairs, coefficient_scores
from kernelfields.structures import ChainBatch

BATCH = (np.zeros((3, 2)), np.zeros((2, 2)), np.array([0, 3]))
PATH = native.TreeShape(BATCH[2], np.array([-1, 0, 1]))
HUGE = [2**40, 2**61, 2**62, 2**63, 2**64 - 1]


@pytest.mark.parametrize("count", HUGE)
def test_sizes_that_overflow_are_no_sizes(count):
    for call in (
        lambda: native.chain_sample(*BATCH, count, 0),
        lambda: native.chain_kbest(*BATCH, count),
        lambda: native.chain2_sample(BATCH[0], BATCH[1], np.zeros((2, 2, 2)), BATCH[2], count, 0),
        lambda: native.tree_sample(*BATCH[:2], PATH, count, 0),
        lambda: native.tree_kbest(*BATCH[:2], PATH, count),
        lambda: native.hmm_counts(np.zeros(1, np.int32), count, np.array([0, 1])),
    ):
        with pytest.raises(MemoryError, match=r"[Mm]emory|bytes"):
            call()


def test_vectors_are_vectors():
    one = np.zeros((), dtype=np.int32)
    with pytest.raises(ValueError, match=r"labels has shape \(\), expected a vector"):
        native.hmm_counts(one, 2, np.array([0, 1]))
    with pytest.raises(ValueError, match="pair_first is empty"):
        native.sparse_pair_times(
            np.zeros(1, np.int64),
            one.reshape(1)[:0],
            None,
            np.zeros(0, np.int32),
            one.reshape(1)[:0],
            np.zeros(0),
            np.zeros((0, 2)),
        )


def bad_columns(column):
    """A matrix of SciPy's with an entry where it has no column."""
    matrix = sparse.csr_matrix(np.eye(3))
    matrix.indices = np.array([0, column, 2], dtype=np.int32)
    return matrix


@pytest.mark.parametrize("column", [3, -1, 2**31 - 1])
def test_columns_that_do_not_exist_are_refused(column):
    chain = ChainBatch([0, 3], 2)
    for space in (SparseFeatures, LinearFeatures):
        with pytest.raises(InputError, match=f"an entry in column {column}, but 3 columns"):
            space(chain, "node", bad_columns(column))
    with pytest.raises(ValueError, match="index holds"):
        coefficient_scores(bad_columns(column), sparse.csc_matrix(np.ones((2, 3))))


@pytest.mark.parametrize("change", [{"indices": 7}, {"indices": -1}, {"indptr": 50}])
def test_weights_of_labels_that_do_not_exist_are_refused(change):
    coef = sparse.csc_matrix(np.ones((2, 3)))
    for name, value in change.items():
        getattr(coef, name)[2] = value
    with pytest.raises(ValueError, match=r"does not exist|leads outside"):
        coefficient_scores(sparse.csr_matrix(np.eye(3)), coef)


@pytest.mark.parametrize(
    "change", [{"single": 0}, {"frequent": 9}, {"label": np.full(6, 5, np.int32)}, {"first": np.arange(4)}]
)
def test_pairs_of_other_features_are_refused(change):
    X, chain = sparse.csr_matrix(np.eye(3)), ChainBatch([0, 3], 2)
    pairs = WeightPairs.of(X, 2)._replace(**change)
    with pytest.raises(InputError, match="The pairs are not those of 3 features and 2 labels"):
        SparseFeatures(chain, "node", X, pairs)


@pytest.mark.parametrize("size", [2, 4, 2**40, 2**62])
def test_panels_are_those_of_their_size(size):
    numbers = PackedGram.from_matrix(np.eye(3))._numbers
    with pytest.raises(InputError, match="numbers"):
        PackedGram(numbers if size > 2 else numbers[:1], size)


def test_sentences_that_drop_each_other_while_they_are_read():
    class Fickle:
        """A sequence whose reading empties the list that it is in."""

        def __len__(self):
            return 2

        def __getitem__(self, place):
            sentences.clear()
            if place > 1:
                raise IndexError
            return "word"

    sentences = [Fickle(), ["a"] * 100]
    assert len(native.pack_tokens(sentences, ["w"])) == 2
    columns = {"w": Fickle(), "v": ["x", "y"]}
    sentences = [columns]
    assert len(native.pack_tokens(sentences, ["w", "v"])) == 2
