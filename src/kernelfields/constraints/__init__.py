"""Constraints: rules about which labels may follow one another, start or end a sequence."""

from ._base import Forbidden, Rule
from .named import Constraints
from .tags import BILOU, BMES, IOB2, IOBES, TagScheme

__all__ = ["BILOU", "BMES", "IOB2", "IOBES", "Constraints", "Forbidden", "Rule", "TagScheme"]
