"""FIFOs that have a writer, for tests of commands."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def fifo_of(path: Path, folder: Path) -> Iterator[Path]:
    """Make a FIFO of a file's name, and write the file into it once."""
    folder.mkdir(exist_ok=True)
    place = folder / path.name
    os.mkfifo(place)

    def write() -> None:
        try:
            with place.open("wb") as file:
                file.write(path.read_bytes())
        except BrokenPipeError:
            pass

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield place
    finally:
        if writer.is_alive():  # nobody has opened it, or not read all
            os.close(os.open(place, os.O_RDONLY | os.O_NONBLOCK))
        writer.join(10)
        place.unlink()
