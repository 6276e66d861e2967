"""Where a model comes from: data, versions, time."""

from __future__ import annotations

import hashlib
import platform
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
from scipy import sparse

from .. import native
from ..arrays import Array, sorted_blocks
from ..data.inputs import Inputs
from ..data.labels import Encoded


@dataclass(frozen=True)
class Provenance:
    """What a model was fitted to, when, and with which versions."""

    data_hash: str
    """Of features, lengths and labels, as `fit` saw them: the same data have the same hash."""
    sequences: int
    positions: int
    features: int
    date: str
    """When the fit ended, in UTC."""
    versions: dict[str, str]


def provenance_of(inputs: Inputs, encoded: Encoded, unlabelled: Iterable[Inputs] = ()) -> Provenance:
    """Describe a training set, and what was looked at without labels.

    Arrays are summed up by CRC-32: little beside any fit.
    """
    links = [] if inputs.links is None else [inputs.links]
    others = [part for one in unlabelled for part in (one.features, one.offsets)]
    parts = (inputs.features, inputs.offsets, *links, encoded.labels, encoded.classes, *others)
    return _provenance(parts, len(inputs.offsets) - 1)


def provenance_of_rows(every: Any, offsets: Array | None, encoded: Encoded) -> Provenance:
    """Describe rows, those without labels among them, of sequences if there are offsets."""
    sequences = int(every.shape[0]) if offsets is None else len(offsets) - 1
    return _provenance((every, offsets, encoded.labels, encoded.classes), sequences)


def joined_provenance(parts: Sequence[Provenance]) -> Provenance:
    """Describe a training set that was read in parts."""
    total = hashlib.sha256("".join(part.data_hash for part in parts).encode()).hexdigest()[:16]
    sequences, positions = sum(part.sequences for part in parts), sum(part.positions for part in parts)
    return Provenance(total, sequences, positions, parts[0].features, parts[-1].date, parts[0].versions)


def _provenance(parts: tuple[Any, ...], sequences: int) -> Provenance:
    features = parts[0]
    width = features.shape[1] if features.ndim == 2 else 1
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Provenance(data_hash(*parts), sequences, int(features.shape[0]), int(width), now, versions())


def data_hash(*parts: Any) -> str:
    """A short text that differs where arrays differ: no signature, nobody is to be kept from forging it."""
    total = hashlib.sha256()
    for part in parts:
        for array, blocks in _arrays_of(part):
            value = 0
            for block in blocks:
                value = _sum_of(block, value)
            total.update(f"{array.dtype.kind}{array.shape}{value:08x};".encode())
    return total.hexdigest()[:16]


def _arrays_of(part: Any) -> Iterator[tuple[Array, Iterable[Array]]]:
    """Yield the arrays of a part, each with the blocks that it is read by.

    The order of entries in the rows of a sparse matrix has no say; to sort them all takes a copy of it.
    """
    if part is None:
        return
    if isinstance(part, tuple):  # links of graphs
        for each in part:
            yield from _arrays_of(each)
    elif isinstance(part, Mapping):
        for name in sorted(part):
            yield from _arrays_of(part[name])
    elif not sparse.issparse(part):
        yield part, [part]
    elif part.has_sorted_indices:
        yield from ((array, [array]) for array in (part.indptr, part.indices, part.data))
    else:
        yield part.indptr, [part.indptr]
        kind = part.indices.dtype
        yield part.indices, (block.indices.astype(kind, copy=False) for block in sorted_blocks(part))
        yield part.data, (block.data for block in sorted_blocks(part))


def _sum_of(array: Array, before: int) -> int:
    """Return the check sum of an array that follows on others."""
    if array.dtype == object:
        return zlib.crc32(repr(array.tolist()).encode("utf-8", "surrogatepass"), before)
    return native.checksum(np.ascontiguousarray(array).reshape(-1).view(np.uint8), before)


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and those it computes with, by name."""
    packages = ("kernelfields", "numpy", "scipy")
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


@cache
def _version(package: str) -> str:
    """Look a version up once: reading it takes as long as fitting a small model."""
    return version(package)
