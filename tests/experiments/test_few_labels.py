"""Parts of the experiments with few labels: the galaxy and its Bayes error, choices, shares of labels."""

import numpy as np
import pytest
from scipy.stats import norm

from experiments.lib.few_labels import (
    Candidate,
    cross_validated,
    resampled_shares,
    share_of_labels,
    wrong_labels,
)
from experiments.lib.galaxies import Galaxy
from experiments.lib.graph_learning import VARIABLE, graph_learning
from experiments.lib.semi_methods import FieldMethod, GraphMethod, MarginMethod, SingleMargin
from experiments.lib.semi_pool import SequencePool
from experiments.lib.semi_trials import TrialPlan, error_rows, run_trials
from kernelfields.graphs import NeighborGraph, Regularised
from kernelfields.kernels import RBF, GraphKernel
from kernelfields.metrics import token_error

SHAPE = {"core": 0.4, "core_width": 0.25, "inner": 0.6, "outer": 2.4, "turns": 1.25, "arm_width": 0.08}


@pytest.fixture(scope="module")
def galaxy():
    return Galaxy(**SHAPE, stay=0.9)


def test_arms_are_walked_at_one_speed(galaxy):
    steps = np.linalg.norm(np.diff(galaxy.arm(np.linspace(0, 1, 101)), axis=0), axis=1)
    np.testing.assert_allclose(steps, steps.mean(), rtol=2e-3)
    np.testing.assert_allclose(np.linalg.norm(galaxy.arm(np.array([0.0, 1.0])), axis=1), [0.6, 2.4])


def test_densities_are_those_of_the_draws(galaxy, rng):
    data = galaxy.draw(500, 20, rng)
    points, states = np.concatenate(data.X), np.concatenate(data.y)
    for state in (0, 1):
        mine = points[states == state]
        for low, high in (((0.0, 0.0), (0.3, 0.2)), ((1.2, 0.0), (1.8, 1.0)), ((-1.8, -1.0), (-1.2, 0.0))):
            inside = np.mean(np.all((mine > low) & (mine < high), axis=1))
            axes = [
                np.linspace(a, b, 30, endpoint=False) + (b - a) / 60 for a, b in zip(low, high, strict=True)
            ]
            cells = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
            area = np.prod(np.subtract(high, low))
            expected = area * galaxy.densities(cells)[:, state].mean()
            assert inside == pytest.approx(expected, abs=4 * np.sqrt(expected / len(mine)) + 1e-4)


def test_bayes_error_is_that_of_the_rule(galaxy, rng):
    """Arms that overlap with each other and with the core, so that it is not just half of the core."""
    wide = Galaxy(core=0.2, core_width=0.5, inner=0.4, outer=1.5, turns=1.0, arm_width=0.2, stay=0.9)
    data = wide.draw(250, 20, rng)
    found = token_error(data.y, wide.guesses(data, chained=False))
    assert wide.bayes_error() == pytest.approx(found, abs=4 * np.sqrt(0.25 / 5000))
    assert wide.bayes_error() > 0.12
    assert galaxy.bayes_error() == pytest.approx(0.2, abs=1e-4)


@pytest.mark.parametrize(("radius", "width", "core"), [(1.0, 0.5, 0.0), (0.3, 0.4, 0.3)])
def test_bayes_error_of_two_round_clouds_is_known(radius, width, core):
    clouds = Galaxy(core, width, inner=radius, outer=radius, turns=1e-6, arm_width=width, stay=0.9)
    expected = core / 2 + (1 - core) * norm.sf(radius / width)
    assert clouds.bayes_error() == pytest.approx(expected, abs=1e-5)


def test_states_stay_as_often_as_they_should(galaxy, rng):
    states = np.array(galaxy.draw(4000, 10, rng).y)
    assert np.mean(states[:, 0]) == pytest.approx(0.5, abs=0.03)
    assert np.mean(states[:, 1:] == states[:, :-1]) == pytest.approx(0.9, abs=0.01)


def test_context_helps_who_knows_the_source(galaxy, rng):
    data = galaxy.draw(100, 20, rng)
    without, with_context = (token_error(data.y, galaxy.guesses(data, chained=c)) for c in (False, True))
    assert with_context < without - 0.1


def test_settings_with_fewest_errors_are_chosen_from_labelled_sequences_and_of_equals_the_first():
    y = [["b"] * 2, ["b"] * 2, ["a"] * 3, ["a"] * 3, ["c"], ["c"]]
    few, seen = np.array([0, 1, 2, 3]), []

    def label(length, known, others):
        assert not set(known) & set(others)
        seen.extend([*known, *others])
        return [["b" if len(y[i]) == length else "a"] * len(y[i]) for i in others]

    assert cross_validated([3, 2.0, 2], label, y, few, 3, 0) == 2.0
    assert isinstance(cross_validated([3, 2.0, 2], label, y, few, 9, 0), float)
    assert set(seen) == set(few)
    assert cross_validated(["only"], None, y, few, 3, 0) == "only"


def test_wrong_labels_are_counted():
    assert wrong_labels([["a", "b"], ["c"]], [["a", "c"], ["d"]]) == 2


