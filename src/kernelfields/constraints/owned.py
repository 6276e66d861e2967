"""Rules about labels, for the hidden states that labels own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from ._base import Forbidden, Rule


@dataclass(frozen=True)
class OwnedRule(Rule):
    """A rule about labels as one about hidden states, which are numbers: a state may do what its label may.

    Parameters
    ----------
    rule : Rule
        What is forbidden among labels.
    labels : list
        The label of every state.

    Examples
    --------
    >>> from kernelfields.constraints import IOB2, OwnedRule
    >>> OwnedRule(IOB2, ["O", "O", "B-x", "I-x"]).forbidden([0, 1, 2, 3]).pairs.tolist()[0]
    [False, False, False, True]
    """

    rule: Rule
    labels: Sequence[Hashable]

    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Return what is forbidden, as masks over states."""
        every = list(self.labels)
        states = [s for s in names if isinstance(s, int) and 0 <= s < len(every)]
        if len(states) < len(names):
            raise InputError(f"OwnedRule is about {len(every)} states; it must be given their numbers.")
        distinct = list(dict.fromkeys(every))
        masks = self.rule.forbidden(distinct)
        owner = np.array([distinct.index(every[s]) for s in states], dtype=np.int64)
        return Forbidden(masks.pairs[np.ix_(owner, owner)], masks.starts[owner], masks.ends[owner])
