"""MLflow and the Hub: what they are asked for, by stubs in their place, which are not installed here."""

import importlib
import shutil
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from kernelfields import CRF, InputError
from kernelfields.compat import hub, mlflow
from kernelfields.testing.estimators import labelled_sequences


@pytest.fixture
def fitted(rng):
    X, y = labelled_sequences(rng)
    return CRF().fit(X, y), X


def test_mlflow_saves_and_loads(fitted, monkeypatch, tmp_path):
    model, X = fitted
    calls = []

    def save(path, loader_module, data_path, pip_requirements, **more):
        """What MLflow does with a loader module: copy the data, and remember who reads it."""
        Path(path, "data").mkdir(parents=True)
        shutil.copy(data_path, Path(path, "data"))
        calls.append((loader_module, Path(data_path).name, pip_requirements, more))

    package, pyfunc = ModuleType("mlflow"), ModuleType("mlflow.pyfunc")
    pyfunc.save_model, pyfunc.log_model, package.pyfunc = (
        save,
        lambda name, **how: save(tmp_path / name, **how),
        pyfunc,
    )
    monkeypatch.setitem(sys.modules, "mlflow", package)
    monkeypatch.setitem(sys.modules, "mlflow.pyfunc", pyfunc)
    mlflow.save_model(model, tmp_path / "saved", metadata={"a": 1})
    mlflow.log_model(model, "logged")
    for name, (loader, file, requirements, more) in zip(["saved", "logged"], calls, strict=True):
        assert requirements[0].startswith("kernelfields==")
        assert more == ({"metadata": {"a": 1}} if name == "saved" else {})
        for path in (tmp_path / name / "data" / file, tmp_path / name / "data"):
            loaded = importlib.import_module(loader)._load_pyfunc(str(path))
            assert loaded.predict(X) == model.predict(X)
            assert loaded.predict(X, {"decoder": "posterior"}) == model.predict(X, decoder="posterior")


def test_mlflow_labels_frames(fitted):
    model, X = fitted
    frame = pd.DataFrame({f"x{d}": [x[:, d].tolist() for x in X] for d in range(3)})
    found = mlflow.PyfuncModel(model).predict(frame, {"features": ["x0", "x1", "x2"]})
    assert found["label"].tolist() == model.predict(X)


def test_hub(fitted, monkeypatch, tmp_path):
    model, X = fitted

    class HfApi:
        def create_repo(self, name, private, exist_ok):
            (tmp_path / name).mkdir(parents=True, exist_ok=exist_ok)
            assert private

        def upload_folder(self, repo_id, folder_path, commit_message):
            shutil.copytree(folder_path, tmp_path / repo_id, dirs_exist_ok=True)
            return commit_message

    package = ModuleType("huggingface_hub")
    package.HfApi, package.hf_hub_download = HfApi, lambda name, file, **_: tmp_path / name / file
    monkeypatch.setitem(sys.modules, "huggingface_hub", package)
    assert hub.push_to_hub(model, "me/colours", private=True, commit_message="first") == "first"
    assert hub.load_from_hub("me/colours", revision="main").predict(X) == model.predict(X)
    card = (tmp_path / "me/colours/README.md").read_text(encoding="utf-8")
    assert "3 labels: blue, green, red." in card


def test_what_to_install(fitted, monkeypatch, tmp_path):
    model, _ = fitted
    monkeypatch.setitem(sys.modules, "mlflow", None)
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(InputError, match="pip install mlflow"):
        mlflow.save_model(model, tmp_path / "m")
    with pytest.raises(InputError, match="pip install huggingface_hub"):
        hub.push_to_hub(model, "me/colours")
