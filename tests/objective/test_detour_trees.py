"""The dual in shares of patches of trees: other solvers, chains, and all packings."""

from itertools import chain, combinations

import numpy as np
import pytest

from kernelfields.arrays import offsets_of
from kernelfields.losses import MarginHinge, hamming_cost
from kernelfields.objective import BlockDual, DetourDual, Detours, Problem, Term
from kernelfields.solvers import BlockFrankWolfe, CuttingPlane, DualAscent, Reason, Stop
from kernelfields.spaces import Boundary, Free, LinearFeatures
from kernelfields.structures import ChainBatch, TreeBatch
from tests._problems import small_forest
from tests.objective.test_detour_dual import repriced, some_way_up
from tests.objective.test_margin_solvers import problem_of

LENGTHS = [9, 1, 7, 0, 12, 2]


def numbered(rng, parents_of):
    """Trees with their vertices in random order, so that parents need not come first."""
    parents = []
    for length in LENGTHS:
        place, above, start = rng.permutation(length), parents_of(length), len(parents)
        own = np.full(length, -1)
        for v in range(length):
            own[place[v]] = start + place[above[v]] if above[v] >= 0 else -1
        parents += own.tolist()
    return TreeBatch(offsets_of(LENGTHS), parents, 3)


SHAPES = {
    "drawn": lambda rng: numbered(
        rng, lambda n: [-1, *(int(rng.integers(v)) for v in range(1, n))] if n else []
    ),
    "stars": lambda rng: numbered(rng, lambda n: [-1, *[0] * (n - 1)] if n else []),
    "paths": lambda rng: numbered(rng, lambda n: list(range(-1, n - 1))),
    "forests": lambda rng: numbered(rng, lambda n: [int(rng.integers(-1, v)) if v else -1 for v in range(n)]),
    "small": lambda rng: small_forest(),
}

CASES = [
    ("linear", {}),
    ("sparse", {"weighted": True, "offset": True}),
    ("kernel", {"weighted": True}),
    ("kernel, centred", {"offset": True}),
]


@pytest.mark.parametrize("factor", [1.0, 30.0])
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_reaches_the_optimum_of_cutting_planes(shape, case, factor, rng):
    space, options = case
    problem = repriced(problem_of(rng, "margin", space, structure=SHAPES[shape](rng), **options), factor)
    exact = CuttingPlane().minimize(problem, problem.zero(), Stop(1e-7, 0.0, 5000))
    found = DualAscent().maximize(DetourDual(problem), Stop(1e-5, 0.0, 5000))
    assert exact.reason is found.reason is Reason.GAP
    np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-5)
    assert found.progress.lower_bound <= exact.point.value * (1 + 1e-9)


def test_it_reaches_the_optimum_of_whole_labellings(rng):
    problem = problem_of(rng, structure=small_forest(), weighted=True)
    exact = BlockFrankWolfe().maximize(BlockDual(problem), Stop(1e-3, 0.0, 3000))
    found = DualAscent().maximize(DetourDual(problem), Stop(1e-4, 0.0, 3000))
    np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-3)
    assert found.progress.lower_bound <= exact.point.value
    assert exact.progress.lower_bound <= found.point.value


@pytest.mark.parametrize("space", ["linear", "kernel"])
def test_single_precision_goes_on_in_double(space, rng):
    problem = problem_of(rng, "margin", space, structure=SHAPES["drawn"](rng))
    dual = DetourDual(problem, np.float32)
    found = DualAscent().maximize(dual, Stop(1e-7, 0.0, 5000))
    assert found.reason is Reason.GAP
    assert dual.dtype == np.float64


