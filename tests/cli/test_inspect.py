"""``kf inspect`` against what the models say themselves."""

from __future__ import annotations

import json
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import CRF, HiddenStates, HiddenUnitCRF, KernelCRF, StructureLearner, load
from kernelfields.approximation import KMeans, Nystroem
from kernelfields.cli._loaded import read_model
from kernelfields.cli.app import app
from kernelfields.errors import ModelFormatError
from kernelfields.io.container import Container, write_container
from kernelfields.models.graph_cliques import LabelPairs
from kernelfields.report import describe
from kernelfields.structures import MultiLabel
from kernelfields.testing.estimators import labelled_sequences
from kernelfields.transduction import LabelGraphClassifier

STORED = sorted((Path(__file__).parents[1] / "regression").rglob("*.kf"))


def asked(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["inspect", *arguments])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_estimator(path: Path) -> None:
    found = json.loads(asked(str(path), "--json"))
    model = load(path)
    assert found["estimator"] == type(model).__name__
    assert len(found["labels"]) == len(model.classes_)
    assert found["bytes"] == path.stat().st_size
    assert type(model).__name__ in asked(str(path))
    for one in found["parts"] or [found]:
        assert len(one["provenance"]["data_hash"]) == 16
        # graphs have learnt no functions; those of hidden states and units are not of labels
        if not isinstance(model, LabelGraphClassifier | HiddenStates | HiddenUnitCRF):
            assert len(one["features"] or one["basis"]) == len(model.classes_)
    if not found["parts"]:
        assert found["provenance"]["data_hash"] == model.provenance_.data_hash


def test_what_states_emit_and_trees_split_by() -> None:
    found = json.loads(asked(str(STORED[0].with_name("hmm-words.kf")), "--json"))
    assert (found["strength"], found["steps"]) == ("probability", "probabilities")
    model = load(STORED[0].with_name("hmm-words.kf"))
    best = [group[0]["weight"] for group in found["features"]]
    np.testing.assert_allclose(best, model.emissions_.probabilities.max(axis=1))
    names = [one["name"] for group in found["features"] for one in group]
    assert "<any>" in names
    trees = json.loads(asked(str(STORED[0].with_name("boosted-crf.kf")), "--json"))
    assert trees["strength"] == "share of splits"
    assert [[one["name"], one["weight"]] for one in trees["features"][0]] == [["feature 0", 1.0]]


def test_models_within_a_model() -> None:
    found = json.loads(asked(str(STORED[0].with_name("cascade.kf")), "--json"))
    assert [part["estimator"] for part in found["parts"]] == ["CRF", "KernelCRF"]
    assert "KernelCRF" in asked(str(STORED[0].with_name("cascade.kf")))


def test_features_of_a_crf(rng: np.random.Generator, tmp_path: Path) -> None:
    X, y = labelled_sequences(rng)
    model = CRF().fit(X, y)
    model.coef_ = np.array([[1.0, -3.0, 2.0], [0.0, 0.0, 0.5], [0.25, 0.5, 0.125]])
    model.save(tmp_path / "model.kf")
    found = json.loads(asked(str(tmp_path / "model.kf"), "--json", "-n", "2"))
    assert [[(one["name"], one["weight"]) for one in group] for group in found["features"]] == [
        [("feature 1", -3.0), ("feature 2", 2.0)],
        [("feature 2", 0.5)],
        [("feature 1", 0.5), ("feature 0", 0.25)],
    ]
    assert found["transitions"] == model.transitions_.tolist()
    assert found["n_weights"] == 7
    assert found["certificate"]["lower_bound"] == model.certificate_.lower_bound


