"""Versions of what computes."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version


def versions() -> dict[str, str]:
    """Return the versions of Python, this package and those it computes with, by name."""
    packages = ("kernelfields", "numpy", "scipy")
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


@cache
def _version(package: str) -> str:
    """Look a version up once: reading it takes as long as fitting a small model."""
    return version(package)
