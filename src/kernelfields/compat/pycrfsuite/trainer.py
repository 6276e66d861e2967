"""A trainer that understands its messages."""

from __future__ import annotations

from typing import Any

from ._logparser import TrainLogParser
from .base_trainer import BaseTrainer


class Trainer(BaseTrainer):
    """A `BaseTrainer` whose messages are gathered in ``logparser`` and told by event.

    Override ``on_iteration`` and its like to do something else than print.

    Parameters
    ----------
    algorithm, params, verbose
        As there.

    Attributes
    ----------
    logparser : TrainLogParser
        Records of the last training: ``logparser.last_iteration``, ``logparser.iterations``.
    """

    logparser: TrainLogParser | None = None

    def _before_train(self) -> None:
        self.logparser = TrainLogParser()

    def message(self, message: str) -> None:
        """Read a message, and tell the event that it completes."""
        if (parser := self.logparser) is None:
            raise RuntimeError("There is no training that this message belongs to.")
        event = parser.feed(message)
        if not self.verbose or event is None:
            return
        log = parser.last_log
        if event == "featgen_progress":
            self.on_featgen_progress(log, parser.featgen_percent)
        elif event == "iteration":
            assert parser.last_iteration is not None
            self.on_iteration(log, parser.last_iteration)
        else:
            tellers = {
                "start": self.on_start,
                "featgen_end": self.on_featgen_end,
                "prepared": self.on_prepared,
                "prepare_error": self.on_prepare_error,
                "optimization_end": self.on_optimization_end,
                "end": self.on_end,
            }
            tellers[event](log)

    def on_start(self, log: str) -> None:
        """Training begins."""
        print(log, end="")

    def on_featgen_progress(self, log: str, percent: int) -> None:
        """Features are being counted."""
        print(log, end="")

    def on_featgen_end(self, log: str) -> None:
        """All features are known."""
        print(log, end="")

    def on_prepared(self, log: str) -> None:
        """The first iteration is about to begin."""
        print(log, end="")

    def on_prepare_error(self, log: str) -> None:
        """There will be no iteration."""
        print(log, end="")

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """An iteration is done."""
        print(log, end="")

    def on_optimization_end(self, log: str) -> None:
        """The last one is done."""
        print(log, end="")

    def on_end(self, log: str) -> None:
        """The model is written."""
        print(log, end="")
