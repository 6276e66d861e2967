"""Rules that name what they forbid."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from ._base import Forbidden, Rule


@dataclass(frozen=True)
class Constraints(Rule):
    """Label pairs, first and last labels that may not occur, by name.

    Names that are none of the labels forbid nothing, so that one set of rules serves training sets
    in which some labels are missing.

    Parameters
    ----------
    forbidden_pairs : collection of (label, next label)
        Neighbours in this order.
    forbidden_starts, forbidden_ends : collections of labels
        What the first, and the last, label may not be.

    Examples
    --------
    >>> rule = Constraints(forbidden_pairs=[("green", "red")], forbidden_starts=["red"])
    >>> rule.forbidden(["green", "red"]).pairs.tolist()
    [[False, True], [False, False]]
    """

    forbidden_pairs: Collection[tuple[Hashable, Hashable]] = ()
    forbidden_starts: Collection[Hashable] = ()
    forbidden_ends: Collection[Hashable] = ()

    def forbidden(self, names: Sequence[Hashable]) -> Forbidden:
        """Masks over labels with these names."""
        index = {name: k for k, name in enumerate(names)}
        result = Forbidden.nothing(len(names))
        for first, second in self.forbidden_pairs:
            if first in index and second in index:
                result.pairs[index[first], index[second]] = True
        for mask, labels in ((result.starts, self.forbidden_starts), (result.ends, self.forbidden_ends)):
            mask[[index[label] for label in labels if label in index]] = True
        return result
