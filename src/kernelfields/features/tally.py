"""Counts of features that come chunk by chunk, and the vocabulary that they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np

from ..arrays import Array
from .templates import Templates

Vocabulary = Mapping[str, Array]
"""What `TemplateFeatures.export` returns."""


class FeatureTally:
    """How often features occur, in the order in which they first appeared.

    A feature is a run of numbers: that of its template, then those of its values. Every chunk numbers its own
    strings, so they are numbered again here, over all chunks.
    """

    def __init__(self, templates: Templates) -> None:
        self._layout = _Layout(templates)
        self._strings: list[dict[bytes, int]] = [{} for _ in range(self._layout.n_channels)]
        self._marks = [0] * self._layout.n_channels
        self._counts: dict[bytes, int] = {}

    def add(self, vocabulary: Vocabulary, counts: Array) -> None:
        """Add the features of a chunk, all of them, in the order in which they appear there."""
        values = np.array(vocabulary["features"])
        bounds = self._layout.bounds(values)
        channels = self._layout.channels(values, bounds)
        for k, strings in enumerate(_strings(vocabulary)):
            if strings:
                places = np.flatnonzero(channels == k)
                values[places] = self._numbers(k, strings, values[places])
        features, known = values.tobytes(), self._counts
        for (start, end), count in zip(pairwise((4 * bounds).tolist()), counts.tolist(), strict=True):
            feature = features[start:end]
            known[feature] = known.get(feature, 0) + count

    def vocabulary(self, min_count: int, by_frequency: bool) -> Vocabulary:
        """Return the features that are frequent enough, as if all chunks had been counted as one."""
        counts = np.fromiter(self._counts.values(), np.int64, len(self._counts))
        chosen = np.flatnonzero(counts >= min_count)
        if by_frequency:
            chosen = chosen[np.argsort(-counts[chosen], kind="stable")]
        known = list(self._counts)
        # Indices stay an array: as a list of objects they would take as much memory again as the features.
        kept = [known[feature] for feature in chosen]
        bounds = np.cumsum([0, *map(len, kept)]) // 4
        values = np.frombuffer(b"".join(kept), np.int32).copy()
        channels = self._layout.channels(values, bounds)
        pools = []
        for k in range(self._layout.n_channels):
            places = np.flatnonzero(channels == k)
            values[places], pool = self._needed(k, values[places])
            pools.append(pool)
        return _joined(pools, values)

    def _numbers(self, k: int, strings: list[bytes], values: Array) -> Array:
        """Return the values of a channel with the numbers that strings have over all chunks."""
        # Values behind the marks of places beyond a sentence are strings, and all strings are in use.
        marks = self._marks[k] = int(values.max()) + 1 - len(strings)
        known = self._strings[k]
        numbers = [marks + known.setdefault(string, len(known)) for string in strings]
        return np.concatenate([np.arange(marks), numbers])[values]

    def _needed(self, k: int, values: Array) -> tuple[Array, list[bytes]]:
        """Return values of a channel with numbers by first use, and the strings that are used."""
        if not self._strings[k]:
            return values, []
        marks, strings = self._marks[k], list(self._strings[k])
        used, first = np.unique(values[values >= marks], return_index=True)
        used = used[np.argsort(first)]
        numbers = np.arange(marks + len(strings))
        numbers[used] = marks + np.arange(len(used))
        return numbers[values], [strings[number] for number in (used - marks).tolist()]


class _Layout:
    """Which number of a feature is a value of which channel, a column through a transform."""

    def __init__(self, templates: Templates) -> None:
        parts = [template.parts for template in templates.templates]
        known: dict[tuple[str, int], int] = {}
        runs = [[-1, *(known.setdefault((p.column, p.transform), len(known)) for p in row)] for row in parts]
        self.n_channels = len(known)
        self._lengths = [len(run) for run in runs]
        self._starts = np.cumsum([0, *self._lengths])
        self._channels = np.array([channel for run in runs for channel in run], dtype=np.int64)

    def bounds(self, values: Array) -> Array:
        """Return where features begin, and where the last one ends."""
        found, numbers, lengths = [0], values.tolist(), self._lengths
        while found[-1] < len(numbers):
            found.append(found[-1] + lengths[numbers[found[-1]]])
        return np.array(found)

    def channels(self, values: Array, bounds: Array) -> Array:
        """Return the channel of every number, -1 for those of templates."""
        shifts = self._starts[values[bounds[:-1]]] - bounds[:-1]
        return self._channels[np.arange(len(values)) + np.repeat(shifts, np.diff(bounds))]


def _strings(vocabulary: Vocabulary) -> Iterator[list[bytes]]:
    """Yield the strings of every channel."""
    text, ends = vocabulary["bytes"].tobytes(), [0, *vocabulary["ends"].tolist()]
    first = 0
    for size in vocabulary["sizes"].tolist():
        yield [text[a:b] for a, b in pairwise(ends[first : first + size + 1])]
        first += size


def _joined(pools: list[list[bytes]], features: Array) -> Vocabulary:
    """Return strings and features as `TemplateFeatures.restore` reads them."""
    strings = [string for pool in pools for string in pool]
    return {
        "bytes": np.frombuffer(b"".join(strings), np.uint8),
        "ends": np.cumsum([len(string) for string in strings], dtype=np.int64),
        "sizes": np.array([len(pool) for pool in pools], dtype=np.int64),
        "features": features,
    }
