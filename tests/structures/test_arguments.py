"""Arguments of structures: whatever comes, an answer or one sentence."""

import numpy as np
import pytest

from kernelfields import memory
from kernelfields.errors import InputError
from kernelfields.structures import ChainBatch, SecondOrderChainBatch, TreeBatch
from tests._problems import small_scores

STRUCTURES = [
    ChainBatch([0, 3, 3, 4], 2),
    SecondOrderChainBatch([0, 3, 3, 4], 2),
    TreeBatch([0, 3, 4], [1, -1, 1, -1], 2),
]
NO_NUMBERS = [-1, 2.5, "3", None, [3], True, float("nan"), 2**63, 10**30]


@pytest.fixture(params=STRUCTURES, ids=lambda structure: type(structure).__name__)
def scored(request, rng):
    return request.param, small_scores(request.param, rng, 1.0)


@pytest.mark.parametrize("k", [0, *NO_NUMBERS, 2**31])
def test_numbers_of_best_labellings(k, scored):
    structure, scores = scored
    if not isinstance(structure, TreeBatch):
        with pytest.raises(InputError, match=r"^k is .*; it must be a whole number from 1 "):
            structure.kbest(scores, k)


@pytest.mark.parametrize("count", NO_NUMBERS)
def test_numbers_of_draws_and_seeds(count, scored):
    structure, scores = scored
    with pytest.raises(InputError, match=r"^count is .*; it must be a whole number from 0 "):
        structure.sample(scores, count, 0)
    with pytest.raises(InputError, match=r"^seed is .*; it must be a whole number from 0 "):
        structure.sample(scores, 1, count)


def test_no_draws_are_no_draws(scored):
    structure, scores = scored
    assert structure.sample(scores, 0, 0).shape == (0, 4)


@pytest.mark.parametrize("huge", [2**31 - 1, 2**40, 2**62, 2**63 - 1])
def test_what_no_memory_holds_is_refused(huge, scored, monkeypatch):
    structure, scores = scored
    monkeypatch.setattr(memory, "available_memory", lambda: 2**32)
    with pytest.raises(InputError, match=r"draws would take .* GB of memory; 4 GB are free"):
        structure.sample(scores, huge, 0)
    if not isinstance(structure, TreeBatch):
        with pytest.raises(InputError, match=r"k=.* labellings would take .* GB|k is .*; it must be"):
            structure.kbest(scores, huge)


@pytest.mark.parametrize("n_labels", [0, *NO_NUMBERS, 2**31])
def test_numbers_of_labels(n_labels):
    for make in (
        lambda: ChainBatch([0, 1], n_labels),
        lambda: SecondOrderChainBatch([0, 1], n_labels),
        lambda: TreeBatch([0, 1], [-1], n_labels),
    ):
        with pytest.raises(InputError, match=r"^n_labels is .*; it must be a whole number from 1 "):
            make()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 0], r"labels have shape \(3,\), expected \(4,\)"),
        ([0, 1, 2, 0], "The label of vertex 2 is 2, expected 0 to 1"),
        ([0, 1, -1, 0], "The label of vertex 2 is -1"),
        ([0, 1, 2**32, 0], "The label of vertex 2 is 4294967296"),
        ([0.0, 1.0, 0.5, 0.0], "labels are .*; they must be a vector of whole numbers"),
        (["0"] * 4, "labels are "),
    ],
)
def test_labels(labels, message, scored):
    structure, scores = scored
    for use in (lambda: structure.score(scores, labels), lambda: structure.parts(labels)):
        with pytest.raises(InputError, match=message):
            use()


def test_weights(scored):
    structure, scores = scored
    for weights in ([1.0], np.ones((4, 4)), ["1"] * structure.n_instances, 1.0):
        for use in (
            lambda given: structure.marginals(scores, given),
            lambda given: structure.covariance(scores, scores, given),
            lambda given: structure.parts([0] * 4, given),
        ):
            with pytest.raises(InputError, match=r"^weights are .* expected numbers of shape"):
                use(weights)
    ones = np.ones(2 * structure.n_instances, dtype=np.float32)[::2]
    expected = structure.marginals(scores).parts["node"]
    np.testing.assert_array_equal(structure.marginals(scores, ones).parts["node"], expected)


@pytest.mark.parametrize("ids", [[7], [-1], [0.5], ["0"], [[0]], 0])
def test_instances_that_do_not_exist(ids, scored):
    structure, scores = scored
    for use in (structure.take, lambda given: structure.cut(scores, given)):
        with pytest.raises(InputError, match=r"^ids (are|have) "):
            use(ids)


def test_scores_that_are_none(scored):
    structure, scores = scored
    with pytest.raises(InputError, match="Scores have no array 'edge'"):
        structure.argmax({"node": scores["node"]})
    with pytest.raises(InputError, match="node scores are <U3, expected numbers"):
        structure.argmax({**scores, "node": scores["node"].astype("U3")})
    apart = np.asfortranarray(np.repeat(scores["node"], 2, axis=0))[::2]
    whole = {**scores, "node": np.round(scores["node"]).astype(np.int8)}
    np.testing.assert_array_equal(
        structure.argmax({**scores, "node": apart}).labels, structure.argmax(scores).labels
    )
    assert structure.argmax(whole).value.dtype == np.float64


@pytest.mark.parametrize(
    ("errors", "message"),
    [
        (np.zeros((3, 2)), r"errors are float64 of shape \(3, 2\), expected shape \(4, 2\)"),
        (np.full((4, 2), -1), "must be whole, from 0"),
        (np.full((4, 2), 0.5), "must be whole"),
        (np.full((4, 2), np.nan), "must be whole"),
        (np.full((4, 2), 2**40), "must be whole, from 0"),
        (np.full((4, 2), "x"), "errors are <U1"),
    ],
)
def test_numbers_of_errors(errors, message, rng):
    chain = ChainBatch([0, 3, 3, 4], 2)
    scores = small_scores(chain, rng, 1.0)
    for use in (
        lambda: chain.best_by_errors(scores, errors),
        lambda: chain.argmax_at_errors(scores, errors, [0, 0, 0]),
    ):
        with pytest.raises(InputError, match=message):
            use()
    with pytest.raises(InputError, match=r"counts have shape \(1,\)"):
        chain.argmax_at_errors(scores, np.zeros((4, 2)), [0])
    with pytest.raises(InputError, match="Instance 0 has 3 vertices"):
        chain.argmax_at_errors(scores, np.zeros((4, 2)), [2**62, 0, 0])
