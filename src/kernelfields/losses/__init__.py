"""Losses: each compares hallucinated with observed parts."""

from ._base import Loss, LossValue
from .log import Log
from .partial_log import PartialLog

__all__ = ["Log", "Loss", "LossValue", "PartialLog"]
