"""Models in MLflow: a file of the library's own inside MLflow's generic Python flavour.

`save_model` and `log_model` need mlflow; what it loads, `PyfuncModel`, does not.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..estimators import load

MISSING = "This needs the package mlflow: pip install mlflow."
FILE = "model.kf"


class PyfuncModel:
    """A fitted model as MLflow asks it: `predict` takes sequences, or a frame."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        """Label a list of sequences; or a frame, which comes back with columns of labels and probabilities.

        Parameters
        ----------
        model_input : list of sequences, or frame
            As the model takes them; frames as `kernelfields.frames.label` does.
        params : dict, optional
            Further arguments: of `predict` for lists, of `frames.label` for frames (``group``, ``features``).
        """
        options = dict(params or {})
        if hasattr(model_input, "columns") or hasattr(model_input, "column_names"):
            from ..frames import label

            return label(self.model, model_input, **options)
        return self.model.predict(model_input, **options)


def save_model(model: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a fitted model as an MLflow model; options are those of ``mlflow.pyfunc.save_model``."""
    mlflow = _mlflow()
    with _written(model) as file:
        mlflow.pyfunc.save_model(path=os.fspath(path), **_flavour(file), **options)


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Log a fitted model with the active run; options are those of ``mlflow.pyfunc.log_model``."""
    mlflow = _mlflow()
    with _written(model) as file:
        return mlflow.pyfunc.log_model(name=name, **_flavour(file), **options)


def _load_pyfunc(path: str) -> PyfuncModel:
    """Return the model of a file, or of a folder with one; MLflow calls it by this name."""
    given = Path(path)
    return PyfuncModel(load(given / FILE if given.is_dir() else given))


def _flavour(file: Path) -> dict[str, Any]:
    return {
        "loader_module": __name__,
        "data_path": str(file),
        "pip_requirements": [f"kernelfields=={version('kernelfields')}"],
    }


@contextmanager
def _written(model: Any) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / FILE
        model.save(file)
        yield file


def _mlflow() -> Any:
    try:
        import mlflow  # type: ignore[import-not-found, unused-ignore]
        import mlflow.pyfunc  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise InputError(MISSING) from error
    return mlflow
