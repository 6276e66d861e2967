"""Rules about states that have an order but no names, such as those of hidden Markov models."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..checks import Check, Checked, optional, whole
from ._base import Forbidden, Rule


@dataclass(frozen=True)
class LeftRight(Checked, Rule):
    """States never go back, and sequences start in the first state: for processes with stages.

    Parameters
    ----------
    step : int, optional
        How many states forward one step may go; any number if not given. With 1, no state is skipped.

    Examples
    --------
    >>> LeftRight(step=1).forbidden("abc").pairs.astype(int).tolist()
    [[0, 0, 1], [1, 0, 0], [1, 1, 0]]
    """

    step: int | None = None
    _checks: ClassVar[Mapping[str, Check]] = {"step": optional(whole(0, 2**63 - 1))}

    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Return what is forbidden, as masks over states in this order."""
        result = Forbidden.nothing(len(names))
        ahead = np.arange(len(names)) - np.arange(len(names))[:, None]
        far = len(names) if self.step is None else self.step
        result.pairs[(ahead < 0) | (ahead > far)] = True
        result.starts[1:] = True
        return result


@dataclass(frozen=True)
class Cyclic(Rule):
    """States stay or go on to the next, the last one to the first: for processes that repeat."""

    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Return what is forbidden, as masks over states in this order."""
        result = Forbidden.nothing(len(names))
        ahead = (np.arange(len(names)) - np.arange(len(names))[:, None]) % max(len(names), 1)
        result.pairs[ahead > 1] = True
        return result
