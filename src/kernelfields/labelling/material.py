"""What is labelled: how it is shown, and how the model sees it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of, rows_of
from ..errors import InputError
from ..features import DictFeatures, OrientationChannels, stack_windows
from ..files.items import FileData
from ..fitting.digest import digest

WINDOW = 5
"""Rows of numbers that the model sees at a time."""


class Look(StrEnum):
    """How a position is shown."""

    TOKENS = "tokens"
    NUMBERS = "numbers"
    IMAGES = "images"


@dataclass(frozen=True)
class Material:
    """Sequences to label."""

    data: FileData
    """As they were read."""
    features: Any
    """What the model sees, a row for every position of all sequences: an array or a sparse matrix."""
    shape: tuple[int, int] | None = None
    """Height and width of images."""

    @cached_property
    def offsets(self) -> Array:
        """Where each sequence begins."""
        return offsets_of([len(item.x) for item in self.data.items])

    @property
    def look(self) -> Look:
        """How positions are shown."""
        if self.shape is not None:
            return Look.IMAGES
        return Look.TOKENS if self.data.is_sparse else Look.NUMBERS

    @property
    def structure(self) -> str:
        """What labels depend on."""
        return self.data.structure

    @cached_property
    def digest(self) -> str:
        """A text that is the same for the same sequences: journals are about one."""
        return digest([[np.asarray(x) if isinstance(x, np.ndarray) else list(x) for x in self._inputs()]])

    def __len__(self) -> int:
        return len(self.data.items)

    def rows(self, items: Sequence[int]) -> Any:
        """Return what the model sees of some sequences, one after the other."""
        return self.features[rows_of(self.offsets, np.asarray(items, dtype=np.int64))]

    def lengths(self, items: Sequence[int]) -> Array:
        """Return how long they are."""
        return np.diff(self.offsets)[np.asarray(items, dtype=np.int64)]

    def inputs(self, items: Sequence[int]) -> list[Any]:
        """Return some sequences one by one, trees and graphs with their links."""
        ends = offsets_of(self.lengths(items)).tolist()
        rows = self.rows(items)
        each = [rows[a:b] for a, b in pairwise(ends)]
        if self.structure == "chain":
            return each
        return [self.data.items[i].input._replace(features=one) for i, one in zip(items, each, strict=True)]

    def _inputs(self) -> list[Any]:
        return [item.x for item in self.data.items]


def material_of(data: FileData, extractor: Any = None, shape: tuple[int, int] | None = None) -> Material:
    """Return sequences with features of all of them.

    Parameters
    ----------
    data : FileData
        Tokens, objects of features, or numbers.
    extractor : TemplateFeatures, optional
        Features of tokens.
    shape : (int, int), optional
        Height and width, if rows of numbers are images.
    """
    if data.n_positions == 0:
        raise InputError("There is nothing to label: all sequences are empty.")
    inputs = [item.x for item in data.items]
    if data.is_sparse:
        if shape is not None:
            raise InputError("Tokens are no images: rows of numbers are needed.")
        features, _ = (DictFeatures() if extractor is None else extractor).fit_transform(inputs)
        return Material(data, sparse.csr_matrix(features))
    width = {x.shape[1] for x in inputs}
    if len(width) != 1:
        raise InputError(f"Rows have {min(width)} to {max(width)} numbers; all must have the same number.")
    if shape is None:
        return Material(data, _windows(inputs))
    if shape[0] * shape[1] != min(width):
        raise InputError(f"Images of {shape[0]} × {shape[1]} pixels do not fit rows of {min(width)} numbers.")
    return Material(data, np.concatenate(OrientationChannels(shape).transform(_scaled(inputs))), shape)


def _scaled(inputs: list[Array]) -> list[Array]:
    """Return pixels between 0 and 1."""
    most = max((float(np.nanmax(x)) for x in inputs if x.size), default=1.0)
    return [np.nan_to_num(np.asarray(x, dtype=np.float64)) / (most or 1.0) for x in inputs]


def _windows(inputs: list[Array]) -> Array:
    """Return numbers of mean 0 and variance 1, with those of the rows around; what is missing is the mean."""
    flat = np.concatenate([np.asarray(x, dtype=np.float64) for x in inputs])
    if np.isinf(flat).any():
        raise InputError("There are infinite numbers among the rows.")
    known = ~np.isnan(flat)
    counts = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, flat, 0.0).sum(axis=0) / counts
    centred = np.where(known, flat - mean, 0.0)
    spread = np.sqrt(np.square(centred).sum(axis=0) / counts)
    ends = offsets_of([len(x) for x in inputs]).tolist()
    rows = centred / np.where(spread > 0, spread, 1.0)
    return np.concatenate(stack_windows([rows[a:b] for a, b in pairwise(ends)], WINDOW, padding="edge"))
