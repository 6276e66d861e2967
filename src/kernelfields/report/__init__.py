"""How good a model is on test data: all numbers, and one page of HTML to look at them."""

from .description import Description, describe
from .evaluate import evaluate
from .evaluation import Evaluation
from .page import write_report
from .parse_evaluation import ParseEvaluation

__all__ = ["Description", "Evaluation", "ParseEvaluation", "describe", "evaluate", "write_report"]
