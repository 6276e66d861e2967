"""Gram matrices: computed, stored, multiplied."""

from ._base import Gram
from .stored import StoredGram

__all__ = ["Gram", "StoredGram"]
