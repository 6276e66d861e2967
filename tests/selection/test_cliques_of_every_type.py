"""Selections among cliques of every type: the written-out optimum, choices by hand, what is kept."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from kernelfields import InputError, KernelCRF, KernelScores, LinearScores, Parts, load
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF
from kernelfields.objective import SpaceNorm
from kernelfields.posterior import Laplace
from kernelfields.selection import SGPS, SGSA, ExactGain, GreedyCliques, ImportVectors, WholeSequences
from kernelfields.selection.greedy_cliques import seen_keys
from kernelfields.structures import Segments
from tests._parts import free
from tests.estimators.structures.test_kernels_on_every_clique import (
    BARE,
    CASES,
    FINE,
    MINE,
    K,
    Written,
    batch_marginals,
    outputs_of,
    rows_of_answers,
    sequences,
    vertices_of,
)

ALL = 10**6


def chain(rng: Any) -> Any:
    return "chain", *sequences(rng)


def triples(rng: Any) -> Any:
    return "chain2", *sequences(rng)


def trees(rng: Any) -> Any:
    X, y = sequences(rng)
    return "tree", [(x, [-1, *(v // 2 for v in range(len(x) - 1))]) for x in X], y


def graphs(rng: Any) -> Any:
    X, y = sequences(rng, (4, 3, 3))
    return "graph", [(x, [(0, 1), (1, 2), (0, 2)]) for x in X], y


def first_of(batch: Any, features: Any, clique: str) -> Any:
    """What the first vertex of every clique sees."""
    return features[batch.cliques[clique].members[:, 0]]


EVERY = CASES | {
    "both ends": (chain, "edge", "all", vertices_of, ["edges"]),
    "first end": (chain, "edge", "first", first_of, ["edges"]),
    "of trees": (trees, "edge", "all", vertices_of, ["edges"]),
    "of graphs": (graphs, "edge", "all", vertices_of, ["edges"]),
    "triple": (triples, "triple", "all", vertices_of, ["edges", "second_order"]),
    "more of vertices": (chain, "node", "first", rows_of_answers, ["edges"]),
}


def example(case: str, rng: Any, none: bool = False) -> tuple[KernelCRF, Any, Any]:
    """A model with a kernel on cliques of a type; with ``none``, without functions of labels alone."""
    make, clique, view, _, names = EVERY[case]
    structure, X, y = make(rng)
    others = BARE | (dict.fromkeys(names) if none else free(1.3, *names))
    parts = Parts(others, mine=KernelScores(MINE, on=clique, view=view, penalty=0.4))
    return KernelCRF(K, penalty=0.7, structure=structure, parts=parts, random_state=0, **FINE), X, y


def written_out(case: str, model: KernelCRF, X: Any, y: Any) -> tuple[Written, dict[str, Any]]:
    """The objective, summed over every output, without terms; and what cliques see, by pool."""
    scored = model._batch(X, None, None)
    batch, features = scored.batch, scored.inputs.features
    clique, seen_by = EVERY[case][1], EVERY[case][3]
    seen = {"kernel": (batch.answer, K, features, 0.7)}
    seen["mine"] = (clique, MINE, seen_by(batch, features, clique), 0.4)
    return Written(batch, outputs_of(model, y, scored)), seen


@pytest.mark.parametrize("case", EVERY)
def test_all_cliques_are_the_dense_model(case: str, rng: Any, tmp_path: Any) -> None:
    """The value, marginals by enumeration, and what a file keeps."""
    model, X, y = example(case, rng)
    dense = model.fit(X, y).certificate_.value
    model.set_params(basis=GreedyCliques(ALL, step=40)).fit(X, y)
    assert model.certificate_.value == pytest.approx(dense, rel=1e-6)
    written, seen = written_out(case, model, X, y)
    for term in seen.values():
        written.add_kernel(*term)
    for other in written.batch.cliques:
        if other not in (written.batch.answer, "segment", "sibling"):
            written.add_free(other, 1.3)
    value, w = written.minimum()
    assert model.certificate_.value == pytest.approx(value, rel=1e-6)
    found = np.concatenate(batch_marginals(model, X)).ravel()
    np.testing.assert_allclose(found, written.marginals(w), atol=2e-4)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    np.testing.assert_allclose(np.concatenate(batch_marginals(again, X)).ravel(), found, atol=1e-12)


@pytest.mark.parametrize("case", ["both ends", "arc", "triple", "factor", "segment", "sibling"])
def test_the_first_clique_is_the_steepest(case: str, rng: Any) -> None:
    """|⟨∇R, h⟩|/√λ at 0 of every labelled clique, by differences of sums over every output."""
    model, X, y = example(case, rng, none=True)
    model.set_params(basis=GreedyCliques(1, step=1)).fit(X, y)
    written, seen = written_out(case, model, X, y)
    if case == "arc":  # kernels on answers are visited in turn
        del seen["mine"]
    merits = {}
    for name, (clique, kernel, observations, penalty) in seen.items():
        width = int(np.prod(written.batch.cliques[clique].values))
        for o, column in enumerate(np.asarray(kernel(observations)).T):
            for label in range(width):
                written.terms = [(clique, np.kron(column, np.eye(width)[label])[:, None], 0.0)]
                up, down = (written.at(np.array([a]))[0] for a in (1e-4, -1e-4))
                merits[name, o, label] = abs(up - down) / 2e-4 / np.sqrt(penalty)
    [(name, atoms)] = [(name, atoms) for name, atoms in model.selected_.items() if atoms.size]
    chosen = name, int(atoms.observations[0]), int(atoms.labels[0])
    assert merits[chosen] == pytest.approx(max(merits.values()), rel=1e-6)
    assert max(merits.values()) > 1.01 * np.median(list(merits.values()))


@pytest.mark.parametrize("case", ["both ends", "arc", "segment", "sibling"])
def test_few_functions_are_what_the_path_says(case: str, rng: Any) -> None:
    """Only selected observations are kept, and the model has the value of the written objective there."""
    model, X, y = example(case, rng, none=True)
    model.set_params(basis=GreedyCliques(5, step=1)).fit(X, y)
    assert [step.functions for step in model.path_] == list(range(6))
    _, seen = written_out(case, model, X, y)
    scorer, (_, kernel, observations, _) = model.parts_["mine"], seen["mine"]
    positions = np.unique(model.selected_["mine"].observations)
    assert 0 < len(positions) == len(scorer.basis) < len(observations)
    np.testing.assert_allclose(np.unique(observations[positions], axis=0), np.unique(scorer.basis, axis=0))
    value = 0.35 * np.vdot(model.dual_coef_, K(model.basis_) @ model.dual_coef_)
    flat = scorer.coef.reshape(len(scorer.coef), -1)
    value += 0.2 * np.vdot(flat, kernel(scorer.basis) @ flat)
    value -= model.sequence_log_proba(X, y).sum()
    assert model.certificate_.value == pytest.approx(value, rel=1e-7)
    assert model.path_[0].value > value


@pytest.mark.parametrize("case", ["both ends", "arc"])
@pytest.mark.parametrize(
    "selection",
    [
        ImportVectors(ALL, step=20, change=0.0),
        GreedyCliques(ALL, step=20, each_kernel=True),
        GreedyCliques(ALL, step=9, by=ExactGain(9)),
        GreedyCliques(ALL, step=20, gap=1e-7, every_labelling=True, sample=5),
    ],
    ids=repr,
)
def test_other_ways_to_choose_end_at_the_dense_model(selection: Any, case: str, rng: Any) -> None:
    model, X, y = example(case, rng)
    dense = model.fit(X, y).certificate_.value
    model.set_params(basis=selection).fit(X, y)
    assert model.certificate_.value == pytest.approx(dense, rel=1e-6)


@pytest.mark.parametrize("case", ["both ends", "arc"])
def test_several_kernels_beside_those_of_cliques(case: str, rng: Any, tmp_path: Any) -> None:
    """Functions of each kernel have coefficients of their own; files keep all."""
    model, X, y = example(case, rng)
    model.set_params(kernel=[K, RBF(2.0)], penalty=[0.7, 0.5])
    dense = model.fit(X, y).certificate_.value
    model.set_params(basis=GreedyCliques(ALL, step=20)).fit(X, y)
    assert list(model.selected_) == ["kernel 0", "kernel 1", "mine"]
    assert model.certificate_.value == pytest.approx(dense, rel=1e-6)
    assert -model.sequence_log_proba(X, y).sum() < model.certificate_.value
    model.save(tmp_path / "model.kf")
    again = np.concatenate(batch_marginals(load(tmp_path / "model.kf"), X))
    np.testing.assert_allclose(again, np.concatenate(batch_marginals(model, X)), atol=1e-12)


def test_kernels_under_default_names_and_full_gaps(rng: Any) -> None:
    X, y = sequences(rng)
    parts = Parts(edges=KernelScores(MINE, view="all"), edge_kernel=KernelScores(MINE))
    model = KernelCRF(K, parts=parts, **FINE)
    dense = model.fit(X, y).certificate_.value
    model.set_params(basis=GreedyCliques(ALL, step=20)).fit(X, y)
    assert model.certificate_.value == pytest.approx(dense, rel=1e-6)
    assert list(model.parts_) == ["edges"]
    assert model.edge_dual_coef_.any()
    structure, X, y = EVERY["arc"][0](rng)
    model = KernelCRF(K, structure=structure, basis=GreedyCliques(4, step=1), **FINE).fit(X, y)
    assert model.full_gap(X, y).gap > 1e-3 > model.certificate_.gap
    assert model.set_params(basis=GreedyCliques(ALL)).fit(X, y).full_gap(X, y).relative_gap < 1e-7


@pytest.mark.parametrize("case", ["both ends", "first end", "arc", "segment", "triple", "span"])
def test_held_out_data_choose_a_step(case: str) -> None:
    model, X, y = example(case, np.random.default_rng(0))
    _, X_dev, y_dev = example(case, np.random.default_rng(5))
    model.set_params(basis=GreedyCliques(12, step=2), decoder="posterior").fit(X, y, X_dev=X_dev, y_dev=y_dev)
    best = max(model.path_, key=lambda step: step.held_out)
    assert sum(atoms.size for atoms in model.selected_.values()) == best.functions < 12
    assert model.sequence_log_proba(X_dev, y_dev).sum() == pytest.approx(best.held_out, rel=1e-8)
    assert 1 - model.score(X_dev, y_dev) == pytest.approx(best.error)


@pytest.mark.parametrize("case", ["both ends", "arc"])
def test_posteriors_draw_all_selected_functions(case: str, rng: Any) -> None:
    model, X, y = example(case, rng)
    model.set_params(basis=GreedyCliques(8, step=2), posterior=Laplace(n_samples=4)).fit(X, y)
    drawn = model.posterior_.draws["parts_.mine"]
    assert drawn.shape == (4, *model.parts_["mine"].coef.shape)
    assert drawn.std(axis=0).max() > 0
    assert np.isfinite(np.concatenate([np.ravel(one) for one in model.predict_marginals(X)])).all()


@pytest.mark.parametrize("case", ["both ends", "arc"])
def test_warm_starts_go_on(case: str, rng: Any) -> None:
    model, X, y = example(case, rng)
    whole = model.set_params(basis=GreedyCliques(8, step=2)).fit(X, y).selected_
    model.set_params(basis=GreedyCliques(4, step=2), warm_start=True).fit(X, y)
    path = model.path_
    model.set_params(basis=GreedyCliques(8, step=2)).fit(X, y)
    assert model.path_[:3] == path[:3]
    assert model.path_[-1].functions == 8
    for name, atoms in whole.items():
        np.testing.assert_array_equal(model.selected_[name].observations, atoms.observations)


def test_warm_starts_begin_anew_with_other_cliques(rng: Any) -> None:
    """Another view of the same edges, or other edges of the same vertices; steps have their seconds."""
    model, X, y = example("of graphs", rng)
    model.set_params(basis=GreedyCliques(4, step=2), warm_start=True)
    begun = []
    for parts in (model.parts, model.parts, Parts(mine=KernelScores(MINE, on="edge", view="mean")), Parts()):
        begun.append(model.set_params(parts=parts).fit(X, y).path_[0])
    for edges in ([(0, 1)], [(1, 2)], [(1, 2)]):
        begun.append(model.fit([(x, edges) for x, _ in X], y).path_[0])
    assert [one == other for one, other in pairwise(begun)] == [True, False, False, False, False, True]
    model.set_params(structure="chain")
    begun = [model.fit([[[v] for v in x]], [["a", "b", "a"]]).path_[0] for x in ([0, 1, 0], [0, 0, 1])]
    assert begun[0] != begun[1]


@pytest.mark.parametrize("case", ["both ends", "segment", "factor", "triple", "arc", "sibling", "span"])
def test_labellings_that_occur(case: str, rng: Any) -> None:
    """Those of the indicators of the training outputs."""
    model, X, y = example(case, rng)
    model.set_params(basis=GreedyCliques(2, step=2, seen_only=True), warm_start=True).fit(X, y)
    written, _ = written_out(case, model, X, y)
    task = model._growth.task
    outputs = np.concatenate([np.atleast_1d(one) for one in task.outputs])
    expected = written.batch.parts(outputs)[EVERY[case][1]]
    pool = task.pools["mine"]
    found = np.zeros((pool.size, pool.width))
    found.ravel()[seen_keys(task, "mine")] = 1
    np.testing.assert_array_equal(found[pool.seen], expected.reshape(len(pool.seen), -1))
    chosen = model.selected_["mine"]
    assert expected.reshape(len(pool.seen), -1)[chosen.observations, chosen.labels].all()


def test_labels_that_are_missing_hide_cliques(rng: Any) -> None:
    X = [rng.normal(size=(3, 2)) for _ in range(2)]
    y = [["a", "b", "b"], ["b", None, "a"]]
    for structure, on, expected in (
        ("chain", "edge", [[0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]]),
        (Segments(max_length=2, means=2), "segment", None),
    ):
        parts = Parts(mine=KernelScores(MINE, on=on, view="all"))
        settings = {"structure": structure, "parts": parts, "warm_start": True}
        model = KernelCRF(K, basis=GreedyCliques(4, seen_only=True), **settings).fit(X, y)
        task = model._growth.task
        pool = task.pools["mine"]
        found = np.zeros((pool.size, pool.width))
        found.ravel()[seen_keys(task, "mine")] = 1
        if expected is not None:
            np.testing.assert_array_equal(found[pool.seen], expected)
        else:
            members = task.structure.cliques["segment"].members
            runs = [
                (*members[c].tolist(), int(label))
                for c, label in zip(*np.nonzero(found[pool.seen]), strict=True)
            ]
            assert sorted(runs) == [(0, 0, 0), (1, 2, 1)]


def test_no_cliques_of_a_type(rng: Any) -> None:
    """Sequences of one position have no edges."""
    X, y = [rng.normal(size=(1, 2)) for _ in range(4)], [["a"], ["b"], ["b"], ["a"]]
    parts = Parts(mine=KernelScores(MINE, on="edge", view="all"))
    dense = KernelCRF(K, parts=parts, warm_start=True).fit(X, y)
    assert len(dense.fit(X, y).predict(X)) == 4
    model = KernelCRF(K, basis=GreedyCliques(6, step=1, gap=1e-9), parts=parts).fit(X, y)
    assert model.selected_["mine"].size == 0 < model.selected_["kernel"].size
    assert len(model.predict([rng.normal(size=(3, 2))])[0]) == 3


PAIRS = KernelScores(MINE, on="edge", view="all")


@pytest.mark.parametrize(
    ("case", "settings", "words"),
    [
        *(
            ("both ends", {"basis": one}, f"{type(one).__name__} is for label pairs without input")
            for one in (SGPS(4), SGSA(4), WholeSequences(4))
        ),
        ("arc", {"basis": SGPS(4)}, "SGPS as basis is about labels of vertices, which Dependency has not"),
        (
            "both ends",
            {"parts": Parts(mine=LinearScores(on="edge", view="all"))},
            "A selection as basis goes with squared penalties, and with no part such as 'mine'",
        ),
        (
            "both ends",
            {"parts": Parts(mine=KernelScores(MINE, on="edge", norm=SpaceNorm(1.0)))},
            "A selection as basis goes with squared penalties, and with no part such as 'mine'",
        ),
        (
            "both ends",
            {"parts": Parts(mine=KernelScores(MINE, on="edge", basis=Nystroem(3)))},
            "A selection needs kernels without basis= and labels=, unlike part 'mine'",
        ),
        (
            "both ends",
            {"parts": Parts(mine=KernelScores(MINE, on="edge", labels=np.eye(4)))},
            "A selection needs kernels without basis= and labels=, unlike part 'mine'",
        ),
    ],
)
def test_refusals(case: str, settings: dict[str, Any], words: str, rng: Any) -> None:
    model, X, y = example(case, rng)
    with pytest.raises(InputError, match=words):
        model.set_params(**{"basis": GreedyCliques(4), **settings}).fit(X, y)
