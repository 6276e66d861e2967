"""What messages call the items of a structure: sequences have positions, trees have vertices."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """Names of items and of the places in them, for messages."""

    item: str
    items: str
    place: str
    places: str
    output: str = "labelling"

    def name(self, number: int, of: str = "") -> str:
        """Return "Tree 3", or "Tree 3 of X", as it stands at the beginning of a sentence."""
        return f"{self.item.capitalize()} {number}{of and f' of {of}'}"


SEQUENCES = Words("sequence", "sequences", "position", "positions")
TREES = Words("tree", "trees", "vertex", "vertices")
GRAPHS = Words("graph", "graphs", "vertex", "vertices")
GRIDS = Words("grid", "grids", "pixel", "pixels")
ROWS = Words("row", "rows", "label", "labels")
SENTENCES = Words("sentence", "sentences", "arc", "arcs", "tree")
PARSES = Words("sentence", "sentences", "span", "spans", "tree")
PAIRS = Words("item", "items", "pair", "pairs", "matching")
