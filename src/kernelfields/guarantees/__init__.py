"""Guarantees: thresholds below which a model abstains so that errors stay rare, proved on held-out data."""

from typing import TYPE_CHECKING

from ..lazy import lazily

if TYPE_CHECKING:
    from ._base import Gains, MeanTest, mean_gains
    from .answers import JudgedAnswers
    from .betting import Betting
    from .hoeffding_bentkus import HoeffdingBentkus
    from .learn_then_test import Guarantee, learn_threshold
    from .risk_control import Missed, RiskControl, control_misses, label_sets
    from .threshold import Threshold
else:
    __getattr__, __dir__ = lazily(
        __name__,
        {
            "_base": "Gains MeanTest mean_gains",
            "answers": "JudgedAnswers",
            "betting": "Betting",
            "hoeffding_bentkus": "HoeffdingBentkus",
            "learn_then_test": "Guarantee learn_threshold",
            "risk_control": "Missed RiskControl control_misses label_sets",
            "threshold": "Threshold",
        },
    )

__all__ = [
    "Betting",
    "Gains",
    "Guarantee",
    "HoeffdingBentkus",
    "JudgedAnswers",
    "MeanTest",
    "Missed",
    "RiskControl",
    "Threshold",
    "control_misses",
    "label_sets",
    "learn_threshold",
    "mean_gains",
]
