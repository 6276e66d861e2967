"""Constraints: rules about which labels may follow one another, start or end a sequence."""

from ._base import Forbidden, Rule
from .merging import merged_marginals
from .named import Constraints
from .owned import OwnedRule
from .rewriting import rewritten
from .runs import RunParts
from .tags import BILOU, BMES, IOB2, IOBES, TagScheme
from .topologies import Cyclic, LeftRight

__all__ = [
    "BILOU",
    "BMES",
    "IOB2",
    "IOBES",
    "Constraints",
    "Cyclic",
    "Forbidden",
    "LeftRight",
    "OwnedRule",
    "Rule",
    "RunParts",
    "TagScheme",
    "merged_marginals",
    "rewritten",
]