@pytest.mark.parametrize("space", ["linear", "kernel"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_path_is_a_chain(space, dtype):
    sequences = ChainBatch(offsets_of(LENGTHS), 3)
    above = np.full(sequences.n_vertices, -1)
    above[sequences.edge_heads] = sequences.edge_tails
    paths = TreeBatch(offsets_of(LENGTHS), above, 3)
    duals = [
        some_way_up(
            repriced(problem_of(np.random.default_rng(5), "margin", space, batch, True, True), 4.0), 6, dtype
        )
        for batch in (sequences, paths)
    ]
    rtol = 1e-3 if dtype == np.float32 else 1e-9
    np.testing.assert_allclose(duals[1].bound, duals[0].bound, rtol=rtol)
    np.testing.assert_allclose(duals[1].loss(), duals[0].loss(), rtol=rtol)
    np.testing.assert_allclose(duals[1].element(), duals[0].element(), rtol=rtol, atol=rtol)


def test_scores_of_roots_and_leaves_are_learnt(rng):
    """Labels that are those of depth alone: roots 0, leaves 1, all others 2."""
    tree = SHAPES["drawn"](rng)
    labels = np.full(tree.n_vertices, 2, dtype=np.int32)
    labels[tree.sinks] = 1
    labels[tree.sources] = 0
    loss = MarginHinge(tree, labels, hamming_cost(tree, labels))
    terms = [
        Term("features", LinearFeatures(tree, "node", np.ones((tree.n_vertices, 1))), 1.0),
        Term("boundaries", Boundary(tree), 0.01),
        Term("edges", Free(tree, "edge"), 1.0),
    ]
    problem = Problem.of(loss, terms)
    found = DualAscent().maximize(DetourDual(problem), Stop(1e-4, 0.0, 2000))
    exact = CuttingPlane().minimize(problem, problem.zero(), Stop(1e-6, 0.0, 5000))
    np.testing.assert_allclose(found.point.value, exact.point.value, rtol=2e-4)
    start, end = found.point.element[problem.slices["boundaries"]].reshape(2, 3)
    assert start.argmax() == 0
    assert end.argmax() == 1


def test_it_starts_again_from_its_detours(rng):
    problem = problem_of(rng, "margin", "kernel", structure=SHAPES["forests"](rng), weighted=True)
    dual = some_way_up(problem)
    detours = dual.detours()
    other = DetourDual(repriced(problem, 2.0))
    other.restart(detours)
    np.testing.assert_allclose(other.element(), dual.element() / 2, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(other.core.level(), dual.core.level())
    for mine, theirs in zip(other.detours(), detours, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert len(detours.vertices) == len(detours.labels) > len(detours.shares) > 0


def test_detours_that_are_none_are_refused(rng):
    tree = TreeBatch([0, 5, 6], [1, -1, 1, 2, 2, -1], 3)  # 1 above 0 and 2, 2 above 3 and 4
    problem = problem_of(rng, structure=tree)
    dual, wrong = DetourDual(problem), ((problem.loss.outputs + 1) % 3).astype(np.int32)

    def given(vertices, labels, share=0.5, instance=0):
        places = np.array([[instance, vertices[0], len(vertices)]])
        return Detours(places, labels[vertices], np.array([share]), np.array(vertices, dtype=np.int32))

    dual.restart(given([3, 2, 4], wrong))  # in any order
    np.testing.assert_array_equal(dual.detours().vertices, [2, 3, 4])
    right = problem.loss.outputs
    some_right = np.where(np.arange(6) == 2, right, wrong)
    for detours in [
        given([0, 2], wrong),  # not connected
        given([0, 1], right),
        given([1, 2], some_right),
        given([2, 2], wrong),  # twice
        given([0, 5], wrong),  # beyond the instance
        given([0], wrong, instance=2),
        given([0, 1], wrong, share=1.5),
        given([0, 1], wrong, share=-0.5),
        given([1], wrong)._replace(vertices=np.zeros(0, dtype=np.int32)),
        given([1], wrong)._replace(vertices=np.array([-1], dtype=np.int32)),
    ]:
        with pytest.raises(ValueError, match=r"detours|vertices"):
            dual.restart(detours)


def patches_of(rng, parents, count):
    """Connected sets of vertices, drawn with their neighbours."""
    n = len(parents)
    near = [[u for u in range(n) if parents[u] == v or parents[v] == u] for v in range(n)]
    result = []
    for _ in range(count):
        patch = {int(rng.integers(n))}
        for _ in range(int(rng.integers(0, 4))):
            around = sorted({u for v in patch for u in near[v]} - patch)
            patch |= {int(rng.choice(around))} if around else set()
        result.append(tuple(sorted(patch)))
    return list(dict.fromkeys(result))


def touched(parents, patch):
    """Edges by their lower ends."""
    return set(patch) | {v for v in range(len(parents)) if parents[v] in patch}


def restarted(rng, batch, patches):
    """A dual that has detours on these vertices, a little of each."""
    problem = problem_of(rng, structure=batch)
    wrong = (problem.loss.outputs + rng.integers(1, 3, size=batch.n_vertices)).astype(np.int32) % 3
    places = np.array([[0, patch[0], len(patch)] for patch in patches])
    every = np.concatenate(patches).astype(np.int32)
    listed = every if isinstance(batch, TreeBatch) else every[:0]
    dual = DetourDual(problem)
    dual.restart(Detours(places, wrong[every], np.full(len(patches), 0.1), listed))
    return dual


def packings(edges, full):
    """All subsets of detours that touch no edge twice, and every one that is full."""
    numbers = range(len(edges))
    for some in chain.from_iterable(combinations(numbers, k) for k in range(len(edges) + 1)):
        together = set().union(*(edges[k] for k in some))
        if len(together) == sum(len(edges[k]) for k in some) and full <= together:
            yield some


@pytest.mark.parametrize("kind", ["tree", "chain"])
def test_packings_are_the_best_of_all_subsets(kind, rng):
    found_some = 0
    for _ in range(60):
        # parents never fall, so that slots of vertices are their numbers
        parents = np.minimum(np.sort(rng.integers(-1, 8, size=9)), np.arange(-1, 8))
        parents = parents if kind == "tree" else np.arange(-1, 8)
        batch = TreeBatch([0, 9], parents, 3) if kind == "tree" else ChainBatch([0, 9], 3)
        patches = patches_of(rng, parents, 8)
        edges = [touched(parents, patch) for patch in patches]
        worth, full = rng.normal(size=len(patches)), rng.random(9) < 0.15
        flags = full if kind == "tree" else np.append(full, False)  # nothing about the edge behind the last
        found = restarted(rng, batch, patches).core.packing(0, worth, flags)
        values = {some: worth[list(some)].sum() for some in packings(edges, set(np.flatnonzero(full)))}
        if values:
            np.testing.assert_allclose(values[tuple(sorted(found))], max(values.values()), atol=1e-12)
        else:
            assert not found
        found_some += bool(found)
    assert found_some > 20
