"""sklearn-crfsuite's estimator."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ...arrays import Array
from ...parameters import Parameterised
from ..pycrfsuite import ParsedDump, Tagger, Trainer, TrainLogParser
from .model_file import ModelFile
from .trainer import LinePerIterationTrainer

NAMES = {
    "min_freq": "feature.minfreq",
    "all_possible_states": "feature.possible_states",
    "all_possible_transitions": "feature.possible_transitions",
    "calibration_eta": "calibration.eta",
    "calibration_rate": "calibration.rate",
    "calibration_samples": "calibration.samples",
    "calibration_candidates": "calibration.candidates",
    "calibration_max_trials": "calibration.max_trials",
    "pa_type": "type",
}
"""CRFsuite's names of parameters that have another one here."""
OWN = ("algorithm", "verbose", "model_filename", "keep_tempfiles", "trainer_cls")
"""Parameters that are not CRFsuite's."""


class CRFsuiteCRF(Parameterised):
    """Linear-chain CRF with the parameters, methods and attributes of sklearn-crfsuite's.

    What is None has CRFsuite's default for the algorithm; a parameter that the algorithm does not have
    is refused by `fit`.

    Parameters
    ----------
    algorithm : "lbfgs", "l2sgd", "ap", "pa" or "arow", optional
        How to train, "lbfgs" if not given.
    min_freq : float
        Features that occur less often are left out.
    all_possible_states, all_possible_transitions : bool
        Whether pairs that do not occur in the training set have weights too.
    c1, c2 : float
        Weights of the penalties c1 ‖w‖₁ and c2 ‖w‖².
    max_iterations, num_memories, epsilon, period, delta, linesearch, max_linesearch
        Of "lbfgs" and partly of the others.
    calibration_eta, calibration_rate, calibration_samples, calibration_candidates, calibration_max_trials
        Of "l2sgd".
    pa_type, c, error_sensitive, averaging
        Of "pa".
    variance, gamma
        Of "arow".
    verbose : bool
        Whether to print the progress.
    model_filename : str, optional
        File that `fit` writes, and from which an estimator that was not fitted takes its model: one of
        ours, or one that CRFsuite wrote.
    keep_tempfiles : bool
        Whether a temporary file, written when ``modelfile.name`` or ``size_`` is asked for, is kept.
    trainer_cls : subclass of Trainer, optional
        Does the training.

    Attributes
    ----------
    classes_ : list of str
        Labels, in the order of their first appearance.
    state_features_, transition_features_ : dict
        Weights by (attribute, label) and (label, label).
    attributes_ : list of str
        Attributes that have a weight; ``num_attributes_`` of them.
    size_ : int
        Bytes of the model file.
    modelfile : ModelFile
        ``modelfile.name`` is the path of the model file, a temporary one if there is no other.
    training_log_ : TrainLogParser
        Records of the training.
    tagger_ : Tagger
        Labels single sequences.

    Examples
    --------
    >>> crf = CRF(c2=0.1).fit([[{"w": "a"}, {"w": "b"}]], [["A", "B"]])
    >>> crf.predict([[{"w": "b"}]]).tolist()
    [['B']]
    """

    def __init__(
        self,
        algorithm: str | None = None,
        min_freq: float | None = None,
        all_possible_states: bool | None = None,
        all_possible_transitions: bool | None = None,
        c1: float | None = None,
        c2: float | None = None,
        max_iterations: int | None = None,
        num_memories: int | None = None,
        epsilon: float | None = None,
        period: int | None = None,
        delta: float | None = None,
        linesearch: str | None = None,
        max_linesearch: int | None = None,
        calibration_eta: float | None = None,
        calibration_rate: float | None = None,
        calibration_samples: float | None = None,
        calibration_candidates: int | None = None,
        calibration_max_trials: int | None = None,
        pa_type: int | None = None,
        c: float | None = None,
        error_sensitive: bool | None = None,
        averaging: bool | None = None,
        variance: float | None = None,
        gamma: float | None = None,
        verbose: bool = False,
        model_filename: str | None = None,
        keep_tempfiles: bool = False,
        trainer_cls: type[Trainer] | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.min_freq = min_freq
        self.all_possible_states = all_possible_states
        self.all_possible_transitions = all_possible_transitions
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.num_memories = num_memories
        self.epsilon = epsilon
        self.period = period
        self.delta = delta
        self.linesearch = linesearch
        self.max_linesearch = max_linesearch
        self.calibration_eta = calibration_eta
        self.calibration_rate = calibration_rate
        self.calibration_samples = calibration_samples
        self.calibration_candidates = calibration_candidates
        self.calibration_max_trials = calibration_max_trials
        self.pa_type = pa_type
        self.c = c
        self.error_sensitive = error_sensitive
        self.averaging = averaging
        self.variance = variance
        self.gamma = gamma
        self.verbose = verbose
        self.model_filename = model_filename
        self.keep_tempfiles = keep_tempfiles
        self.trainer_cls = trainer_cls
        self.training_log_: TrainLogParser | None = None
        self._tagger: Tagger | None = None
        self._file: ModelFile | None = None
        self._seen: ParsedDump | None = None

    def fit(
        self, X: Sequence[Any], y: Sequence[Any], X_dev: Sequence[Any] | None = None, y_dev: Any = None
    ) -> Self:
        """Train.

        Parameters
        ----------
        X : list of lists of dictionaries
            Features of sequences, as `ItemSequence` takes them.
        y : list of lists of str
            Their labels.
        X_dev, y_dev : lists, optional
            Held-out sequences, tagged after every iteration; see ``training_log_``.
        """
        if (X_dev is None) != (y_dev is None):
            raise ValueError("Pass both X_dev and y_dev to use the holdout data")
        trainer = self._trainer()
        trainer.extend(X, y)
        if X_dev is not None:
            trainer.extend(X_dev, y_dev, 1)
        trainer.train(self.model_filename or "", -1 if X_dev is None else 1)
        self._tagger = None if trainer.model_ is None else Tagger.of(trainer.model_)
        self._file = self._seen = None
        self.training_log_ = trainer.logparser
        return self

    def predict(self, X: Sequence[Any]) -> Array:
        """Label sequences: an array of lists."""
        return _objects(self._fitted().tag_all(X))

    def predict_single(self, xseq: Any) -> list[str]:
        """Label one sequence."""
        return self._fitted().tag(xseq)

    def predict_marginals(self, X: Sequence[Any]) -> Array:
        """Return p(y_t|x): an array of lists of dictionaries, one per position, of probabilities by label."""
        return _objects(self._fitted().marginals_all(X))

    def predict_marginals_single(self, xseq: Any) -> list[dict[str, float]]:
        """Return the same of one sequence."""
        return self._fitted().marginals_all([xseq])[0]

    def score(self, X: Sequence[Any], y: Sequence[Any]) -> float:
        """Return the share of positions labelled right."""
        from .metrics import flat_accuracy_score

        return flat_accuracy_score(y, self._fitted().tag_all(X))

    @property
    def tagger_(self) -> Tagger | None:
        """The tagger; None before there is a model."""
        if self._tagger is None and self.model_filename is not None:
            self._tagger = Tagger()
            self._tagger.open(self.model_filename)
        return self._tagger

    @property
    def classes_(self) -> list[str] | None:
        """Labels."""
        return None if self.tagger_ is None else self.tagger_.labels()

    @property
    def attributes_(self) -> list[str] | None:
        """Attributes that have a weight."""
        return None if self._info is None else list(self._info.attributes)

    @property
    def num_attributes_(self) -> int | None:
        """How many there are."""
        return None if self._info is None else len(self._info.attributes)

    @property
    def size_(self) -> int | None:
        """Bytes of the model file."""
        return None if self.tagger_ is None else self.modelfile.size

    @property
    def modelfile(self) -> ModelFile:
        """The model file."""
        if self._file is None:
            model = None if self._tagger is None else self._tagger.model
            self._file = ModelFile(model, self.model_filename, self.keep_tempfiles)
        return self._file

    @property
    def state_features_(self) -> dict[tuple[str, str], float] | None:
        """Weights by attribute and label."""
        return None if self._info is None else self._info.state_features

    @property
    def transition_features_(self) -> dict[tuple[str, str], float] | None:
        """Weights by label and next label."""
        return None if self._info is None else self._info.transitions

    @property
    def _info(self) -> ParsedDump | None:
        if self._seen is None and self.tagger_ is not None:
            self._seen = self.tagger_.info()
        return self._seen

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_file": None, "_seen": None}

    def _fitted(self) -> Tagger:
        if (
            self.model_filename is not None
            and self._tagger is None
            and not os.path.exists(self.model_filename)
        ):
            raise FileNotFoundError(f"There is no model file {self.model_filename!r}; call fit first.")
        tagger = self.tagger_
        if tagger is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This CRF is not fitted yet; call fit first.")
        return tagger

    def _trainer(self) -> Trainer:
        settings = {
            NAMES.get(name, name): value
            for name, value in self.get_params(deep=False).items()
            if name not in OWN and value is not None
        }
        make = self.trainer_cls or LinePerIterationTrainer
        return make(algorithm=self.algorithm, params=settings, verbose=self.verbose)


CRF = CRFsuiteCRF
# Programs print the name and pickle by it; in this package, CRF alone means the library's own.
CRF.__name__ = CRF.__qualname__ = "CRF"


def _objects(rows: list[Any]) -> Array:
    """Return an array of lists, as sklearn-crfsuite does: two-dimensional if all are equally long."""
    return np.array(rows, dtype=object)
