"""Model files written by CRFsuite.

All numbers are little-endian. A header of 48 bytes (``lCRF``, size, ``FOMC``, version, counts, and places of
chunks) is followed by five chunks, each with a name and its size: ``FEAT``, the weights; ``CQDB`` twice,
constant databases with the names of labels and of attributes; ``LFRF`` and ``AFRF``, indices from labels and
attributes into the weights, which are redundant and only checked.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..errors import ModelFormatError
from .opening import opened_file

MAGIC = b"lCRF"
HEADER = 48
DATABASE = 24
"""Bytes of a database before its hash tables."""
BYTE_ORDER = 0x62445371
FEATURE = np.dtype([("type", "<u4"), ("source", "<u4"), ("target", "<u4"), ("weight", "<f8")])
STATE, TRANSITION = 0, 1
COUNTS = ("num_features", "num_labels", "num_attrs")
PLACES = ("off_features", "off_labels", "off_attrs", "off_labelrefs", "off_attrrefs")


class CrfsuiteModel(NamedTuple):
    """The model in such a file: score(x, y) = Σ_t Σ_a x_ta w_{a, y_t} + Σ_t V_{y_t, y_{t+1}}."""

    labels: list[str]
    attributes: list[str]
    states: Array
    """(n,) of `FEATURE`: from an attribute to a label."""
    transitions: Array
    """(m,) of `FEATURE`: from a label to the next."""
    header: dict[str, Any]


def read_crfsuite(source: str | os.PathLike[str] | bytes) -> CrfsuiteModel:
    """Read a model file of CRFsuite, or its bytes; refuse damaged files with the reason."""
    if isinstance(source, bytes):
        return _Reader(source, "The model").model()
    with opened_file(source) as file:
        return _Reader(file.read(), os.fspath(source)).model()


class _Reader:
    """The bytes of a file, never read outside their bounds."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        self.name = name

    def model(self) -> CrfsuiteModel:
        header = self._header()
        n_labels, n_attributes = header["num_labels"], header["num_attrs"]
        labels = self._names(header["off_labels"], n_labels, "labels")
        attributes = self._names(header["off_attrs"], n_attributes, "attributes")
        features = self._features(header["off_features"])
        for place, name in (("off_labelrefs", b"LFRF"), ("off_attrrefs", b"AFRF")):
            self._chunk(header[place], name, 12)
        states = features[features["type"] == STATE]
        transitions = features[features["type"] == TRANSITION]
        if len(states) + len(transitions) != len(features):
            self._fail("it has weights of an unknown type")
        self._require_below(states["source"], n_attributes, "attribute")
        for ends in (states["target"], transitions["source"], transitions["target"]):
            self._require_below(ends, n_labels, "label")
        return CrfsuiteModel(labels, attributes, states, transitions, header)

    def _header(self) -> dict[str, Any]:
        if self.data[:4] != MAGIC:
            self._fail("it does not begin with 'lCRF'")
        if len(self.data) < HEADER:
            self._fail("its header is incomplete")
        kind = self.data[8:12]
        if kind != b"FOMC":
            self._fail(f"it is of the type {kind!r}, expected b'FOMC'")
        size, version = self._number(4), self._number(12)
        if version != 100:
            self._fail(f"it has version {version}, expected 100")
        if size > len(self.data):
            self._fail(f"it should have {size} bytes, but has {len(self.data)}")
        numbers = np.frombuffer(self.data, "<u4", 8, 16).tolist()
        named = dict(zip(COUNTS + PLACES, numbers, strict=True))
        return {"magic": "lCRF", "size": size, "type": "FOMC", "version": version, **named}

    def _features(self, place: int) -> Array:
        start, size = self._chunk(place, b"FEAT", 12)
        count = self._number(start + 8)
        if 12 + count * FEATURE.itemsize > size:
            self._fail(f"there is no room for {count} weights")
        features = np.frombuffer(self.data, FEATURE, count, start + 12)
        if not np.isfinite(features["weight"]).all():
            self._fail("a weight is NaN or infinite")
        return features

    def _names(self, place: int, count: int, what: str) -> list[str]:
        """Return the strings of a database by their numbers: number, size, bytes, and a zero at the end."""
        start, size = self._chunk(place, b"CQDB", DATABASE)
        order, known, table = (self._number(start + at) for at in (12, 16, 20))
        if order != BYTE_ORDER:
            self._fail(f"the {what} are in an unknown byte order")
        if count > known or table + 4 * known > size:
            self._fail(f"there are fewer than {count} {what}")
        records = np.frombuffer(self.data, "<u4", count, start + table).astype(np.int64)
        if count and (records.min() < DATABASE or records.max() + 8 > size):
            self._fail(f"one of the {what} is outside of its chunk")
        if not np.array_equal(self._numbers(start + records), np.arange(count)):
            self._fail(f"the {what} are not numbered one by one")
        begin, length = records + 8, self._numbers(start + records + 4)
        if count and (length.min() < 1 or (begin + length).max() > size):
            self._fail(f"one of the {what} is cut off")
        ends = start + begin + length - 1
        if self.bytes[ends].any():
            self._fail(f"one of the {what} has no end")
        return self._decoded(start + begin, ends, what)

    def _decoded(self, begin: Array, ends: Array, what: str) -> list[str]:
        data = self.data
        try:
            names = [data[a:b].decode() for a, b in zip(begin.tolist(), ends.tolist(), strict=True)]
        except UnicodeDecodeError as error:
            self._fail(f"one of the {what} is not UTF-8 ({error.reason})")
        if len(set(names)) < len(names):
            self._fail(f"one of the {what} occurs twice")
        return names

    def _chunk(self, place: int, name: bytes, least: int) -> tuple[int, int]:
        """Return where a chunk begins, and its size."""
        if place < HEADER or place + least > len(self.data):
            self._fail(f"the chunk {name.decode()} is outside of the file")
        found, size = self.data[place : place + 4], self._number(place + 4)
        if found != name:
            self._fail(f"at byte {place} there is {found!r}, expected {name!r}")
        if size < least or place + size > len(self.data):
            self._fail(f"the chunk {name.decode()} is cut off")
        return place, size

    def _number(self, place: int) -> int:
        return int.from_bytes(self.data[place : place + 4], "little")

    def _numbers(self, places: Array) -> Array:
        """Read 32-bit numbers that need not be aligned."""
        parts = self.bytes[places[:, None] + np.arange(4)].astype(np.int64)
        return parts @ (1 << np.arange(0, 32, 8))

    def _require_below(self, ids: Array, count: int, what: str) -> None:
        if len(ids) and ids.max() >= count:
            self._fail(f"a weight belongs to {what} {ids.max()}, but there are {count} of them")

    def _fail(self, why: str) -> Any:
        raise ModelFormatError(f"{self.name} cannot be read as a model of CRFsuite: {why}.")
