"""The curve of errors: what the model did to sequences it had not learnt from, as more were labelled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .changes import Entry
from .estimate import ErrorEstimate, estimate_beforehand, estimate_held_out
from .learner import LabelLearner
from .questions import Questions
from .session import Session
from .settings import DeskSettings


class ErrorCurve:
    """Counts the errors of models.

    Where some sequences are held out, errors are counted in those of them that were labelled, by each new
    model again; otherwise in the last sequences, each before it was learnt from.
    """

    def __init__(
        self, session: Session, questions: Questions, learner: LabelLearner, settings: DeskSettings
    ) -> None:
        self.session, self.questions, self.learner, self.settings = session, questions, learner, settings

    def counting(self) -> Callable[[Any], ErrorEstimate | None]:
        """Return how to count the errors of a model in what is labelled now; nothing is locked meanwhile."""
        sheets, labelled = self.session.sheets, self.session.n_done
        checks = [k for k in self.questions.checks if sheets[k].done]
        truth = [sheets[k].tags for k in checks]
        before = list(self.session.before)
        promise = self.settings.error_at_most, self.settings.confidence

        def count(model: Any) -> ErrorEstimate | None:
            if checks:
                return estimate_held_out(labelled, self.learner.guesses(model, checks), truth, *promise)
            if before and not self.questions.checks:
                return estimate_beforehand(labelled, before)
            return None

        return count

    def points(self) -> list[Entry]:
        """Return the errors by the number of accepted sequences, the last found for each."""
        latest = {point["labelled"]: point for point in self.session.points}
        return [latest[n] for n in sorted(latest) if n <= self.session.n_done]
