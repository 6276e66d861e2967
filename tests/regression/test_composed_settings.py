"""Files up to format 5, whose settings were several where there is one now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import FieldClustering, KernelCRF, KernelLogisticRegression, Run, load
from kernelfields.approximation import Nystroem
from kernelfields.io.container import Container, write_container
from kernelfields.kernels import Weighted
from kernelfields.persistence.upgrades import UPGRADES
from kernelfields.selection import GreedyCliques
from tests.regression.write import rows

SGPS = {"$object": "SGPS", "parts": {"size": 4}}


def weighted(kernels: Any) -> dict[str, Any]:
    return {"$object": "Weighted", "parts": {"kernels": kernels, "by": "alignment"}}


FURTHER = {"penalty": 2.0}


@pytest.mark.parametrize(
    ("recipe", "old", "new"),
    [
        ("kernel-crf", {"approximation": None, "selection": None}, {"basis": None}),
        ("kernel-crf", {"approximation": "fourier", "selection": None}, {"basis": "fourier"}),
        ("kernel-logistic-regression", {"approximation": None, "selection": SGPS}, {"basis": SGPS}),
        ("field-clustering", {"approximation": "nystroem"}, {"basis": "nystroem"}),
        ("sequence-clustering", {"approximation": None}, {"basis": None}),
        ("kernel-crf", {"kernel": "rbf", "kernel_weights": None}, {"kernel": "rbf"}),
        ("kernel-crf", {"kernel": ["rbf"], "kernel_weights": "alignment"}, {"kernel": weighted(["rbf"])}),
        (
            "kernel-logistic-regression",
            {"kernel": {"$tuple": ["rbf"]}, "kernel_weights": "alignment"},
            {"kernel": weighted({"$tuple": ["rbf"]})},
        ),
        ("gp-sequence-classifier", {"sparse": SGPS}, {"sparse": SGPS}),
        ("crf", {}, {}),
    ],
)
def test_settings_become_one(recipe: str, old: dict[str, Any], new: dict[str, Any]) -> None:
    inner = {"recipe": recipe, "parameters": old | FURTHER}
    header = {"format": 5, "model": {"recipe": "cascade", "parameters": {"first": {"$model": inner}}}}
    made = UPGRADES[5](header)["model"]["parameters"]["first"]["$model"]
    assert made == {"recipe": recipe, "parameters": new | FURTHER}


OLDER: list[tuple[Any, dict[str, Any]]] = [
    (KernelCRF("rbf", basis=Nystroem(5), random_state=0), {"selection": None, "approximation": "basis"}),
    (KernelCRF("rbf", basis=GreedyCliques(4)), {"approximation": None, "selection": "basis"}),
    (KernelLogisticRegression("rbf", basis="cholesky"), {"approximation": "basis", "selection": None}),
    (KernelCRF(Weighted(["rbf", "linear"], by="certificate"), run=Run(dtype="float64")), {}),
    (FieldClustering(2, basis="cholesky", n_init=1, random_state=0), {"approximation": "basis"}),
]


@pytest.mark.parametrize(("model", "before"), OLDER, ids=lambda one: repr(one)[:60])
def test_older_files_predict_the_same_and_are_fitted_the_same(
    model: Any, before: dict[str, Any], tmp_path: Path
) -> None:
    """``before`` has the settings of format 5, by the one of now that holds their value."""
    X, y = rows()
    given = (X,) if isinstance(model, FieldClustering) else (X, y)
    model.fit(*given).save(tmp_path / "new.kf")
    found = Container(tmp_path / "new.kf")
    settings = found.header["model"]["parameters"]
    kept = {name: settings.pop(name) for name in {name for name in before.values() if name}}
    settings.update({name: kept.get(source) for name, source in before.items()})
    if isinstance(getattr(model, "kernel", None), Weighted):
        parts = settings["kernel"]["parts"]
        settings.update({"kernel": parts["kernels"], "kernel_weights": parts["by"]})
    arrays = {key: found.array(key) for key in found.tensors}
    write_container(tmp_path / "old.kf", arrays, found.header | {"format": 5})
    old = load(tmp_path / "old.kf")
    assert repr(old) == repr(model)
    for again in (old, load(tmp_path / "old.kf").fit(*given)):
        ask = "predict_proba" if hasattr(model, "predict_proba") else "predict_marginals"
        for one, other in zip(getattr(again, ask)(X), getattr(model, ask)(X), strict=True):
            np.testing.assert_array_equal(one, other)
