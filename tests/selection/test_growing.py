"""Spaces that grow: slopes, bounds and choices against enumeration and numerical derivatives."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from kernelfields.kernels import RBF
from kernelfields.losses import LogLoss
from kernelfields.objective import Problem, Term
from kernelfields.selection import (
    SGPS,
    SGSA,
    Atoms,
    AtRandom,
    ExactGain,
    FunctionalGradient,
    GainBound,
    GapShare,
    GreedyCliques,
    Growth,
    GrowthTask,
    InTurn,
    LargestGradient,
    Pool,
    RefitAll,
    RefitNew,
    SelectionReason,
    View,
    WholeSequences,
)
from kernelfields.selection.orders import steepest
from kernelfields.selection.refit import gain_of
from kernelfields.selection.sgps import decoded
from kernelfields.spaces import Free
from kernelfields.structures import ChainBatch
from tests._problems import small_chain

EXACT = RefitAll(iterations=500, tol=1e-12)
L = 3


@pytest.fixture
def task(rng):
    return small_task(rng)


def small_task(rng, share=0.5, free=False, edges=False):
    chain = small_chain(L, shared_edges=not edges)
    X = rng.normal(size=(chain.n_vertices - 2, 2))
    rows = np.concatenate([np.arange(len(X)), [0, 1]])  # two vertices look like others
    labels = rng.integers(L, size=chain.n_vertices).astype(np.int32)
    pools = {"kernel": Pool(RBF(0.5), X, rows, L, 0.3, share=share)}
    if edges:
        pools["edge_kernel"] = Pool(RBF(0.2), X, rows[chain.edge_tails], L * L, 0.7, "edge")
    terms = (Term("edges", Free(chain, "edge"), 0.6),) if free else ()
    return GrowthTask(LogLoss(chain, labels), pools, labels, terms)


def grown_to(task, size, selection=None):
    selection = SGSA(size, step=3, refit=EXACT, order=InTurn(2)) if selection is None else selection
    growth = Growth(task, selection, seed=0)
    growth.run()
    return growth


def view_of(growth):
    return View(growth.task, growth.state, growth.task.point(growth.state))


def value_with(task, state, name, functions):
    """R, all coefficients refitted, with further functions."""
    added = state.grown[name].appended(functions)
    return EXACT.run(task, state, {name: added}).point.value


def along(task, state, name, functions):
    """R(f + a h) as a function of a, for one function h."""
    added = state.grown[name].appended(functions)
    row = added.triangle[0] if len(added.kept) else state.grown[name].whitened(functions)[0]
    wide = state._replace(grown=state.grown | {name: added.grown})
    w = np.pad(state.parts[name], (0, added.grown.size - len(state.parts[name])))
    return lambda a: task.point(wide._replace(parts=state.parts | {name: w + a * row})).value


def test_slopes_are_derivatives(task):
    growth = grown_to(task, 5, SGPS(5, step=5, refit=RefitAll(iterations=2)))
    view, ids = view_of(growth), np.arange(task.structure.n_instances)
    keys = np.unique(SGPS().keys(view, ids)[0])
    assert len(keys) == len({*decoded_tuples(keys)})
    keys = keys[~np.isin(keys, growth.state.spent["kernel"])][::17]
    found = view.slopes_of("kernel", SGPS().functions(keys, L))
    for key, slope in zip(keys, found, strict=True):
        value = along(task, growth.state, "kernel", SGPS().functions(np.array([key]), L))
        assert slope == pytest.approx((value(1e-4) - value(-1e-4)) / 2e-4, abs=1e-6)


def decoded_tuples(keys):
    return zip(*(part.tolist() for part in decoded(keys, L)), strict=True)


def test_coordinates_are_positions_with_two_labels(task):
    """(o, σ, τ), and (o, σ) at the ends of sequences: every observed pair of cliques is among them."""
    view = view_of(grown_to(task, 1))
    found = set(decoded_tuples(SGPS().keys(view, np.arange(task.structure.n_instances))[0]))
    offsets, expected = task.structure.offsets, set()
    for a, b in pairwise(offsets):
        for t in range(a, b):
            following = range(L) if t + 1 < b else [L]
            expected |= set(product([int(task.pools["kernel"].seen[t])], range(L), following))
    assert found == expected


def test_slopes_of_edges_with_input_are_derivatives(rng):
    task = small_task(rng, share=0.0, free=True, edges=True)
    growth = grown_to(task, 6, GreedyCliques(6, step=3, refit=RefitAll(iterations=2)))
    view = view_of(growth)
    for name in task.pools:
        slopes = view.slopes(name, np.array([2, 5]))
        for j, o in enumerate((2, 5)):
            value = along(task, growth.state, name, Atoms.single(np.array([o]), np.array([1])))
            assert slopes[j, 1] == pytest.approx((value(1e-4) - value(-1e-4)) / 2e-4, abs=1e-6)


def test_terms_of_the_gradient_are_what_slopes_are_made_of(task):
    """⟨∇R, k(x_o, ·) [label]⟩ = Σ_i k(x_o, x_i) a_i, pairs likewise; a is read from the gradient itself."""
    view = view_of(grown_to(task, 5, SGPS(5, step=5, refit=RefitAll(iterations=2))))
    pool, observations = task.pools["kernel"], np.arange(14)
    a = np.linalg.solve(pool.block(observations, observations), view.slopes("kernel", observations))
    single = Atoms.single(*np.divmod(np.arange(14 * L), L))
    np.testing.assert_allclose(view.gradient_terms("kernel", single), np.abs(a).ravel(), atol=1e-7)
    b = np.abs(view.pair_slopes("kernel")) / pool.share
    keys = np.arange(-L * L, 0)
    np.testing.assert_allclose(view.gradient_terms("kernel", SGSA().functions(keys, L)), b.ravel()[-1 - keys])
    tied = SGPS().functions((5 * L + 1) * (L + 1) + np.arange(L + 1), L)
    mean = np.append(b[1] / len(task.structure.edge_tails), 0)
    np.testing.assert_allclose(view.gradient_terms("kernel", tied), abs(a[5, 1]) + mean, atol=1e-7)


def test_shares_add_up_to_the_gap(task):
    """Those of all clique configurations, with their signs."""
    view = view_of(grown_to(task, 0, SGSA(1, refit=EXACT)))
    keys = np.concatenate([np.arange(14 * L), np.arange(-L * L, 0)])
    functions = SGSA().functions(keys, L)
    found = GapShare().judge(view, "kernel", functions)
    a = view.gradient_terms("kernel", functions)
    assert (found >= 0).all()
    signed = signs_of(view, keys) * a * view.slopes_of("kernel", functions) / (2 * 0.3)
    assert signed.sum() == pytest.approx(view.full_gap(), rel=1e-9)
    np.testing.assert_allclose(found, np.abs(signed), atol=1e-12)
    assert GapShare().judge(view, "kernel", functions, threshold=1e9).max() == 0


def signs_of(view, keys):
    """Of coefficients in the gradient."""
    vertices, pairs = view.coefficients("kernel").ravel(), view.pair_slopes("kernel").ravel()
    return np.sign(np.where(keys >= 0, vertices[keys], pairs[-1 - np.minimum(keys, -1)]))


@pytest.mark.parametrize("size", [1, 4, 12])
def test_bound_is_never_below_the_gain(size, rng):
    """Every candidate there is, all coefficients refitted; also of whole coordinates of SGPS."""
    task = small_task(rng)
    growth = grown_to(task, size)
    view, state = view_of(growth), growth.state
    now = view.point.value
    keys = np.unique(SGPS().keys(view, np.arange(task.structure.n_instances))[0])
    slopes = view.slopes_of("kernel", SGPS().functions(keys, L))
    bounds = view.gain_bounds("kernel", SGPS().functions(keys, L), slopes)
    gaps = []
    for j in range(len(keys)):
        gain = now - value_with(task, state, "kernel", SGPS().functions(keys[[j]], L))
        assert gain <= bounds[j] + 1e-7
        gaps.append(gain / bounds[j] if bounds[j] > 1e-6 else 0.0)
    assert max(gaps) > 0.1  # a bound that says nothing would hold, too


def test_norm_instead_of_residual_is_no_bound(rng):
    """What the residual is for: with ‖h‖² in its place some gains exceed the 'bound'."""
    task = small_task(rng)
    growth = grown_to(task, 12)
    view, state = view_of(growth), growth.state
    functions = Atoms.single(*np.divmod(np.arange(14 * L), L))
    slopes = view.slopes("kernel", np.arange(14)).ravel()
    wrong = slopes**2 / (2 * 0.3 * state.grown["kernel"].norms(functions))
    gains = [
        view.point.value - value_with(task, state, "kernel", functions.take([j]))
        for j in range(functions.size)
    ]
    assert (np.array(gains) > wrong + 1e-7).any()


def test_gain_of_a_function_alone(rng):
    task = small_task(rng, share=0.0, free=True)
    growth = grown_to(task, 4, GreedyCliques(4, step=2, refit=EXACT))
    now = task.point(growth.state).value
    for o, label in ((3, 0), (8, 2)):
        functions = Atoms.single(np.array([o]), np.array([label]))
        best = minimize_scalar(along(task, growth.state, "kernel", functions), tol=1e-10).fun
        assert gain_of(task, growth.state, "kernel", functions) == pytest.approx(now - best, abs=1e-5)


def test_full_gap_is_that_of_the_dense_problem(task):
    """Certificates in the span of everything and in the whole space are one."""
    few, all_of_it = grown_to(task, 4), grown_to(task, 10**6)
    best = all_of_it.task.point(all_of_it.state)
    assert best.certificate.relative_gap < 1e-9
    assert view_of(all_of_it).full_gap() == pytest.approx(0, abs=1e-7)
    gap = view_of(few).full_gap()
    true = task.point(few.state).value - best.value
    assert true <= gap
    # In the span of these functions and of all others, the certificate is that of the whole space.
    rest = all_of_it.state.grown["kernel"].atoms
    wide = few.state.grown["kernel"].appended(rest).grown
    same = few.state._replace(
        grown={"kernel": wide}, parts={"kernel": np.pad(few.state.parts["kernel"], (0, wide.size - 4))}
    )
    assert gap == pytest.approx(task.point(same).certificate.gap, rel=1e-6)


@pytest.mark.parametrize("kind", [SGPS, SGSA, WholeSequences])
def test_gap_ends_a_selection(kind, task):
    growth = grown_to(task, 0, kind(10**6, step=4, gap=0.05, refit=EXACT, order=InTurn(2)))
    assert growth.ending is SelectionReason.GAP
    best = task.point(grown_to(task, 10**6).state).value
    assert task.point(growth.state).value - best <= 0.05 * task.point(growth.state).value


def test_threshold_leaves_flat_candidates_alone(task):
    growth = grown_to(
        task, 0, SGSA(10**6, step=2, threshold=0.3, refit=EXACT, order=InTurn(), by=FunctionalGradient())
    )
    assert growth.ending is SelectionReason.THRESHOLD
    view = view_of(growth)
    left = np.abs(view.slopes("kernel", np.arange(14)))
    assert left.max() <= 0.3 + 1e-6
    assert np.abs(view.pair_slopes("kernel")).max() <= 0.3 + 1e-6
    assert growth.state.size < 30


def test_new_coefficients_alone(rng):
    """R falls to the minimum over the new coefficients; the others stay."""
    task = small_task(rng)
    before = grown_to(task, 5).state
    c_before = before.grown["kernel"].functions().coefficients(before.parts["kernel"])
    functions = Atoms.single(np.array([9, 2]), np.array([1, 2]))
    added = before.grown["kernel"].appended(functions)
    after = RefitNew(iterations=500, tol=1e-13).run(task, before, {"kernel": added})
    c = after.state.grown["kernel"].functions().coefficients(after.state.parts["kernel"])
    np.testing.assert_allclose(c[:5], c_before, atol=1e-7)
    assert after.point.value < task.point(before).value
    assert after.point.value == pytest.approx(task.point(after.state).value)
    view = View(task, after.state, after.point)
    slopes = view.slopes("kernel", np.array([9, 2]))
    np.testing.assert_allclose([slopes[0, 1], slopes[1, 2]], 0, atol=1e-4)


def test_refitting_all_is_better_than_new_ones(task):
    by_all = grown_to(task, 20, SGPS(20, step=2, order=InTurn()))
    by_new = grown_to(task, 20, SGPS(20, step=2, order=InTurn(), refit=RefitNew()))
    assert by_all.path[-1].value < by_new.path[-1].value
    assert np.all(np.diff([step.value for step in by_new.path]) <= 1e-9)


def test_whole_labellings_are_the_steepest_of_all(rng):
    """Against every labelling of a short sequence."""
    chain = ChainBatch([0, 4], L)
    X, labels = rng.normal(size=(4, 2)), rng.integers(L, size=4).astype(np.int32)
    pool = Pool(RBF(0.5), X, np.arange(4), L, 0.3, share=0.5)
    task = GrowthTask(LogLoss(chain, labels), {"kernel": pool}, labels)
    growth = grown_to(task, 1, WholeSequences(1, step=1, refit=EXACT))
    view = view_of(growth)
    node, edge = view.slopes("kernel", np.arange(4)), view.pair_slopes("kernel")
    slopes = {
        y: abs(sum(node[t, y[t]] for t in range(4)) + sum(edge[a, b] for a, b in pairwise(y)))
        for y in product(range(L), repeat=4)
    }
    [proposal] = WholeSequences(size=9, step=3).propose(view, 0, np.random.RandomState(0))
    found = [
        tuple(proposal.functions.labels[proposal.functions.owners == j].tolist())
        for j in range(proposal.functions.size)
    ]
    spent = growth.state.grown["kernel"].atoms.labels.tolist()
    expected = sorted((y for y in slopes if list(y) != spent), key=lambda y: -slopes[y])[:3]
    assert set(found) == set(expected)
    whole = np.array([slopes[y] for y in found])
    bounds = view.gain_bounds("kernel", proposal.functions, whole)
    for j in range(3):
        gain = view.point.value - value_with(task, growth.state, "kernel", proposal.functions.take([j]))
        assert gain <= bounds[j] + 1e-7


def test_greedy_choice_is_the_best_there_is(rng):
    task = small_task(rng, share=0.0, free=True)
    growth = grown_to(task, 3, GreedyCliques(3, step=1, refit=EXACT))
    view = view_of(growth)
    slopes = np.abs(view.slopes("kernel", np.arange(14)))
    random = np.random.RandomState(0)
    [steep] = GreedyCliques(9, step=1).propose(view, 0, random)
    assert slopes.ravel()[steep.keys[0]] == slopes.max()
    [gaining] = GreedyCliques(9, step=1, by=ExactGain(10**6)).propose(view, 0, random)
    gains = [
        gain_of(task, growth.state, "kernel", Atoms.single(*np.divmod(np.array([key]), L)))
        for key in range(14 * L)
    ]
    assert gains[gaining.keys[0]] == pytest.approx(max(gains), rel=1e-4)
    [bounded] = GreedyCliques(9, step=1, by=GainBound(10**6)).propose(view, 0, random)
    every = Atoms.single(*np.divmod(np.arange(14 * L), L))
    fresh = ~np.isin(np.arange(14 * L), growth.state.spent["kernel"])
    bounds = np.where(
        fresh, view.gain_bounds("kernel", every, view.slopes("kernel", np.arange(14)).ravel()), 0
    )
    assert bounds[bounded.keys[0]] == pytest.approx(bounds.max(), rel=1e-4)


def test_candidates_of_greedy_selection(rng):
    task = small_task(rng, share=0.0, free=True, edges=True)
    view, random = view_of(grown_to(task, 2, GreedyCliques(2))), np.random.RandomState(0)
    seen = {(int(o), int(y)) for o, y in zip(task.pools["kernel"].seen, task.outputs, strict=True)}
    tails, heads = task.structure.edge_tails, task.structure.edge_heads
    pairs = {
        (int(task.pools["kernel"].seen[t]), int(task.outputs[t]) * L + int(task.outputs[h]))
        for t, h in zip(tails, heads, strict=True)
    }
    for proposal in GreedyCliques(10**6, step=10**6, seen_only=True).propose(view, 0, random):
        width = task.pools[proposal.name].width
        found = {divmod(key, width) for key in proposal.keys.tolist()}
        assert found <= (seen if proposal.name == "kernel" else pairs)
        assert len(found) > 5
    [whole] = GreedyCliques(9, step=1, every_labelling=True).propose(view, 0, random)
    assert len(whole.keys) == task.pools[whole.name].width
    assert len(np.unique(whole.keys // task.pools[whole.name].width)) == 1
    few = GreedyCliques(10**6, step=10**6, sample=4).propose(view, 0, random)
    assert all(len(np.unique(p.functions.observations)) <= 4 for p in few)


def test_kernels_take_turns(rng):
    task = small_task(rng, share=0.0, free=True)
    second = replace(task.pools["kernel"], kernel=RBF(3.0))
    both = replace(task, pools={"kernel 0": task.pools["kernel"], "kernel 1": second})
    growth = grown_to(both, 8, GreedyCliques(8, step=2))
    assert growth.state.sizes == {"kernel 0": 4, "kernel 1": 4}
    everything = grown_to(both, 10**6, GreedyCliques(10**6, step=9, refit=EXACT))
    assert view_of(everything).full_gap() == pytest.approx(0, abs=1e-6)


def test_each_kernel_gives_its_best(rng):
    """Every step takes, of each kernel, the candidates along which R falls most: by numerical derivatives."""
    task = small_task(rng, share=0.0, free=True, edges=True)
    second = replace(task.pools["kernel"], kernel=RBF(3.0), penalty=0.5)
    pools = {
        "kernel 0": task.pools["kernel"],
        "kernel 1": second,
        "edge_kernel": task.pools["edge_kernel"],
    }
    every = replace(task, pools=pools)
    selection = GreedyCliques(10**6, step=2, each_kernel=True, refit=EXACT)
    growth = grown_to(every, 6, GreedyCliques(6, step=2, each_kernel=True, refit=EXACT))
    assert growth.state.sizes == dict.fromkeys(pools, 2)
    view = view_of(growth)
    proposals = {one.name: one for one in selection.propose(view, 0, np.random.RandomState(0))}
    assert proposals.keys() == pools.keys()
    for name, pool in pools.items():
        merits = {}
        for o in np.unique(pool.seen).tolist():
            for label in range(pool.width):
                value = along(every, growth.state, name, Atoms.single(np.array([o]), np.array([label])))
                merits[o * pool.width + label] = abs(value(1e-4) - value(-1e-4))
        spent = set(growth.state.spent[name].tolist())
        best = sorted(merits.keys() - spent, key=lambda key: -merits[key])[:2]
        assert proposals[name].keys.tolist() == best
    everything = grown_to(every, 10**6, GreedyCliques(10**6, step=9, each_kernel=True, refit=EXACT))
    assert view_of(everything).full_gap() == pytest.approx(0, abs=1e-6)


def test_orders():
    random, flat = np.random.RandomState(0), lambda ids: np.zeros(len(ids))
    turns = [InTurn(2).pick(visit, 5, random, flat).tolist() for visit in range(3)]
    assert turns == [[0, 1], [2, 3], [4, 0]]
    assert InTurn(2).patience(5) == 3
    drawn = {int(s) for visit in range(50) for s in AtRandom(2).pick(visit, 5, random, flat)}
    assert drawn == set(range(5))
    assert LargestGradient().pick(0, 5, random, lambda ids: -((ids - 3.0) ** 2) + 9).tolist() == [3]
    some = LargestGradient(2).pick(0, 5, random, lambda ids: ids.astype(float) + 1)
    assert len(some) == 1


def test_steepest_breaks_ties_by_order_and_takes_one_of_a_group():
    slopes = np.array([1.0, -3.0, 3.0 * (1 + 1e-9), 2.0, 0.0])
    assert steepest(slopes, 3).tolist() == [1, 2, 3]
    assert steepest(slopes, 3, np.array([0, 7, 7, 1, 2])).tolist() == [1, 3, 0]
    assert steepest(slopes, 10).tolist() == [1, 2, 3, 0]


@pytest.mark.parametrize("kind", [SGPS, SGSA, WholeSequences])
def test_largest_gradient_takes_the_steepest_sequence(kind, rng):
    task, by = small_task(rng), {} if kind is WholeSequences else {"by": FunctionalGradient()}
    growth = grown_to(task, 3, kind(3, step=3, refit=EXACT, order=InTurn()))
    view, random = view_of(growth), np.random.RandomState(0)

    def steepness(proposals):
        one = proposals[0].functions.take([0])
        value = along(task, growth.state, "kernel", one)
        return abs(value(1e-4) - value(-1e-4)) / 2e-4

    best = steepness(kind(9, step=1, order=LargestGradient(), **by).propose(view, 0, random))
    others = [kind(9, step=1, order=InTurn(), **by).propose(view, s, random) for s in range(6)]
    assert best == pytest.approx(max(steepness(some) for some in others if some), rel=1e-3)


@pytest.mark.parametrize("kind", [SGPS, SGSA])
def test_candidates_of_some_sequences_are_those_of_each(kind, task):
    view, ids = view_of(grown_to(task, 1)), np.arange(task.structure.n_instances)
    keys, places = kind().keys(view, ids)
    for s in ids:
        alone, places_alone = kind().keys(view, ids[[s]])
        assert sorted(keys[places == s]) == sorted(alone)
        assert not places_alone.any()


@pytest.mark.parametrize("kind", [SGPS, SGSA])
def test_sequences_whose_candidates_were_dealt_with_are_not_picked(kind, task):
    view, random = view_of(grown_to(task, 1)), np.random.RandomState(0)
    selection, ids = kind(9, step=1, order=LargestGradient()), np.arange(task.structure.n_instances)
    picked = selection.picked(view, 0, random, selection._merits)
    dealt_with = view.state._replace(spent={"kernel": kind().keys(view, picked)[0]})
    again = selection.picked(View(task, dealt_with, view.point), 0, random, selection._merits)
    assert len(ids) > 1
    assert again.tolist() != picked.tolist()


def test_size_is_kept_to_and_may_be_a_share(task):
    assert grown_to(task, 7, SGPS(7, step=3)).state.size == 7
    assert SGPS(0.25).limit(40) == 10


def test_problem_of_selected_functions_has_the_value_of_the_dense_one(task):
    growth = grown_to(task, 6)
    problem = task.problem(growth.state.grown)
    assert isinstance(problem, Problem)
    point = task.point(growth.state)
    assert growth.path[-1].value == pytest.approx(point.value)
    assert growth.path[-1].gap == pytest.approx(point.certificate.relative_gap, abs=1e-9)
