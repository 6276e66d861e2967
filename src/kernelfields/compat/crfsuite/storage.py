"""Model files: ours to write and read, CRFsuite's to read."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from ...errors import ModelFormatError
from ...estimators import CRF, load
from ...features import DictFeatures
from ...io.crfsuite import MAGIC, CrfsuiteModel, read_crfsuite
from ...models.attributes import scorers_of
from .models import converted


class OpenedModel(NamedTuple):
    """A model, and what its file says about itself."""

    model: CRF
    header: dict[str, str]


def save(model: CRF, path: str | os.PathLike[str]) -> None:
    """Write a model file."""
    model.save(path)


def open_file(path: str | os.PathLike[str]) -> OpenedModel:
    """Read a model file, ours or CRFsuite's."""
    with open(path, "rb") as file:
        theirs = file.read(len(MAGIC)) == MAGIC
    if theirs:
        return _stored(read_crfsuite(path))
    model = load(path)
    header = {"size": str(os.path.getsize(path))}
    if not isinstance(model, CRF) or not isinstance(model.features_, DictFeatures):
        raise ModelFormatError(f"{os.fspath(path)} holds a model that has no attributes, as taggers need.")
    if scorers_of(model).keys() - {"features", "bias", "boundaries", "edges"}:
        raise ModelFormatError(
            f"{os.fspath(path)} holds a model that scores more than labels and label pairs."
        )
    return OpenedModel(model, header)


def open_bytes(data: bytes) -> OpenedModel:
    """Read the same from memory."""
    if data.startswith(MAGIC):
        return _stored(read_crfsuite(data))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kf"
        path.write_bytes(data)
        return open_file(path)


def _stored(file: CrfsuiteModel) -> OpenedModel:
    places = {name: f"0x{value:X}" for name, value in file.header.items() if name.startswith("off_")}
    header = {name: str(value) for name, value in file.header.items()} | places
    return OpenedModel(converted(file), header)
