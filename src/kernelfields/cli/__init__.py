"""The command ``kf``."""

from .app import main

__all__ = ["main"]
