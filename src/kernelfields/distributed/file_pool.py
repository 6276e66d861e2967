"""Shards in files, evaluated here one after the other: training sets that are larger than memory.

A file holds a shard pickled, its arrays apart, so that they are mapped into memory instead of read; only the
shard that is being evaluated is there, and the next one, which a thread fetches meanwhile.
"""

from __future__ import annotations

import copy
import io
import mmap
import os
import pickle
import struct
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from ..arrays import Array
from ..objective import Partial, Shard, ShardPool

ALIGNED = 64
"""Arrays begin at multiples of so many bytes."""
PAGES = 2**20
"""Bytes that are fetched at a time."""


class _Pickler(pickle.Pickler):
    """Leaves out one object, which all shards have in common."""

    def __init__(self, file: io.BytesIO, shared: Any, buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self._shared = shared

    def persistent_id(self, obj: Any) -> str | None:
        """Name the object instead."""
        return "shared" if obj is self._shared and obj is not None else None


class _Unpickler(pickle.Unpickler):
    """Puts it back."""

    def __init__(self, file: io.BytesIO, shared: Any, buffers: Sequence[memoryview]) -> None:
        super().__init__(file, buffers=buffers)
        self._shared = shared

    def persistent_load(self, pid: Any) -> Any:
        """Return the object."""
        return self._shared


def write_shard(shard: Shard, path: str | os.PathLike[str], shared: Any = None) -> None:
    """Write a shard to a file: sizes, the pickled rest, arrays; without ``shared``, wherever that occurs."""
    buffers: list[pickle.PickleBuffer] = []
    written = io.BytesIO()
    _Pickler(written, shared, buffers).dump(shard)
    rest = written.getvalue()
    raw: list[Any] = [buffer.raw() for buffer in buffers]
    sizes = [len(rest), *(one.nbytes for one in raw)]
    with Path(path).open("wb") as file:
        file.write(struct.pack(f"<{1 + len(sizes)}q", len(sizes), *sizes))
        for part in (rest, *raw):
            file.write(b"\0" * (-file.tell() % ALIGNED))
            file.write(part)


class ShardFile:
    """A file with a shard, mapped into memory; ``shared`` is what `write_shard` left out."""

    def __init__(self, path: str | os.PathLike[str], shared: Any = None) -> None:
        self._shared = shared
        with Path(path).open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        (count,) = struct.unpack_from("<q", self._map)
        sizes = struct.unpack_from(f"<{count}q", self._map, 8)
        place, views = 8 * (1 + count), []
        for size in sizes:
            place += -place % ALIGNED
            views.append(memoryview(self._map)[place : place + size])
            place += size
        self._views = views

    def shard(self) -> Shard:
        """Return the shard, its arrays views of the file."""
        rest = io.BytesIO(self._views[0])
        found: Shard = _Unpickler(rest, self._shared, self._views[1:]).load()
        return found

    def fetch(self) -> None:
        """Read the whole file, so that it is in memory when it is asked for."""
        for place in range(0, len(self._map), PAGES):
            self._map[place]

    def drop(self) -> None:
        """Let the system take its pages; views stay what they are, and would be read again."""
        if hasattr(mmap, "MADV_DONTNEED"):  # Windows takes pages back by itself
            self._map.madvise(mmap.MADV_DONTNEED)


class FilePool(ShardPool):
    """Files of this machine.

    Parameters
    ----------
    paths : sequence of paths
        Files that `write_shard` wrote.
    shared : object, optional
        What was left out of all of them.
    """

    def __init__(self, paths: Sequence[Any], shared: Any = None) -> None:
        self._files = [ShardFile(path, shared) for path in paths]
        self.places = (None,) * len(self._files)
        self._fetcher = ThreadPoolExecutor(1)
        self._in_double = False

    def map(self, what: str, element: Array, direction: Array | None) -> Iterator[Partial]:
        """Evaluate one shard after the other, and fetch the next one meanwhile."""
        given = self.arguments(what, element, direction)
        waiting = self._fetcher.submit(self._files[0].fetch)
        for k, file in enumerate(self._files):
            waiting.result()
            if k + 1 < len(self._files):
                waiting = self._fetcher.submit(self._files[k + 1].fetch)
            yield self._evaluated(file, given[k])
            if len(self._files) > 1:
                file.drop()

    def _evaluated(self, file: ShardFile, given: tuple[str, Array, Array | None]) -> Partial:
        shard = file.shard()
        return (shard.exact() if self._in_double else shard).evaluate(*given)

    def exact(self) -> FilePool:
        """Return the same in double."""
        other = copy.copy(self)
        other._in_double = True
        return other

    def close(self) -> None:
        """End the thread."""
        self._fetcher.shutdown(wait=False, cancel_futures=True)
