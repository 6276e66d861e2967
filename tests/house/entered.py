"""Which files of a package a call enters."""

from __future__ import annotations

import functools
import gc
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

MODULE = "<module>"


class Visits:
    """The files whose functions are called while this is the profiler of all threads.

    Whatever runs because a module is imported (its body, its classes, its decorators), or because a name is
    used for the first time (`lazy.py`), is left out, so that the result does not depend on what has been
    imported before.
    """

    def __init__(self, package: Path):
        self.root = f"{package}/"
        self.lazy = f"{package}/lazy.py"
        self.files: set[str] = set()
        self._own = threading.local()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event not in ("call", "return"):
            return
        imports = getattr(self._own, "imports", 0)
        code = frame.f_code
        if code.co_name == MODULE or code.co_filename == self.lazy:
            self._own.imports = imports + (1 if event == "call" else -1)
        elif event == "call" and not imports and code.co_filename.startswith(self.root):
            self.files.add(code.co_filename.removeprefix(self.root))


def files_entered(call: Callable[[], object], package: Path) -> list[str]:
    """Return the files of `package`, relative to it, of which `call` enters a function.

    The call is made twice, and the second time counts, with the caches of the package emptied before: so the
    result does not depend on what has run or has been imported earlier.
    """
    call()
    empty_caches(package.name)
    visits = Visits(package)
    threading.setprofile(visits)
    sys.setprofile(visits)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(visits.files)


def empty_caches(package: str) -> None:
    """Empty every `functools.cache` and `functools.lru_cache` around a function of a package."""
    for thing in gc.get_objects():
        # By its exact type: isinstance would ask proxies, which may import something to answer.
        if type(thing) is functools._lru_cache_wrapper and str(thing.__module__).split(".")[0] == package:
            thing.cache_clear()
