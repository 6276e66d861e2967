"""What a request will cost is known before it is answered, and decides where and whether it is."""

import asyncio
import itertools
import json

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernelfields import CRF, KernelCRF, KernelPerceptron, native
from kernelfields.approximation import Nystroem, RandomFourier
from kernelfields.files.items import GraphInput
from kernelfields.serving import Limits
from kernelfields.serving.answering import Answering
from kernelfields.serving.budget import MemoryBudget
from kernelfields.serving.costs import (
    VALUES,
    BasisSizes,
    Cost,
    MeasuredPace,
    basis_of,
    cost_of,
    pieces,
    room_of,
    search_seconds,
)
from kernelfields.serving.forms import WordForm
from kernelfields.serving.lane import Job
from kernelfields.structures import (
    BeliefPropagation,
    ChainBatch,
    ExactGraphBatch,
    SecondOrderChainBatch,
    SegmentBatch,
    TreeBatch,
    TreeReweightedMax,
)
from kernelfields.structures.settings import Chain
from kernelfields.web import RefusedError

from .conftest import numbers, shelf_of

EMPTY = np.array([0])
BATCHES = {
    "chain": ChainBatch(EMPTY, 5),
    "chain2": SecondOrderChainBatch(EMPTY, 5),
    "segments": SegmentBatch(EMPTY, 5, np.arange(1, 9)),
    "tree": TreeBatch(EMPTY, np.empty(0, dtype=np.int64), 5),
}


def complete(size):
    return GraphInput(["a"] * size, [*map(list, itertools.combinations(range(size), 2))])


@pytest.mark.parametrize("name", BATCHES)
def test_costs_grow_with_what_is_asked(name):
    def cost(size, labels, k):
        return cost_of(BATCHES[name], ["a"] * size, labels, k, size)

    for less, more in [((9, 5, 0), (10, 5, 0)), ((9, 5, 2), (9, 6, 2)), ((9, 5, 2), (9, 5, 3))]:
        assert cost(*less).seconds < cost(*more).seconds
        assert cost(*less).room < cost(*more).room


@pytest.mark.parametrize(("name", "states"), [("chain", 40), ("chain2", 1600), ("tree", 3 * 40)])
def test_room_holds_the_lists_of_the_best(name, states):
    """Ways of 16 bytes, k for every state of every position, as the core keeps them."""
    assert cost_of(BATCHES[name], ["a"] * 1000, 40, 16, 0).room >= 16 * 16 * 1000 * states


def test_graphs_cost_what_their_cliques_do():
    batch = ExactGraphBatch([0], np.empty((0, 2), dtype=np.int64), 3)
    path = GraphInput(["a"] * 15, [[t, t + 1] for t in range(14)])
    dense, sparse = cost_of(batch, complete(15), 3, 0, 15), cost_of(batch, path, 3, 0, 15)
    assert dense.seconds > 1000 * sparse.seconds
    assert dense.room > 8 * 3**13
    assert cost_of(batch, complete(40), 3, 0, 40).seconds < 1  # the model refuses it at once


def test_approximate_graphs_cost_as_many_rounds_as_they_may_take():
    def seconds(sums, best):
        inference = BeliefPropagation(max_iter=sums, search=TreeReweightedMax(max_iter=best))
        batch = inference.on([0], np.empty((0, 2), dtype=np.int64), 9)
        return cost_of(batch, complete(15), 9, 0, 15).seconds

    few, more, most = seconds(10, 10), seconds(110, 10), seconds(110, 110)
    np.testing.assert_allclose(most - more, more - few)
    assert most > 5 * few


def random_graph(size, edges):
    ends = np.random.default_rng(0).integers(size, size=(edges, 2))
    ends = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return GraphInput(["a"] * size, ends.tolist())


def test_only_large_graphs_with_cycles_need_a_long_search():
    batch = ExactGraphBatch([0], np.empty((0, 2), dtype=np.int64), 3)
    way = [[t, t + 1] for t in range(9999)]
    path = GraphInput(["a"] * 10_000, way)
    both = path._replace(edges=[*way, *([b, a] for a, b in way)])
    beside = path._replace(edges=[*way[:5000], *random_graph(3000, 9000).edges])
    assert search_seconds(batch, path) == search_seconds(batch, both) == 0
    assert search_seconds(batch, GraphInput([], [])) == search_seconds(batch, complete(15)) == 0
    assert search_seconds(batch, random_graph(10_000, 30_000)) > 10
    assert search_seconds(batch, beside) > 1


def test_nothing_is_searched_where_that_could_take_too_long(folder, monkeypatch):
    """Half a megabyte took fourteen seconds, in which no other thread ran."""
    served = shelf_of(folder / "graphs.kf")["graphs"]
    monkeypatch.setattr(native, "GraphShape", None)
    graph = {"tokens": ["a"] * 10_000, "edges": random_graph(10_000, 30_000).edges}
    found = outcome(served, "tag", {"sequences": [graph]})
    assert "would take about" in str(found.answer)


