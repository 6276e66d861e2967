"""Losses: each compares hallucinated with observed parts."""

from ._base import BlockLoss, Loss, LossValue
from .log import Log
from .marginal_log import MarginalLog
from .partial_log import PartialLog

__all__ = ["BlockLoss", "Log", "Loss", "LossValue", "MarginalLog", "PartialLog"]
