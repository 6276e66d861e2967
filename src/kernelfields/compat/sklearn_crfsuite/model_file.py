"""The file of a model, for programs that copy it from where sklearn-crfsuite keeps it."""

from __future__ import annotations

import os
import tempfile
import weakref
from pathlib import Path

from ...estimators import CRF
from ..crfsuite.storage import save


class ModelFile:
    """A model's file: the one that it was given, or a temporary one, written when somebody asks for it.

    Parameters
    ----------
    model : CRF or None
        What to write; nothing if the file is there already.
    path : str or path, optional
        The file.
    keep : bool
        Whether a temporary file outlives this object.
    """

    def __init__(self, model: CRF | None, path: str | os.PathLike[str] | None, keep: bool) -> None:
        self._model, self._path, self._keep = model, path, keep

    @property
    def name(self) -> str | None:
        """Path of the file; None if there is no model."""
        if self._path is None and self._model is not None:
            handle, self._path = tempfile.mkstemp(".crfsuite", "model")
            os.close(handle)
            save(self._model, self._path)
            if not self._keep:
                weakref.finalize(self, Path(self._path).unlink, missing_ok=True)
        return None if self._path is None else os.fspath(self._path)

    @property
    def size(self) -> int | None:
        """Bytes of the file; None if there is no model."""
        return None if self.name is None else os.path.getsize(self.name)
