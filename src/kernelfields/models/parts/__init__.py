"""Parts of a model: functions of clique types that are learnt together."""

from typing import TYPE_CHECKING

from ...lazy import lazily
from ._base import BoundPart, Part
from .bound import BoundParts
from .data import PartData
from .defaults import FACTOR, FREE_NAMES, Penalties, feature_parts, free_parts
from .free import FreeScores
from .linear import LinearScores

if TYPE_CHECKING:
    from .kernel import BoundKernel, KernelScores
else:
    __getattr__, __dir__ = lazily(__name__, {"kernel": "BoundKernel KernelScores"})

__all__ = [
    "FACTOR",
    "FREE_NAMES",
    "BoundKernel",
    "BoundPart",
    "BoundParts",
    "FreeScores",
    "KernelScores",
    "LinearScores",
    "Part",
    "PartData",
    "Penalties",
    "feature_parts",
    "free_parts",
]
