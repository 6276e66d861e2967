"""Tagging as python-crfsuite's users do it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from itertools import chain as joined
from typing import Any, Self

import numpy as np

from ..errors import InputError
from ..estimators import CRF
from ..estimators._base import Batch
from ..structures._base import Array
from ._info import ParsedDump, dump_lines, info_of
from ._items import ItemError, plain
from ._storage import Stored, open_bytes, open_file


class Tagger:
    """Labels sequences with a model from a file, one that was written here or by CRFsuite."""

    _stored: Stored | None
    _batch: Batch | None
    _marginals: Array | None

    def __new__(cls, *_arguments: Any, **_settings: Any) -> Self:
        """Set up what every method needs: subclasses need not call ``__init__``, as with the original."""
        tagger = super().__new__(cls)
        tagger._stored = tagger._batch = tagger._marginals = None
        return tagger

    @classmethod
    def of(cls, model: CRF) -> Tagger:
        """Give a tagger with a model that is at hand."""
        tagger = cls()
        tagger._stored = Stored(model, {})
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
        self._stored = self._batch = self._marginals = None

    def labels(self) -> list[str]:
        """Give the labels of the model."""
        return self.model.classes_.tolist()

    def set(self, xseq: Any) -> None:
        """Choose the sequence that later calls are about."""
        try:
            self._batch = self.model._batch([plain(xseq)], None, None)
        except InputError as error:
            raise ItemError(str(error)) from None
        self._marginals = None

    def tag(self, xseq: Any = None) -> list[str]:
        """Give the best labels, of a sequence or of the one chosen last."""
        if xseq is not None:
            self.set(xseq)
        chain, scores = self._current
        names = self.model.classes_.tolist()
        return [names[k] for k in chain.argmax(scores).labels.tolist()]

    def tag_all(self, X: Sequence[Any]) -> list[list[str]]:
        """Give the best labels of many sequences at once, which is faster."""
        return self.model.predict([plain(xseq) for xseq in X])  # type: ignore[return-value]

    def marginals_all(self, X: Sequence[Any]) -> list[list[dict[str, float]]]:
        """Give the probability of every label at every position of many sequences."""
        labels = self.labels()
        arrays = self.model.predict_marginals([plain(xseq) for xseq in X])
        return [[dict(zip(labels, row, strict=True)) for row in array.tolist()] for array in arrays]

    def probability(self, yseq: Sequence[str]) -> float:
        """Give p(y|x) of the sequence chosen last."""
        chain, scores = self._current
        given = list(yseq)
        if len(given) != chain.n_vertices:
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {chain.n_vertices}, |y| = {len(given)}"
            )
        if not given:
            return 0.0  # CRFsuite's answer
        labels = np.array([self._number(label) for label in given], dtype=np.int32)
        return float(np.exp(chain.score(scores, labels) - chain.log_partition(scores))[0])

    def marginal(self, y: str, pos: int) -> float:
        """Give p(y_t|x) of a label at a position of the sequence chosen last."""
        chain, scores = self._current
        label = self._number(y)
        if not 0 <= pos < chain.n_vertices:
            raise ValueError(f"The position, {pos} is out of range of {chain.n_vertices}")
        if self._marginals is None:
            self._marginals = chain.marginals(scores).parts["node"]
        return float(self._marginals[pos, label])

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write the weights as text, to a file or to the standard output."""
        lines = joined.from_iterable((line, "\n") for line in dump_lines(self.info()))
        if filename is None:
            sys.stdout.writelines(lines)
            return
        with open(filename, "w", encoding="utf-8") as file:
            file.writelines(lines)

    def info(self) -> ParsedDump:
        """Give the weights by name."""
        if self._stored is None:
            raise RuntimeError("Tagger is closed")
        return info_of(*self._stored)

    @property
    def model(self) -> CRF:
        """The model itself."""
        if self._stored is None:
            raise ValueError("The tagger is not opened")
        return self._stored.model

    @property
    def _current(self) -> Batch:
        if self._batch is None:
            self.set([])
        assert self._batch is not None
        return self._batch

    def _number(self, label: str) -> int:
        labels = self.labels()
        if label not in labels:
            raise RuntimeError(f"Failed to convert into label identifier: {label}")
        return labels.index(label)