def test_basis_functions_lead_to_the_training_set(rng: np.random.Generator, tmp_path: Path) -> None:
    X, y = labelled_sequences(rng)
    model = KernelCRF().fit(X, y)
    model.save(tmp_path / "model.kf")
    found = json.loads(asked(str(tmp_path / "model.kf"), "--json", "-n", "3"))
    for k, group in enumerate(found["basis"]):
        expected = np.sort(np.abs(model.dual_coef_[:, k]))[::-1][:3]
        np.testing.assert_allclose([abs(one["coefficient"]) for one in group], expected)
        for one in group:
            x = X[one["sequence"]][one["position"]].astype(np.float32)
            assert one["observation"] == "(" + ", ".join(f"{value:.3g}" for value in x) + ")"
    KernelCRF(basis=Nystroem(4, KMeans()), random_state=0).fit(X, y).save(tmp_path / "made.kf")
    assert "no observation" in asked(str(tmp_path / "made.kf"))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "junk.kf").write_bytes(b"junk, and more of it")
    for name, reason in (("junk.kf", "not a model, or cut off"), ("none.kf", "No such file")):
        result = CliRunner().invoke(app, ["inspect", str(tmp_path / name)])
        assert result.exit_code == 2
        assert reason in result.stderr
        assert "Traceback" not in result.output


def test_names_that_look_like_markup(tmp_path: Path) -> None:
    X = [[["[red]", "[/x]"], ["b"]], [["b"], ["[red]"]]]
    CRF().fit(X, [["[bold]", "[/bold]"], ["[/bold]", "[bold]"]]).save(tmp_path / "model.kf")
    assert "[bold]" in asked(str(tmp_path / "model.kf"))
    assert "[/x]" in asked(str(tmp_path / "model.kf"))


def leaves(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The ways to everything in a header."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(found for key, one in inside for found in leaves(one, (*way, key)))]


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:
    """Another header, with one thing changed."""
    if not way:
        return new
    changed = value.copy()
    changed[way[0]] = replaced(value[way[0]], way[1:], new)
    return changed


@pytest.mark.parametrize("name", ["kernel-crf", "hmm-words"])
def test_odd_files_with_the_right_checksum_are_refused(name: str, tmp_path: Path) -> None:
    """Entries of the header exchanged for something else: no answer but a description or our own error."""
    container = Container(STORED[0].with_name(f"{name}.kf"))
    arrays = {key: container.array(key) for key in container.tensors}
    refused = 0
    odd = cycle([None, -1, 1e300, "[/x]", [[None]], {}])
    for way, new in zip(leaves(container.header["model"]), odd, strict=False):
        write_container(tmp_path / "odd.kf", arrays, replaced(container.header, ("model", *way), new))
        try:
            assert read_model(tmp_path / "odd.kf", describe).labels
        except ModelFormatError:
            refused += 1
    assert refused > 10


def test_whatever_goes_wrong_with_a_file_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(model: Any, count: int) -> None:
        raise TypeError("unsupported operand")

    monkeypatch.setattr("kernelfields.cli.inspect.describe", fail)
    path = STORED[0].with_name("crf.kf")
    result = CliRunner().invoke(app, ["inspect", str(path)])
    assert result.exit_code == 2
    assert result.stderr == f"{path} holds no model that can be used: unsupported operand.\n"


def test_what_a_structure_learner_tried(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X @ rng.normal(size=(2, 3)) > 0).astype(int)
    y[:, 2] = y[:, 0]
    base = CRF(structure=MultiLabel([]), tol=1e-5)
    learner = StructureLearner(base, candidates=[LabelPairs()], worth=0.05).fit(X, y)
    learner.save(tmp_path / "learner.kf")
    found = json.loads(asked(str(tmp_path / "learner.kf"), "--json"))["trials"]
    assert [(t["name"], t["gain"], t["kept"]) for t in found] == [
        (t.name, t.gain, t.kept) for t in learner.trials_
    ]
    shown = asked(str(tmp_path / "learner.kf"))
    kept = next(trial for trial in learner.trials_ if trial.kept)
    assert any({kept.name, "kept", f"{kept.gain:.4g}"} <= _cells(line) for line in shown.splitlines())
    assert "not fitted" not in shown


def _cells(line: str) -> set[str]:
    return {cell.strip() for cell in line.replace("┃", "│").split("│")}
