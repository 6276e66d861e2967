"""Losses: each compares hallucinated with observed parts."""

from typing import TYPE_CHECKING

from ..lazy import lazily
from .class_weights import ClassWeight as ClassWeight
from .class_weights import class_weights as class_weights

if TYPE_CHECKING:
    from ._base import BlockLoss, Loss, LossValue
    from ._hinge_base import Hinge, Planes
    from ._local_base import LocalLoss
    from ._search_base import Minimiser
    from ._settings_base import LossSettings
    from .costs import ErrorFunction, LabellingCost, PairCost, edge_cost, hamming_cost, pair_cost, vertex_cost
    from .custom import CustomLoss
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
    from .log import LogLoss, require_sums
    from .log_settings import Log, observed_log
    from .marginal_log import MarginalLog, MarginalLogLoss
    from .partial_log import PartialLog
    from .piecewise import Piecewise, PiecewiseLoss
    from .pseudo import PseudoLikelihood, PseudoLikelihoodLoss
    from .variational_em import VariationalEM
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "BlockLoss Loss LossValue",
            "_hinge_base": "Hinge Planes",
            "_local_base": "LocalLoss",
            "_search_base": "Minimiser",
            "_settings_base": "LossSettings",
            "costs": "ErrorFunction LabellingCost PairCost edge_cost hamming_cost pair_cost vertex_cost",
            "custom": "CustomLoss",
            "entropy": "EntropyRegularised LogWithEntropy",
            "expected_log": "ExpectedLog",
            "hidden_states": "HiddenStateLog OwnedStates",
            "hinge_callback": "CallbackHinge",
            "hinge_errors": "CountedHinge CountedMarginHinge SlackHinge",
            "hinge_margin": "MarginHinge",
            "hinge_relaxed": "RelaxedMarginHinge",
            "hinge_slack": "SearchedSlackHinge",
            "hinge_zero_one": "ZeroOneHinge",
            "information": "Information InformationMaximisation",
            "log": "LogLoss require_sums",
            "log_settings": "Log observed_log",
            "marginal_log": "MarginalLog MarginalLogLoss",
            "partial_log": "PartialLog",
            "piecewise": "Piecewise PiecewiseLoss",
            "pseudo": "PseudoLikelihood PseudoLikelihoodLoss",
            "variational_em": "VariationalEM",
        },
    )

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
    "LogLoss",
    "LogWithEntropy",
    "Loss",
    "LossSettings",
    "LossValue",
    "MarginHinge",
    "MarginalLog",
    "MarginalLogLoss",
    "Minimiser",
    "OwnedStates",
    "PairCost",
    "PartialLog",
    "Piecewise",
    "PiecewiseLoss",
    "Planes",
    "PseudoLikelihood",
    "PseudoLikelihoodLoss",
    "RelaxedMarginHinge",
    "SearchedSlackHinge",
    "SlackHinge",
    "VariationalEM",
    "ZeroOneHinge",
    "edge_cost",
    "hamming_cost",
    "observed_log",
    "pair_cost",
    "require_sums",
    "vertex_cost",
]
