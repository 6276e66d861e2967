"""Losses: each compares hallucinated with observed parts."""

from ._base import BlockLoss, CustomLoss, Loss, LossValue
from ._hinge_base import Hinge, Planes
from ._local_base import LocalLoss
from .costs import ErrorFunction, LabellingCost, PairCost, edge_cost, hamming_cost, pair_cost, vertex_cost
from .entropy import EntropyRegularised, LogWithEntropy
from .expected_log import ExpectedLog
from .hidden_states import HiddenStateLog, OwnedStates
from .hinge_callback import CallbackHinge
from .hinge_errors import CountedHinge, CountedMarginHinge, SlackHinge
from .hinge_margin import MarginHinge
from .hinge_relaxed import RelaxedMarginHinge
from .hinge_slack import SearchedSlackHinge
from .hinge_zero_one import ZeroOneHinge
from .information import Information, InformationMaximisation
from .log import Log, require_sums
from .marginal_log import MarginalLog
from .partial_log import PartialLog
from .piecewise import Piecewise
from .pseudo import PseudoLikelihood
from .variational_em import VariationalEM

__all__ = [
    "BlockLoss",
    "CallbackHinge",
    "CountedHinge",
    "CountedMarginHinge",
    "CustomLoss",
    "EntropyRegularised",
    "ErrorFunction",
    "ExpectedLog",
    "HiddenStateLog",
    "Hinge",
    "Information",
    "InformationMaximisation",
    "LabellingCost",
    "LocalLoss",
    "Log",
    "LogWithEntropy",
    "Loss",
    "LossValue",
    "MarginHinge",
    "MarginalLog",
    "OwnedStates",
    "PairCost",
    "PartialLog",
    "Piecewise",
    "Planes",
    "PseudoLikelihood",
    "RelaxedMarginHinge",
    "SearchedSlackHinge",
    "SlackHinge",
    "VariationalEM",
    "ZeroOneHinge",
    "edge_cost",
    "hamming_cost",
    "pair_cost",
    "require_sums",
    "vertex_cost",
]
