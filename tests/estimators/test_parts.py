"""Parts in the settings of estimators: searches over them, copies, files, other kinds under default names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import kernelfields as kf
from kernelfields import (
    CRF,
    BoostedCRF,
    FixedScores,
    FreeScores,
    GPSequenceClassifier,
    HiddenUnitCRF,
    InputError,
    KernelCRF,
    KernelLogisticRegression,
    KernelScores,
    LinearScores,
    Parts,
    Run,
    StructuredPerceptron,
    StructuredSVM,
    TreeScores,
    load,
)
from kernelfields.approximation import Nystroem
from kernelfields.kernels import RBF, Linear
from kernelfields.objective import GroupNorm, L1Norm
from kernelfields.structures import Graph

from .structures.test_kernels_on_every_clique import (
    MINE,
    K,
    Written,
    batch_marginals,
    outputs_of,
    vertices_of,
)

TIGHT = {"penalty": 0.7, "tol": 1e-10, "max_iter": 5000}
LINEAR, KERNEL = CRF(**TIGHT), KernelCRF(K, run=Run(dtype="float64"), **TIGHT)
STRUCTURES = ("chain", "chain2", "tree", "graph")


def task(rng: np.random.Generator, structure: str) -> tuple[list[Any], list[Any]]:
    """A few items of two labels."""
    X = [rng.normal(size=(n, 2)) for n in (4, 1, 3, 2, 4)]
    y = [["ab"[k] for k in rng.integers(2, size=len(x))] for x in X]
    y[0][:2] = "ab"
    if structure == "tree":
        return [(x, [-1, *(v // 2 for v in range(len(x) - 1))]) for x in X], y
    if structure == "graph":
        return [(x, [(v, (v + 1) % len(x)) for v in range(len(x) - 1 + (len(x) > 2))]) for x in X], y
    return X, y


def written_out(model: Any, X: Any, y: Any) -> tuple[Written, Any, Any]:
    """The objective of what looks at single labels: f or w, and the bias; with the batch and observations."""
    scored = model._batch(X, None, None)
    written, features = Written(scored.batch, outputs_of(model, y, scored)), scored.inputs.features
    written.add_kernel("node", K if isinstance(model, KernelCRF) else Linear(), features, 0.7)
    written.add_free("node", 0.7)
    if "triple" in scored.batch.cliques:
        written.add_free("triple", 0.7)
    return written, scored.batch, features


def require_optimum(model: Any, written: Written, X: Any, tmp_path: Path) -> None:
    """The model is the minimum of the objective, and files keep it."""
    value, w = written.minimum()
    assert model.certificate_.value == pytest.approx(value, rel=1e-7)
    found = np.concatenate(batch_marginals(model, X)).ravel()
    np.testing.assert_allclose(found, written.marginals(w), atol=2e-4)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    np.testing.assert_allclose(np.concatenate(batch_marginals(again, X)).ravel(), found, atol=1e-12)
    assert repr(again.parts) == repr(model.parts)


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("base", [LINEAR, KERNEL], ids=["linear", "kernel"])
@pytest.mark.parametrize("kind", [KernelScores, LinearScores])
def test_another_kind_under_a_default_name(
    kind: Any, base: Any, structure: str, rng: Any, tmp_path: Path
) -> None:
    """It is on the clique type of the name, in the place of what was there."""
    X, y = task(rng, structure)
    edges = KernelScores(MINE, view="all", penalty=0.4) if kind is KernelScores else kind(view="all")
    model = clone(base).set_params(structure=structure, parts=Parts(boundaries=None, edges=edges)).fit(X, y)
    written, batch, features = written_out(model, X, y)
    kernel, penalty = (MINE, 0.4) if kind is KernelScores else (Linear(), 0.7)
    written.add_kernel("edge", kernel, vertices_of(batch, features, "edge"), penalty)
    require_optimum(model, written, X, tmp_path)
    assert list(model.parts_) == ["edges"]
    assert not model.transitions_.any()


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("base", [LINEAR, KERNEL], ids=["linear", "kernel"])
def test_kernels_beside_weights(base: Any, structure: str, rng: Any, tmp_path: Path) -> None:
    """Functions of kernels and linear ones, of vertices and of edges, learnt together."""
    X, y = task(rng, structure)
    parts = Parts(
        boundaries=None,
        curved=KernelScores(MINE, penalty=0.3),
        straight=LinearScores(penalty=0.5),
        straight_pairs=LinearScores(on="edge", view="difference", penalty=0.9),
        curved_pairs=KernelScores(MINE, on="edge", view="mean"),
    )
    model = clone(base).set_params(structure=structure, parts=parts).fit(X, y)
    written, batch, features = written_out(model, X, y)
    left, right = np.hsplit(vertices_of(batch, features, "edge"), 2)
    written.add_kernel("node", MINE, features, 0.3)
    written.add_kernel("node", Linear(), features, 0.5)
    written.add_kernel("edge", Linear(), right - left, 0.9)
    written.add_kernel("edge", MINE, (left + right) / 2, 0.7)
    written.add_free("edge", 0.7)
    require_optimum(model, written, X, tmp_path)


@pytest.mark.parametrize("base", [LINEAR, KERNEL], ids=["linear", "kernel"])
def test_kernels_of_three_vertices(base: Any, rng: Any, tmp_path: Path) -> None:
    """Triples of chains, and factors of graphs."""
    X, y = task(rng, "chain")
    for part, kernel, penalty in (
        (KernelScores(MINE, view="all", penalty=0.4), MINE, 0.4),
        (LinearScores(view="all"), Linear(), 0.7),
    ):
        for name in ("second_order", "triples"):
            part = part if name == "second_order" else replace(part, on="triple")
            named = Parts({name: part, "boundaries": None})
            model = clone(base).set_params(structure="chain2", parts=named).fit(X, y)
            written, batch, features = written_out(model, X, y)
            written.add_free("edge", 0.7)
            written.add_kernel("triple", kernel, vertices_of(batch, features, "triple"), penalty)
            if name == "second_order":  # in the place of what looks at labels alone
                del written.terms[2]
            require_optimum(model, written, X, tmp_path)
    items = [
        {"features": x, "edges": [], "factors": {"three": [(v, v + 1, v + 2) for v in range(len(x) - 2)]}}
        for x in X
    ]
    named = Parts({"factor three": KernelScores(MINE, view="all", penalty=0.4)})
    model = clone(base).set_params(structure=Graph(factors={"three": 3}), parts=named).fit(items, y)
    written, batch, features = written_out(model, items, y)
    written.add_kernel("three", MINE, vertices_of(batch, features, "three"), 0.4)
    require_optimum(model, written, items, tmp_path)


@pytest.mark.parametrize(
    "base", [LINEAR, KERNEL, StructuredSVM(penalty=0.7, tol=1e-5)], ids=["linear", "kernel", "svm"]
)
@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("bias", FreeScores()),
        ("boundaries", FreeScores(where="ends")),
        ("edges", FreeScores(on="edge")),
    ],
)
def test_two_parts_with_one_function_share_its_penalty(base: Any, name: str, part: Any, rng: Any) -> None:
    X, y = task(rng, "chain")
    two = clone(base).set_params(parts=Parts(another=part)).fit(X, y)
    one = clone(base).set_params(parts=Parts({name: FreeScores(penalty=0.35)})).fit(X, y)
    assert two.certificate_.value == pytest.approx(one.certificate_.value, rel=2e-5)
    for a, b in zip(two.predict_marginals(X), one.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-2 if isinstance(base, StructuredSVM) else 1e-4)


def test_linear_kernels_are_weights(rng: Any) -> None:
    """Of machines, too."""
    X, y = task(rng, "chain")
    base = StructuredSVM(penalty=0.7, tol=1e-6)
    kernel = (
        clone(base).set_params(parts=Parts(pairs=KernelScores("linear", on="edge", view="all"))).fit(X, y)
    )
    linear = clone(base).set_params(parts=Parts(pairs=LinearScores(on="edge", view="all"))).fit(X, y)
    assert kernel.certificate_.value == pytest.approx(linear.certificate_.value, rel=2e-6)


@pytest.mark.parametrize("base", [LINEAR, KERNEL, StructuredSVM(), StructuredPerceptron(random_state=0)])
def test_models_without_further_parts_say_so(base: Any, rng: Any, tmp_path: Path) -> None:
    model = clone(base).fit(*task(rng, "chain"))
    model.save(tmp_path / "model.kf")
    assert model.parts_ == load(tmp_path / "model.kf").parts_ == {}


def test_names_do_not_make_attributes_of_other_functions(rng: Any, tmp_path: Path) -> None:
    """``transitions_`` are scores of label pairs, ``start_`` those of the part "boundaries"."""
    X, y = task(rng, "chain")
    parts = Parts(edges=FreeScores(on="node"), bias=FreeScores(on="edge"), more=FreeScores(where="ends"))
    model = clone(LINEAR).set_params(parts=parts).fit(X, y)
    assert set(model.parts_) == {"edges", "bias", "more"}
    assert not model.transitions_.any()
    plain = clone(LINEAR).set_params(parts=Parts(boundaries=FreeScores(penalty=0.35))).fit(X, y)
    model.save(tmp_path / "model.kf")
    for one in (model, load(tmp_path / "model.kf")):
        for a, b in zip(one.predict_marginals(X), plain.predict_marginals(X), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-4)


def sticky(rng: np.random.Generator, count: int = 24) -> tuple[list[Any], list[Any]]:
    """Labels that mostly stay, and observations that say little."""
    y = [np.cumsum(rng.random(12) < 0.15) % 2 for _ in range(count)]
    return [z[:, None] + 1.5 * rng.normal(size=(12, 1)) for z in y], [["ab"[k] for k in z] for z in y]


@pytest.mark.parametrize(
    "base", [CRF(), KernelCRF("linear"), StructuredSVM()], ids=lambda m: type(m).__name__
)
def test_searches_find_the_better_penalty(base: Any, rng: Any) -> None:
    X, y = sticky(rng)
    grid = {"parts__edges__penalty": [0.1, 1e5]}
    search = GridSearchCV(base, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"parts__edges__penalty": 0.1}
    assert search.best_estimator_.parts["edges"].penalty == 0.1
    heavy = clone(base).set_params(parts__edges__penalty=1e5).fit(X, y)
    assert search.predict(X) != heavy.predict(X)
    assert base.parts == Parts()
    kinds = GridSearchCV(base, {"parts__edges": [None, FreeScores()]}, cv=3).fit(X, y)
    assert kinds.best_params_ == {"parts__edges": FreeScores()}


FULL = Parts(
    {"factor far": FreeScores(penalty=1.3)},
    boundaries=None,
    edges=FreeScores(penalty=0.1, norm=L1Norm(0.2)),
    both=KernelScores(RBF(2.0), on="edge", view="all", basis=Nystroem(50)),
    known=FixedScores({"a": 1.0}),
)


def test_settings_by_name() -> None:
    found = FULL.get_params()
    assert found["boundaries"] is None
    assert found["edges__norm__weight"] == 0.2
    assert found["both__kernel__gamma"] == 2.0
    assert found["both__basis__rank"] == 50
    assert found["known__measure"] == {"a": 1.0}
    assert found["factor far__penalty"] == 1.3
    assert FULL.get_params(deep=False) == dict(FULL)
    assert CRF(parts=FULL).get_params()["parts__edges__penalty"] == 0.1


def test_shared_parts_are_replaced_not_changed() -> None:
    before = repr(FULL)
    one, other = CRF(parts=FULL), CRF(parts=FULL)
    one.set_params(parts__edges__penalty=5.0, parts__both__basis__rank=7, parts__known__measure={"b": 2.0})
    assert one.parts["edges"] == FreeScores(penalty=5.0, norm=L1Norm(0.2))
    assert one.parts["both"].basis.rank == 7
    assert one.parts["known"].measure == {"b": 2.0}
    assert other.parts is FULL
    assert repr(FULL) == before
    one.set_params(parts__edges=None, parts__boundaries__penalty=3.0, parts__more=LinearScores(on="edge"))
    assert one.parts["edges"] is None
    assert one.parts["boundaries"] == FreeScores(penalty=3.0, where="ends")
    assert one.parts["more"] == LinearScores(on="edge")
    default = CRF()
    CRF().set_params(parts__bias=None)
    assert default.parts == Parts() == CRF().parts


@pytest.mark.parametrize("kind", [CRF, KernelCRF, StructuredSVM])
def test_clones_and_what_is_written(kind: Any) -> None:
    model = clone(kind(parts=FULL))
    assert repr(model) == repr(kind(parts=FULL))
    assert repr(kind()) == f"{kind.__name__}()"
    model.set_params(parts__both__kernel__gamma=9.0)
    assert FULL["both"].kernel.gamma == 2.0


KEPT = [
    CRF(parts=Parts(bias=None, edges=FreeScores(penalty=0.1, norm=L1Norm(2)), known=FixedScores({"a": 1.0}))),
    CRF(parts=Parts(features=LinearScores(norm=GroupNorm(0.1)), both=LinearScores(on="edge", view="all"))),
    CRF(parts=Parts(both=KernelScores(RBF(2.0), on="edge", view="mean", basis=Nystroem(4))), random_state=0),
    StructuredSVM(parts=Parts(both=KernelScores("rbf", on="edge", basis=Nystroem(4))), random_state=0),
    KernelCRF(parts=Parts(kernel=KernelScores(labels=np.eye(2) + 0.5), edge_kernel=KernelScores("linear"))),
    StructuredSVM("rbf", parts=Parts(more=KernelScores("linear", labels=np.eye(2) + 0.1))),
    BoostedCRF(2, min_samples_leaf=2, parts=Parts(trees=TreeScores(), edges=None), random_state=0),
    HiddenUnitCRF(n_units=2, parts=Parts(more=FreeScores(on="edge", penalty=0.3)), random_state=0),
    StructuredPerceptron(parts=Parts(boundaries=None, more=FreeScores(where="ends")), random_state=0),
]  # fmt: skip


@pytest.mark.parametrize("model", KEPT, ids=lambda m: f"{type(m).__name__}-{'-'.join(m.parts)}")
def test_files_keep_parts(model: Any, rng: Any, tmp_path: Path) -> None:
    X, y = task(rng, "chain")
    model = clone(model).fit(X, y)
    model.save(tmp_path / "model.kf")
    again = load(tmp_path / "model.kf")
    assert type(again.parts) is Parts
    assert repr(again.parts) == repr(model.parts)
    for a, b in zip(again.predict_marginals(X), model.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    for a, b in zip(clone(again).fit(X, y).predict_marginals(X), model.predict_marginals(X), strict=True):
        np.testing.assert_array_equal(a, b)


TWICE = Parts(one=FixedScores({"a": 1.0}), two=FixedScores({"b": 1.0}))
REFUSED = [
    (CRF(parts=Parts(triples=None)), "parts takes 'triples' away, which the model does not have"),
    (KernelCRF(parts=Parts(triples=None)), "parts takes 'triples' away, which the model does not have"),
    (StructuredSVM(parts=Parts(triples=None)), "parts takes 'triples' away, which the model does not have"),
    (CRF(parts=Parts(arcs=FreeScores(on="arc"))), "The part 'arcs' is on 'arc', which ChainBatch lacks"),
    (HiddenUnitCRF(parts=Parts(arcs=FreeScores(on="arc"))), "The part 'arcs' is on 'arc', which ChainBatch"),
    (KernelCRF(parts=Parts(arcs=KernelScores("rbf", on="arc"))), "ChainBatch has no clique type 'arc'"),
    (CRF(parts=Parts(second_order=FreeScores())), "The part 'second_order' is on 'triple', which ChainBatch"),
    (
        CRF(parts=Parts(ends=FreeScores(where="ends", on="edge"))),
        "is of single labels; on='edge' does not go",
    ),
    (CRF(parts={"edges": None}), "parts is {'edges': None}; it must be Parts"),
    (CRF(parts=Parts(trees=TreeScores())), "The part 'trees' is TreeScores, which CRF cannot have"),
    (BoostedCRF(parts=Parts(more=KernelScores("rbf"))), "is KernelScores, which BoostedCRF cannot have"),
    (
        BoostedCRF(parts=Parts(edges=FreeScores(norm=L1Norm(1.0)))),
        "has a norm, which BoostedCRF does not know",
    ),
    (HiddenUnitCRF(parts=Parts(more=LinearScores())), "is LinearScores, which HiddenUnitCRF cannot have"),
    (
        HiddenUnitCRF(parts=Parts(bias=FreeScores(norm=L1Norm(1.0)))),
        "a norm, which HiddenUnitCRF does not know",
    ),
    (StructuredPerceptron(parts=Parts(more=KernelScores("rbf"))), "which StructuredPerceptron cannot have"),
    (CRF(parts=Parts(more=KernelScores())), "KernelScores needs a kernel, such as 'rbf'"),
    (KernelCRF(["rbf", "linear"], parts=Parts(more=KernelScores())), "that of the model, which has several"),
    *(
        (kind(parts=TWICE), "parts has 'one' and 'two', both FixedScores; add up their scores")
        for kind in (CRF, KernelCRF, StructuredSVM, GPSequenceClassifier)
    ),
]


@pytest.mark.parametrize(("model", "words"), REFUSED, ids=[row[1] for row in REFUSED])
def test_refusals_are_one_sentence(model: Any, words: str, rng: Any) -> None:
    before = dict(vars(model))
    with pytest.raises(InputError) as refusal:
        model.fit(*task(rng, "chain"))
    assert words in str(refusal.value)
    assert str(refusal.value).endswith(".")
    assert ". " not in str(refusal.value)
    assert vars(model) == before


@pytest.mark.parametrize("kind", [CRF, KernelCRF, StructuredSVM, BoostedCRF, StructuredPerceptron])
def test_graphs_have_no_ends(kind: Any, rng: Any) -> None:
    with pytest.raises(InputError, match=r"^FreeScores\(where='ends'\) cannot be had: \w+ has no ends\.$"):
        kind(structure="graph", parts=Parts(boundaries=FreeScores())).fit(*task(rng, "graph"))


def test_streams_have_no_kernels() -> None:
    sentences = [([["a"], ["b"]], ["x", "y"])]
    with pytest.raises(InputError, match=r"^fit_stream does not go with the part 'more', KernelScores"):
        CRF(features="pos", parts=Parts(more=KernelScores("linear"))).fit_stream(sentences)


def test_what_is_written_makes_the_same() -> None:
    parts = Parts({"factor far": None}, edges=FreeScores(penalty=0.1), more=KernelScores("rbf", on="edge"))
    assert repr(parts).startswith("Parts({'factor far': None}, edges=FreeScores(penalty=0.1), more=")
    assert eval(repr(parts), vars(kf)) == parts


def test_parts_of_a_classifier_of_rows_can_be_searched() -> None:
    rows, labels = [[0.0], [1.0], [0.2], [0.9]] * 6, ["a", "b", "a", "b"] * 6
    model = KernelLogisticRegression().set_params(parts__bias=None).fit(rows, labels)
    assert model.parts == Parts(bias=None)
    search = GridSearchCV(KernelLogisticRegression("linear"), {"parts__bias": [None, FreeScores()]}, cv=3)
    assert search.fit(rows, labels).best_params_ == {"parts__bias": FreeScores()}


def test_rows_have_one_measure() -> None:
    with pytest.raises(InputError, match=r"^parts has 'one' and 'two', both FixedScores; [^.]*\.$"):
        KernelLogisticRegression(parts=TWICE).fit([[0.0], [1.0]], ["a", "b"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"parts__arcs__penalty": 1.0}, "Parts has no 'arcs' to change; known by name are 'bias', 'bound"),
        ({"parts__edges__penalti": 1.0}, "FreeScores has no parameter 'penalti'; it has"),
        ({"parts__edges__penalty": -1.0}, "penalty is -1.0; it must be a finite number, not negative."),
        ({"parts__edges": 3}, "The part 'edges' is 3; it must be FreeScores"),
    ],
)
def test_settings_that_parts_do_not_have(settings: dict[str, Any], words: str) -> None:
    model = CRF()
    with pytest.raises(InputError) as refusal:
        model.set_params(**settings)
    assert words in str(refusal.value)
    assert model.parts == Parts()