def test_share_of_labels_is_read_off_the_curve():
    sizes = [10, 20, 40]
    mine, rival = np.array([[8.0, 4.0, 2.0]]), np.array([[9.0, 6.0, 3.0]])
    found = share_of_labels(sizes, mine, rival)
    np.testing.assert_allclose(found, [1.0, 10 * 2**0.5 / 20, 20 * 2**0.5 / 40])
    assert share_of_labels(sizes, mine, rival - 5).tolist() == pytest.approx([0.5 * 2 * 2, np.inf, np.inf])
    assert share_of_labels(sizes, mine, mine).tolist() == pytest.approx([1.0, 1.0, 1.0])


def test_shares_of_equal_trials_have_no_spread(rng):
    trials = np.tile([[8.0, 4.0, 2.0]], (5, 1))
    drawn = resampled_shares([10, 20, 40], trials, trials + 1.0, seed=0, times=10)
    assert np.ptp(drawn, axis=0).tolist() == [0.0, 0.0, 0.0]


@pytest.fixture(scope="module")
def pool():
    random = np.random.default_rng(3)
    centres = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    labels = [random.integers(3, size=4) for _ in range(20)]
    given = [(centres[y] + random.normal(size=(4, 2))).astype(np.float32) for y in labels]
    given[1][0] = given[0][0]  # one vertex
    graph = NeighborGraph(5).on(np.concatenate(given))
    return SequencePool(given, [[f"c{label}" for label in y] for y in labels], graph, 12, [0.1, 0.01])


@pytest.mark.parametrize("epsilon", [0.1, 0.01])
def test_columns_of_a_pool_are_the_features_of_graph_kernels(pool, epsilon):
    points = np.concatenate(pool.given)
    kernel = GraphKernel(NeighborGraph(5), Regularised(epsilon), 12).on(points)
    rows = np.concatenate(pool.sequences)
    np.testing.assert_allclose(pool.graph_kernel(epsilon)(rows), kernel(points), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(pool.radial(0.5)(rows), RBF(0.5)(points), rtol=1e-5, atol=1e-6)


def test_rows_and_labels_of_a_pool_belong_together(pool):
    ids = np.array([7, 2])
    np.testing.assert_array_equal(
        np.concatenate(pool.given)[pool.rows(ids)], np.concatenate([pool.given[7], pool.given[2]])
    )
    assert pool.divided(pool.labels(ids), ids) == [pool.y[7], pool.y[2]]
    edges = pool.graph.adjacency.tocoo()
    flat = np.concatenate(pool.y)
    first = [int(np.flatnonzero(pool.graph.inverse == v)[-1]) for v in range(pool.graph.size)]
    equal = [flat[first[i]] == flat[first[j]] for i, j in zip(edges.row, edges.col, strict=True)]
    assert pool.equal_share() == pytest.approx(np.mean(equal))


def test_methods_of_the_graph_label_vertices(pool):
    few, others = np.arange(8), np.arange(8, 20)

    def nearest_known(known, choice):
        assert choice == "any"
        assert np.count_nonzero(known >= 0) == len(np.unique(pool.graph.inverse[pool.rows(few)]))
        points, labelled = pool.graph.vertices, np.flatnonzero(known >= 0)
        apart = np.linalg.norm(points[:, None] - points[labelled], axis=2)
        found = np.eye(3)[known[labelled][apart.argmin(axis=1)]]
        found[pool.graph.inverse[pool.rows([9])[0]]] = np.nan
        return found

    found = GraphMethod(pool, ["any"], nearest_known).label("any", few, others)
    assert [len(labels) for labels in found] == [4] * 12
    common = np.bincount(pool.labels(few)).argmax()
    assert found[1][0] == pool.classes[common]
    assert wrong_labels(pool.y[8:], found) < 15


def test_kernel_methods_learn_from_few(pool):
    few, others = np.arange(10), np.arange(10, 20)
    candidate = Candidate(pool.graph_kernel(0.1), 0.1)
    methods = [
        FieldMethod(pool, [candidate], 1.0, 1e-2),
        MarginMethod(pool, [candidate], 5e-2),
        SingleMargin(pool, [candidate]),
    ]
    for method in methods:
        assert wrong_labels(pool.y[10:], method.label(candidate, few, others)) < 12
    assert 0 < methods[0].gap <= 1e-2


def test_trials_label_nested_sets_and_test_others(pool):
    seen = []

    class Noted:
        choices = ("only",)

        def label(self, choice, few, others):
            seen.append((len(few), set(few), set(others)))
            return [["c0"] * 4 for _ in others]

    plan = TrialPlan([3, 6], n_trials=2, n_test=5, n_folds=2, seed=0)
    errors = run_trials(pool, {"noted": Noted()}, plan, lambda text: None)
    assert errors["noted"].shape == (2, 2)
    for (small, few, test), (large, more, same) in zip(seen[::2], seen[1::2], strict=True):
        assert (small, large, len(test)) == (3, 6, 5)
        assert few < more
        assert test == same
        assert not more & test
    test = plan.split(plan.draws(pool)[0], 6)[1]
    wrong = np.mean([label != "c0" for i in test for label in pool.y[i]])
    assert errors["noted"][0, 1] == pytest.approx(100 * wrong)
    rows = error_rows({"a": errors["noted"], "b": errors["noted"] - 1.0}, plan, "a", "words")
    assert [row["points below a"] for row in rows if row["method"] == "b"] == ["+1.00 … +1.00"] * 2


def test_the_other_package_is_left_out_without_its_python(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert graph_learning(None, 3) == {}
