"""Tagging as python-crfsuite's users do it."""

from __future__ import annotations

import contextlib
import math
import os
import sys
from collections.abc import Sequence
from itertools import chain as joined
from typing import Any, Self

import numpy as np

from ...estimators import CRF
from ...io.replacing import replacing_text
from ...native import AttributeTagger
from ...structures import require_feasible
from ..crfsuite.items import ItemError, ItemSequence, plain
from ..crfsuite.models import tagger_of
from ..crfsuite.storage import OpenedModel, open_bytes, open_file
from .info import ParsedDump, dump_lines, info_of


class Tagger:
    """Labels sequences with a model from a file, one that was written here or by CRFsuite."""

    _stored: OpenedModel | None
    _core: AttributeTagger | None
    _numbers: dict[str, int]

    def __new__(cls, *_arguments: Any, **_settings: Any) -> Self:
        """Set up what every method needs: subclasses need not call ``__init__``, as with the original."""
        tagger = super().__new__(cls)
        tagger._stored = tagger._core = None
        return tagger

    @classmethod
    def of(cls, model: CRF) -> Tagger:
        """Return a tagger with a model that is at hand."""
        tagger = cls()
        tagger._stored = OpenedModel(model, {})
        return tagger

    def open(self, name: str | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Take the model of a file; what is none is refused with a `ModelFormatError`."""
        self.close()
        self._stored = open_file(name)
        return contextlib.closing(self)

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Take the model of a file's bytes."""
        self.close()
        self._stored = open_bytes(value)
        return contextlib.closing(self)

    def close(self) -> None:
        """Let go of the model."""
        self._stored = self._core = None

    def labels(self) -> list[str]:
        """Return the labels of the model."""
        return self.model.classes_.tolist()

    def set(self, xseq: Any) -> None:
        """Choose the sequence that later calls are about."""
        native = self._native
        try:
            native.set(xseq.rows if isinstance(xseq, ItemSequence) else xseq)
        except ValueError as error:
            raise ItemError(str(error)) from None

    def tag(self, xseq: Any = None) -> list[str]:
        """Return the best labels, of a sequence or of the one chosen last."""
        native = self._native
        try:
            tags = native.tag(xseq.rows if isinstance(xseq, ItemSequence) else xseq)
        except ValueError as error:
            raise ItemError(str(error)) from None
        if tags is None:
            require_feasible(np.array([native.value]))
            raise AssertionError("There is a best labelling where all scores are finite.")
        return tags

    def tag_all(self, X: Sequence[Any]) -> list[list[str]]:
        """Return the best labels of many sequences at once, which is faster."""
        return self.model.predict([plain(xseq) for xseq in X])  # type: ignore[return-value]

    def marginals_all(self, X: Sequence[Any]) -> list[list[dict[str, float]]]:
        """Return the probability of every label at every position of many sequences."""
        labels = self.labels()
        arrays = self.model.predict_marginals([plain(xseq) for xseq in X])
        return [[dict(zip(labels, row, strict=True)) for row in array.tolist()] for array in arrays]

    def probability(self, yseq: Sequence[str]) -> float:
        """Return p(y|x) of the sequence chosen last."""
        native, given = self._native, list(yseq)
        if len(given) != len(native):
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {len(native)}, |y| = {len(given)}"
            )
        if not given:
            return 0.0  # CRFsuite's answer
        labels = [self._number(label) for label in given]
        return math.exp(native.score(labels) - self._log_partition(native))

    def marginal(self, y: str, pos: int) -> float:
        """Return p(y_t|x) of a label at a position of the sequence chosen last."""
        native, label = self._native, self._number(y)
        if not 0 <= pos < len(native):
            raise ValueError(f"The position, {pos} is out of range of {len(native)}")
        probability = native.marginal(label, pos)
        if math.isnan(probability):
            self._log_partition(native)
        return probability

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write the weights as text, to a file or to the standard output."""
        lines = joined.from_iterable((line, "\n") for line in dump_lines(self.info()))
        if filename is None:
            sys.stdout.writelines(lines)
            return
        with replacing_text(filename) as file:
            file.writelines(lines)

    def info(self) -> ParsedDump:
        """Return the weights by name."""
        if self._stored is None:
            raise RuntimeError("Tagger is closed")
        return info_of(*self._stored)

    @property
    def model(self) -> CRF:
        """The model itself."""
        if self._stored is None:
            raise ValueError("The tagger is not opened")
        return self._stored.model

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_core": None}

    @property
    def _native(self) -> AttributeTagger:
        """What does the work."""
        if self._core is None:
            self._core = tagger_of(self.model)
            self._numbers = {label: k for k, label in enumerate(self.labels())}
        return self._core

    def _number(self, label: str) -> int:
        number = self._numbers.get(label)
        if number is None:
            raise RuntimeError(f"Failed to convert into label identifier: {label}")
        return number

    @staticmethod
    def _log_partition(native: AttributeTagger) -> float:
        value = native.log_partition()
        if not math.isfinite(value):
            require_feasible(np.array([value]))
        return value
