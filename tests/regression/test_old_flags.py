"""Flags and penalties of files before format 6 become parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import (
    CRF,
    BoostedCRF,
    FixedScores,
    FreeScores,
    KernelCRF,
    KernelScores,
    LinearScores,
    Parts,
    StructuredSVM,
    TreeScores,
    load,
)
from kernelfields.io.container import Container, write_container
from kernelfields.kernels import RBF
from kernelfields.objective import GroupNorm, L1Norm
from kernelfields.persistence.upgrades import UPGRADES
from kernelfields.structures import (
    Alignment,
    Bethe,
    CandidateSegments,
    Chain,
    Constituency,
    Dependency,
    Graph,
    Matching,
    Segments,
)

X = [[[1.0, 0.0], [9.0, 1.0], [4.0, 0.0], [4.0, 2.0]], [[2.0, 1.0], [1.0, 1.0]]]
Y = [["a", "b", "a", "a"], ["b", "a"]]


def saved(value: Any) -> Any:
    """Return how files write a setting."""
    name = type(value).__name__
    if isinstance(value, RBF | L1Norm | GroupNorm):
        return {"$object": name, "parts": {key: item for key, item in vars(value).items() if key[0] != "_"}}
    if isinstance(value, dict) and "$object" not in value:
        return {"$dict": [[key, saved(item)] for key, item in value.items()]}
    return value


def clique_kernel(**settings: Any) -> Any:
    return {"$object": "CliqueKernel", "parts": settings}


CASES: list[tuple[Any, dict[str, Any], Parts]] = [
    (CRF(), {"fit_intercept": False, "boundaries": False}, Parts(bias=None, boundaries=None)),
    (CRF(), {"fit_intercept": True, "edge_penalty": None, "norms": None, "base_measure": None}, Parts()),
    (CRF(), {"edge_penalty": 0.5}, Parts(edges=FreeScores(penalty=0.5))),
    (
        CRF(structure="chain2"),
        {"edge_penalty": 0.5},
        Parts(edges=FreeScores(penalty=0.5), second_order=FreeScores(penalty=0.5)),
    ),
    (
        CRF(structure=Chain(order=2)),
        {"edge_penalty": 0.5, "second_order_penalty": 0.25},
        Parts(edges=FreeScores(penalty=0.5), second_order=FreeScores(penalty=0.25)),
    ),
    (
        CRF(structure=Segments(3)),
        {"edge_penalty": 0.5, "edge_features": True},
        Parts(
            edge_features=LinearScores(penalty=0.5),
            edges=FreeScores(penalty=0.5),
            durations=FreeScores(penalty=0.5),
        ),
    ),
    (
        CRF(),
        {"norms": {"edges": L1Norm(0.5), "features": GroupNorm(0.25)}},
        Parts(edges=FreeScores(norm=L1Norm(0.5)), features=LinearScores(norm=GroupNorm(0.25))),
    ),
    (
        KernelCRF(RBF(1.0)),
        {"edges": False, "edge_kernel": True, "edge_penalty": 0.5},
        Parts(edges=None, durations=None, rules=None, edge_kernel=KernelScores(penalty=0.5)),
    ),
    (
        KernelCRF(RBF(1.0)),
        {"edge_kernel": RBF(2.0), "edge_penalty": 0.5, "edge_kernel_penalty": 0.125},
        Parts(edge_kernel=KernelScores(RBF(2.0), penalty=0.125), edges=FreeScores(penalty=0.5)),
    ),
    (
        KernelCRF(RBF(1.0)),
        {"clique_kernels": clique_kernel(kernel="linear", penalty=0.5), "base_measure": {"a": 1.0}},
        Parts(
            {"clique_kernel 0": KernelScores("linear", on="edge", view="all", penalty=0.5)},
            known=FixedScores({"a": 1.0}),
        ),
    ),
    (
        BoostedCRF(2, min_samples_leaf=1),
        {"edge_penalty": 0.5, "edge_trees": True, "boundaries": False},
        Parts(
            boundaries=None,
            edge_trees=TreeScores(),
            bias=FreeScores(penalty=0.5),
            edges=FreeScores(penalty=0.5),
        ),
    ),
    (BoostedCRF(2, min_samples_leaf=1), {"edge_penalty": 1.0}, Parts()),
    (StructuredSVM(), {"edge_penalty": 0.5}, Parts(edges=FreeScores(penalty=0.5))),
]

TWO = [np.eye(2).reshape(4, 1), np.ones((4, 1))]
OTHERS: list[tuple[Any, list[Any], list[Any], Any]] = [
    (Alignment(), [x.reshape(2, 2, 1) for x in TWO], [[(0, 0)], [(1, 0), (0, 1)]], "factor jump"),
    (Matching(inference=Bethe()), [x.reshape(2, 2, 1) for x in TWO], [[(0, 0)], [(1, 0), (0, 1)]], None),
    (Dependency(), [TWO[0][:2], TWO[1][:2]], [[0], [0]], None),
    (Constituency(("A", "B")), [TWO[0][:3], TWO[1][:3]], [("A", 0, 1), ("B", 0, 1)], None),
    (
        CandidateSegments(2),
        [(np.array(x), [(0, 1), (2, 3)]) for x in (X[0], X[0])],
        [Y[0], Y[0]],
        "durations",
    ),
]
"""Structures, with data and the name of the part besides "edges" that the penalty of edges was for."""


def rewritten(model: Any, flags: dict[str, Any], folder: Path) -> Any:
    """Save a model as one of format 5 with flags; load it."""
    model.save(folder / "a.kf")
    found = Container(folder / "a.kf")
    header = found.header
    settings = header["model"]["parameters"]
    settings.pop("parts", None)
    settings |= {name: saved(value) for name, value in flags.items()}
    arrays = {key: found.array(key) for key in found.tensors}
    write_container(folder / "old.kf", arrays, header | {"format": 5})
    return load(folder / "old.kf")


@pytest.mark.parametrize(("model", "flags", "parts"), CASES, ids=lambda value: repr(value)[:60])
def test_flags_become_parts(model: Any, flags: dict[str, Any], parts: Parts, tmp_path: Path) -> None:
    model = model.set_params(parts=parts).fit(X, Y)
    again = rewritten(model, flags, tmp_path)
    assert sorted(map(repr, again.parts.items())) == sorted(map(repr, parts.items()))
    assert again.predict_marginals(X)[0].tolist() == model.predict_marginals(X)[0].tolist()
    again.fit(X, Y)
    np.testing.assert_array_equal(again.predict_marginals(X)[0], model.predict_marginals(X)[0])


@pytest.mark.parametrize(("structure", "items", "y", "name"), OTHERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("flag", [{"edge_penalty": 0.5}, {"edges": False}], ids=str)
def test_structures_without_edges_are_fitted_again(
    structure: Any, items: list[Any], y: list[Any], name: str | None, flag: dict[str, Any], tmp_path: Path
) -> None:
    kind: Any = CRF if isinstance(structure, CandidateSegments) else KernelCRF
    if kind is CRF:
        flag = {"edge_penalty": 0.5}  # it had no other
    part = FreeScores(penalty=0.5) if "edge_penalty" in flag else None
    names = ["edges"] * isinstance(structure, CandidateSegments) + ([] if name is None else [name])
    parts = Parts(dict.fromkeys(names, part))
    model = kind(structure=structure, parts=parts).fit(items, y)
    again = rewritten(model, flag, tmp_path).fit(items, y)
    for one, other in zip(again.predict_marginals(items), model.predict_marginals(items), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_the_penalty_of_edges_was_that_of_factors_and_edge_types(tmp_path: Path) -> None:
    structure = Graph(edge_types=["near", "far"], factors={"three": 3})
    item = {"features": X[0], "edges": {"near": [(0, 1), (1, 2)]}, "factors": {"three": [(0, 1, 3)]}}
    names = ["edges", "factor near", "factor far", "factor three"]
    parts = Parts({name: FreeScores(penalty=0.5) for name in names})
    model = CRF(structure=structure, parts=parts).fit([item], Y[:1])
    again = rewritten(model, {"edge_penalty": 0.5}, tmp_path)
    assert dict(again.parts) == dict(parts)
    assert again.fit([item], Y[:1]).predict([item]) == model.predict([item])


def test_candidates_had_the_penalties_of_their_estimator() -> None:
    flags = {"edge_penalty": 0.5, "second_order_penalty": 0.25, "edge_kernel_penalty": None, "edges": False}
    names = ["Edges", "SecondOrder", "InputEdges", "Boundaries"]
    every = [{"$object": name, "parts": {"name": name}} for name in names]
    together = {"$object": "Together", "parts": {"parts": {"$tuple": every[:1]}}}
    model = {
        "recipe": "structure-learner",
        "parameters": {
            "estimator": {"$model": {"recipe": "kernel-crf", "parameters": flags}},
            "candidates": [*every, together],
        },
    }
    found = UPGRADES[5]({"format": 5, "model": model})["model"]["parameters"]["candidates"]
    assert [one["parts"].get("penalty") for one in found[:4]] == [0.5, 0.25, 0.5, None]
    assert found[4]["parts"]["parts"]["$tuple"][0]["parts"]["penalty"] == 0.5


def test_labels_that_share_what_they_learn(tmp_path: Path) -> None:
    labels = np.array([[1.0, 0.5], [0.5, 1.0]])
    model = KernelCRF(RBF(1.0), parts=Parts(kernel=KernelScores(labels=labels))).fit(X, Y)
    again = rewritten(model, {"label_kernel": labels.tolist()}, tmp_path)
    np.testing.assert_array_equal(again.parts["kernel"].labels, labels)
    np.testing.assert_allclose(again.fit(X, Y).dual_coef_, model.dual_coef_, atol=1e-12)
