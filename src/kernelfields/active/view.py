"""What a fitted model says about a pool, computed when it is first asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from ..kernels import Kernel, as_kernel
from ..models.labeller import at_most_one
from ..models.model import ScoredBatch, matrix_of
from ..structures import ApproximateSum, KBestOracle, SumOracle, bounded_argmax, require_max
from .pool import LabelPool


class PoolView:
    """p(y|x, labels that are known) of every item of a pool.

    Parameters
    ----------
    model : estimator
        Fitted.
    pool : LabelPool
        Items, with the labels that are known: the model is conditioned on them.
    """

    def __init__(self, model: Any, pool: LabelPool) -> None:
        self.model = model
        self.pool = pool

    @cached_property
    def marginals(self) -> Array:
        """p(y_t|x, known), one row for every position of the pool."""
        if _parts_of(self.model) is None:
            return self.marginals_of(self.model)
        batch, scores = self.scored[:2]
        if not isinstance(batch, SumOracle | ApproximateSum):
            raise InputError(f"{type(self.model).__name__} has no marginals on {type(batch).__name__}.")
        return np.asarray(batch.marginals(scores).parts[batch.answer], dtype=np.float64)

    def marginals_of(self, model: Any) -> Array:
        """Return the same of another model, columns as in its ``classes_``."""
        if not hasattr(model, "predict_marginals"):
            raise InputError(f"{type(model).__name__} has no predict_marginals.")
        each = model.predict_marginals(self.pool.X, allowed=self.pool.known(model.classes_))
        flat = [np.asarray(one, dtype=np.float64).reshape(-1, len(model.classes_)) for one in each]
        return np.concatenate(flat)

    @cached_property
    def scored(self) -> ScoredBatch:
        """The scores of the model, −inf for labels that are not those known."""
        model = _parts_of(self.model)
        if model is None:
            raise InputError(f"{type(self.model).__name__} has no distribution over whole labellings.")
        found: ScoredBatch = model._batch(self.pool.X, None, self.pool.known(model.classes_))
        return found

    @cached_property
    def entropy(self) -> Array:
        """H(p(y|x, known)) of every item."""
        return np.asarray(self._sums.entropy(self.scored.scores))

    @cached_property
    def best_log_proba(self) -> Array:
        """Log-probability of the best labelling of every item, max_y log p(y|x, known)."""
        batch, scores = self._sums, self.scored.scores
        found = bounded_argmax(require_max(batch, "The best labelling"), scores)
        return at_most_one(np.asarray(found.value - batch.log_partition(scores)), batch)

    @cached_property
    def two_best(self) -> Array:
        """Scores of the two best labellings of every item, (S, 2); −inf where there is one only."""
        batch = self.scored.batch
        if not isinstance(batch, KBestOracle):
            raise InputError(f"The second best labelling needs a KBestOracle, not {type(batch).__name__}.")
        return np.asarray(batch.kbest(self.scored.scores, 2).value)

    @cached_property
    def features(self) -> Any:
        """The observations of all positions as the model reads them."""
        model = _parts_of(self.model)
        if model is None:
            raise InputError(f"{type(self.model).__name__} has no observations for a kernel to compare.")
        return matrix_of(model._read(self.pool.X, None).features)

    def kernel(self, kernel: Any) -> Kernel:
        """Return a kernel as it is on the observations of the pool."""
        return as_kernel(kernel).on(self.features)

    @property
    def _sums(self) -> Any:
        batch = self.scored.batch
        if not isinstance(batch, SumOracle | ApproximateSum):
            raise InputError(f"Probabilities need a SumOracle, which {type(batch).__name__} is not.")
        return batch


def _parts_of(model: Any) -> Any:
    """Return the sequence labeller that answers for a model; None if several do."""
    model = getattr(model, "model_", model)
    return model if hasattr(model, "_batch") else None
