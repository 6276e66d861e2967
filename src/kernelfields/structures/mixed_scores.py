"""Scores of several functions at once: probabilities are means of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy

from ..arrays import Array
from ._base import Scores


class MixedScores(dict[str, Array]):
    """Scores of a model, and θ_s of functions drawn from its posterior: p(y|x) = (1/S) Σ_s p(y|x, θ_s).

    As a mapping it has the scores of the mode (or mean), which decide where no average is known: the best
    output of a mixture is as hard to find as that of any product of distributions.

    Parameters
    ----------
    scores : scores
        Of the mode.
    components : sequence of scores
        Of the functions drawn, in the same shapes.
    """

    def __init__(self, scores: Scores, components: Sequence[Scores]) -> None:
        super().__init__(scores)
        self.components = tuple(dict(one) for one in components)

    def each(self, change: Callable[[dict[str, Array]], Scores]) -> MixedScores:
        """Return the same with a change of all scores, those of the mode included."""
        return MixedScores(change(dict(self)), [change(one) for one in self.components])


def changed(scores: dict[str, Array], change: Callable[[dict[str, Array]], Any]) -> Any:
    """Return scores with a change, of all functions where there are several."""
    return scores.each(change) if isinstance(scores, MixedScores) else change(scores)


def marginal_parts(batch: Any, scores: Scores) -> dict[str, Array]:
    """Return the marginals of a batch, or what stands for them; their mean over several functions."""
    if not isinstance(scores, MixedScores):
        found: dict[str, Array] = batch.marginals(scores).parts
        return found
    share = 1.0 / len(scores.components)
    result: dict[str, Array] = {}
    for one in scores.components:
        for clique, values in batch.marginals(one).parts.items():
            if clique in result:
                result[clique] += share * values
            else:
                result[clique] = share * values
    return result


def log_mean(scores: Scores, value: Callable[[Scores], Array]) -> Array:
    """Return log-probabilities that a function reads off scores; logs of their means over several."""
    if not isinstance(scores, MixedScores):
        return value(scores)
    several = [value(one) for one in scores.components]
    return np.asarray(scipy.special.logsumexp(several, axis=0) - np.log(len(several)))


def drawn_outputs(draw: Callable[[Scores, int, int], Array], scores: Scores, count: int, seed: int) -> Array:
    """Return draws of outputs; each from a function of its own, where there are several."""
    if not isinstance(scores, MixedScores):
        return draw(scores, count, seed)
    rng = np.random.default_rng(seed)
    which = rng.integers(len(scores.components), size=count)
    rows = [draw(scores.components[k], 1, int(rng.integers(2**31 - 1)))[0] for k in which]
    return np.stack(rows) if rows else draw(scores, 0, seed)
