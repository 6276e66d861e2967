"""Training as python-crfsuite's users do it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

from ...errors import InputError, ScoreError
from ...estimators import CRF
from ..crfsuite.parameters import ALIASES, TABLES
from ..crfsuite.report import Clock
from ..crfsuite.storage import save
from ..crfsuite.training import InstanceList, trained


class CRFSuiteError(Exception):
    """A training that could not be finished."""


class BaseTrainer:
    """Gathers sequences, trains a linear chain from them and writes it to a file.

    Parameters
    ----------
    algorithm : "lbfgs", "l2sgd", "ap", "pa" or "arow", optional
        How to train: see `select`.
    params : dict, optional
        Settings of the algorithm: see `set_params`.
    verbose : bool
        Whether `message` prints.
    """

    verbose: bool
    model_: CRF | None
    """What was trained last."""

    def __new__(cls, *_arguments: Any, **_settings: Any) -> Self:
        """Set up what every method needs: subclasses need not call ``__init__``, as with the original."""
        trainer = super().__new__(cls)
        trainer._gathered, trainer.model_, trainer.verbose = InstanceList(), None, False
        BaseTrainer.select(trainer, "lbfgs")
        return trainer

    def __init__(
        self, algorithm: str | None = None, params: Mapping[str, Any] | None = None, verbose: bool = True
    ) -> None:
        if algorithm is not None:
            self.select(algorithm)
        self.verbose = verbose
        if params is not None:
            self.set_params(params)

    def message(self, message: str) -> None:
        """Receive a message of the training; override it to do something else than print."""
        if self.verbose:
            print(message, end="")

    def append(self, xseq: Any, yseq: Iterable[str], group: int = 0) -> None:
        """Add a sequence.

        Parameters
        ----------
        xseq : list of items, or ItemSequence
            Features of its positions.
        yseq : list of str
            Their labels.
        group : int
            Number of the group that it belongs to, see ``holdout`` of `train`.
        """
        self._gathered.add([xseq], [yseq], group)

    def extend(self, X: Iterable[Any], y: Iterable[Iterable[str]], group: int = 0) -> None:
        """Add many sequences at once, which is faster."""
        self._gathered.add(X, y, group)

    def select(self, algorithm: str, type: str = "crf1d") -> None:
        """Choose how to train; settings become the defaults of the algorithm.

        Parameters
        ----------
        algorithm : str
            "lbfgs" (L-BFGS, with ``c1`` OWL-QN), "l2sgd" (stochastic gradient descent), "ap" (averaged
            perceptron), "pa" (passive-aggressive) or "arow" (adaptive regularisation of weights).
        type : "crf1d"
            The only kind of model there is.
        """
        name = algorithm.lower()
        name = ALIASES.get(name, name)
        if name not in TABLES or type != "crf1d":
            raise ValueError(f"Bad arguments: algorithm={name!r}, type={type!r}")
        self._algorithm = name
        self._settings = {key: parameter.default for key, parameter in TABLES[name].items()}

    def train(self, model: str | os.PathLike[str], holdout: int = -1) -> None:
        """Train, and write a model file.

        Parameters
        ----------
        model : str
            Name of the file; nothing is written if it is empty.
        holdout : int
            Number of the group that is not learnt from but tagged after every iteration.
        """
        self._before_train()
        try:
            self.model_ = trained(self._gathered, self._algorithm, self._settings, holdout, self.message)
        except (InputError, ScoreError) as error:
            raise CRFSuiteError(str(error)) from error
        if self.model_ is None:
            return
        clock = Clock()
        if os.fspath(model):
            save(self.model_, model)
        self.message(f"Seconds required: {clock.lap():.3f}\n")
        self.message("\n")

    def params(self) -> list[str]:
        """Return the names of the settings that the algorithm has."""
        return list(self._settings)

    def set_params(self, params: Mapping[str, Any]) -> None:
        """Change several settings."""
        for name, value in params.items():
            self.set(name, value)

    def get_params(self) -> dict[str, Any]:
        """Return all settings by name."""
        return dict(self._settings)

    def set(self, name: str, value: Any) -> None:
        """Change a setting."""
        if name not in self._settings:
            raise ValueError(f"Parameter not found: {name} = {value}")
        text = str(int(value)) if isinstance(value, bool) else str(value)
        self._settings[name] = TABLES[self._algorithm][name].read(text)

    def get(self, name: str) -> Any:
        """Return a setting."""
        if name not in self._settings:
            raise ValueError(f"Parameter not found: {name} = ")
        return self._settings[name]

    def help(self, name: str) -> str:
        """Say what a setting means."""
        if name not in self._settings:
            raise ValueError(f"Parameter not found: {name}")
        return TABLES[self._algorithm][name].help

    def clear(self) -> None:
        """Forget all sequences."""
        self._gathered = InstanceList()

    def _before_train(self) -> None:
        """Prepare for messages."""
