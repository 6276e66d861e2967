"""Parts of a model: functions of clique types that are learnt together."""

from typing import TYPE_CHECKING

from ...lazy import lazily
from ._base import BoundPart, BoundParts, Part
from .data import PartData
from .defaults import FACTOR, FREE_NAMES, AnyPart, compose, feature_parts, free_parts
from .free import FreeScores
from .linear import LinearScores
from .settings import Parts, fixed_measure, looked_at, norms_of, parts_of, require_features, require_no_norms
from .unlearnt import FixedScores, TreeScores

if TYPE_CHECKING:
    from .kernel import BoundKernel, KernelScores
else:
    __getattr__, __dir__ = lazily(__name__, {"kernel": "BoundKernel KernelScores"})

__all__ = [
    "FACTOR",
    "FREE_NAMES",
    "AnyPart",
    "BoundKernel",
    "BoundPart",
    "BoundParts",
    "FixedScores",
    "FreeScores",
    "KernelScores",
    "LinearScores",
    "Part",
    "PartData",
    "Parts",
    "TreeScores",
    "compose",
    "feature_parts",
    "fixed_measure",
    "free_parts",
    "looked_at",
    "norms_of",
    "parts_of",
    "require_features",
    "require_no_norms",
]
