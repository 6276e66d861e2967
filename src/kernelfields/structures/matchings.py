"""Matchings and links as a setting of estimators."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ..arrays import Array
from ..checks import Check, require_flag, shown, whole
from ..errors import InputError
from ._pair_settings_base import PairStructure
from ._pairs_base import PairBatch
from .bethe_matching import Bethe, BetheMatchingBatch
from .links import LinkBatch, require_prices
from .matching import MatchingBatch


@dataclass(frozen=True)
class Matching(PairStructure):
    """Matchings: pairs of rows and columns, such as words of a sentence and of its translation, each in one.

    An item of X is an (m, n, D) array with the features of all pairs, or a pair (rows, (m, n)): features of
    the m·n pairs, those of the first row first, in any form that positions of a sequence may have, and their
    shape; or two lists of tokens, for templates of pairs (``features="pairs"``). An item of y is a list of
    pairs (i, j), counted from 0, in any order; predictions are such lists, sorted.
    `predict_marginals` has an (m, n) array per item.

    Parameters
    ----------
    complete : bool
        Whether everything on the shorter side is in a pair; else whatever gains by it is.
    fertility : int
        In how many pairs a row or column can be. With 1 these are matchings, by assignment; with more they
        are found by flows of least cost.
    prices : sequence of float
        What the second, third, … pair of a row or column costs, for ``fertility`` above 1; one price for
        each, or a single one that is multiplied by 1, 2, …
    inference : Bethe, optional
        How to approximate sums over matchings, which log losses and probabilities need; there are no exact
        ones.

    Examples
    --------
    >>> import numpy as np
    >>> from kernelfields import StructuredSVM
    >>> X = [np.eye(3)[:, [1, 0, 2], None], np.eye(2)[:, :, None]]
    >>> y = [[(0, 1), (1, 0), (2, 2)], [(0, 0), (1, 1)]]
    >>> model = StructuredSVM(penalty=0.1, structure=Matching()).fit(X, y)
    >>> model.predict([np.eye(2)[:, ::-1, None]])
    [[(0, 1), (1, 0)]]
    """

    complete: bool = False
    fertility: int = 1
    prices: Any = (1.0,)
    inference: Bethe | None = None

    _checks: ClassVar[Mapping[str, Check]] = {"complete": require_flag, "fertility": whole(1, 2**15)}

    def __post_init__(self) -> None:
        """Refuse what cannot be, or not together."""
        super().__post_init__()
        object.__setattr__(self, "prices", require_prices("prices", self.prices))
        if len(self.prices) not in (1, self.fertility - 1):
            raise InputError(
                f"prices has {len(self.prices)} numbers, expected one, or {self.fertility - 1}: "
                "for each pair of a row or column after the first."
            )
        if self.inference is not None and not isinstance(self.inference, Bethe):
            raise InputError(f"inference is {shown(self.inference)}; it must be Bethe(...) or None.")
        for name in ("complete", "inference"):
            if getattr(self, name) and self.fertility > 1:
                raise InputError(f"{name} goes with fertility=1 only, not with fertility={self.fertility}.")

    def on(
        self, offsets: Array, links: Any, n_labels: int, *, own: Collection[str] = frozenset()
    ) -> PairBatch:
        """Return all matchings, or all sets of links."""
        if self.fertility > 1:
            prices = self.prices
            if len(prices) < self.fertility - 1:
                prices = tuple(prices[0] * k for k in range(1, self.fertility))
            return LinkBatch(links, prices).untied(own)
        if self.inference is None:
            return MatchingBatch(links, self.complete).untied(own)
        return BetheMatchingBatch(links, self.complete, self.inference).untied(own)

    def _fault(self, table: Array) -> str:
        for side, degrees in (("row", table.sum(axis=1)), ("column", table.sum(axis=0))):
            if degrees.max(initial=0) > self.fertility:
                k = int(degrees.argmax())
                return f": {side} {k} is in {degrees[k]} pairs; fertility={degrees[k]} allows that"
        if self.complete and table.sum() < min(table.shape):
            return f" has {table.sum()} pairs, expected {min(table.shape)}; complete=False allows that"
        return ""
