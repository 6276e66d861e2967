"""A lock on an open file, which the system takes back when its process ends, however it ends."""

from __future__ import annotations

import sys
from typing import BinaryIO


def lock(file: BinaryIO) -> bool:
    """Lock a file for this process; False if another process, or another handle of this one, has it."""
    try:
        _lock(file)
    except OSError:
        return False
    return True


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    FAR = 2**62
    """A byte behind every end of a file: what Windows locks cannot be read, and files are to be exported."""

    def _lock(file: BinaryIO) -> None:
        place = file.tell()
        file.seek(FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        finally:
            file.seek(place)

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