BASES = {
    "all": KernelCRF(max_iter=3),
    "low rank": KernelCRF(basis=Nystroem(rank=7), max_iter=3),
    "random": KernelCRF(basis=RandomFourier(rank=8), max_iter=3),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", BASES)
def test_kernel_values_need_room(name):
    model = BASES[name].fit(*numbers())
    basis = basis_of(model)
    assert basis == BasisSizes(8 if name == "random" else len(model.basis_))
    found = cost_of(BATCHES["chain"], np.zeros((50, 2)), 2, 0, 50, basis)
    assert found.values == 50 * basis.in_blocks
    assert room_of([found]) - found.room >= 8 * found.values
    assert found.seconds > cost_of(BATCHES["chain"], np.zeros((50, 2)), 2, 0, 50).seconds


def test_kernel_values_of_votes_are_there_at_once():
    model = KernelPerceptron(max_iter=1).fit(*numbers())
    basis = basis_of(model)
    assert basis == BasisSizes(at_once=len(model.basis_))
    plain, found = (cost_of(BATCHES["chain"], ["a"] * 50, 2, 0, 50, one) for one in (BasisSizes(), basis))
    assert found.room - plain.room == 8 * 50 * len(model.basis_)


def test_kernel_values_in_blocks_have_a_bound():
    many = [Cost(values=VALUES)] * 10
    assert room_of(many) == room_of(many[:1]) == 16 * VALUES


def test_items_are_cut_into_pieces():
    costs = [Cost(seconds) for seconds in (0.01, 0.02, 0.3, 0.01, 0.01)]
    assert pieces(costs, [1] * 5, 0.1, 100) == [slice(0, 2), slice(2, 3), slice(3, 5)]
    assert pieces(costs, [60, 60, 1, 1, 1], 9.0, 100) == [slice(0, 1), slice(1, 5)]
    assert pieces([], [], 0.1, 100) == []


def test_pace_is_learnt_within_bounds():
    pace = MeasuredPace()
    pace.learn(1e-6, 1e-4)  # too short to say anything
    assert pace.factor == 1
    for _ in range(100):
        pace.learn(1.0, 100.0)
    assert pace.factor == 64
    for _ in range(100):
        pace.learn(1.0, 1e-3)
    assert pace.factor == 1 / 8


def test_memory_is_promised_once():
    budget = MemoryBudget(100)
    with budget.taken(60):
        with pytest.raises(RefusedError, match="busy") as busy, budget.taken(60):
            pass
        with pytest.raises(RefusedError, match="smaller k") as never, budget.taken(101):
            pass
        with budget.taken(40):
            assert budget.used == 100
    assert (budget.used, busy.value.status, never.value.status) == (0, 503, 422)


@pytest.fixture(scope="module")
def second_order(tmp_path_factory):
    path = tmp_path_factory.mktemp("costs") / "chain2.kf"
    y = [[f"L{n:02d}" for n in range(40)]] * 2
    model = CRF(features="columns: w\nw[0]", structure=Chain(order=2), max_iter=1)
    with pytest.warns(ConvergenceWarning):
        model.fit([["a"] * 40] * 2, y)
    model.save(path)
    return shelf_of(path)["chain2"]


def outcome(served, name, body, limits=None, elsewhere=None, future=None):
    loop = asyncio.new_event_loop()
    job = Job("model", served, name, json.dumps(body).encode(), future or loop.create_future())
    (found,) = Answering(limits or Limits(), elsewhere)([job])
    loop.close()
    return found


@pytest.mark.parametrize(
    ("length", "seconds", "said"),
    [(10_000, 10, "would take about"), (2000, 10, "of memory"), (10_000, 1e9, "about 4.2 GB of memory")],
)
def test_forty_kilobytes_do_not_take_gigabytes(second_order, monkeypatch, length, seconds, said):
    """Nothing is computed, and no token looked at."""
    monkeypatch.setattr(type(second_order.model), "predict_kbest", None)
    monkeypatch.setattr(WordForm, "read", None)
    body = {"sequences": [["a"] * length], "k": 16}
    found = outcome(second_order, "kbest", body, Limits(seconds=seconds))
    assert found.answer.status == 422
    assert said in str(found.answer)
    assert str(found.answer).endswith("a smaller k.")


def test_many_dense_graphs_wait_elsewhere(folder):
    """What sixty of them cost in all is too much; a few are for the thread that keeps nobody waiting."""
    served = shelf_of(folder / "graphs.kf")["graphs"]
    many = [{"tokens": ["a"] * 15, "edges": complete(15).edges}] * 60
    assert "would take about" in str(outcome(served, "tag", {"sequences": many}).answer)
    taken = []
    assert outcome(served, "tag", {"sequences": many[:4]}, elsewhere=taken.append).answer is None
    assert len(taken) == 1
    taken.clear()
    path = [{"tokens": ["a", "b"], "edges": [[0, 1]]}]
    assert isinstance(outcome(served, "tag", {"sequences": path}, elsewhere=taken.append).answer, bytes)
    assert taken == []


def test_what_nobody_waits_for_any_more_ends_between_pieces(folder, monkeypatch):
    served = shelf_of(folder / "words.kf")["words"]
    plain, seen = type(served.model).predict, []
    loop = asyncio.new_event_loop()
    future = loop.create_future()

    def counted(self, X, **how):
        seen.append(len(X))
        if len(seen) == 3:
            future.cancel()
        return plain(self, X, **how)

    monkeypatch.setattr(type(served.model), "predict", counted)
    found = outcome(served, "tag", {"sequences": [["Ana"]] * 50}, Limits(piece=0.0), future=future)
    loop.close()
    assert seen == [1, 1, 1]
    assert found.answer.status == 503
