"""Data that comes with the package."""

from .letters import Letters, load_letters

__all__ = ["Letters", "load_letters"]
