"""Word alignments for the commands: pairs of sentences in, links out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from ..files.reading import Reading, Source
from ..io.alignments import AlignmentLink, WordAlignment, naacl_lines, pharaoh_text
from ..io.parallel import parallel_text, read_parallel
from ..metrics import alignment_error_rate
from ..structures import Bethe, Matching
from ._parses import ParseAnswer, ParseFile, ParseItem, ParseTask


class MatchingTask(ParseTask):
    """Links between the words of two sentences."""

    name = "matching"
    noun = "pair"
    format = "parallel"
    outputs = ("pharaoh", "naacl")
    cliques = "pairs"
    extra = "possible"

    def read(self, source: Source, reading: Reading) -> Iterator[ParseItem]:
        """Read pairs of sentences; what is learnt are sure links."""
        for pair in read_parallel(source, encoding=reading.encoding):
            known = pair.alignment
            links = (None, []) if known is None else (known.sure, known.possible)
            yield ParseItem(pair[:2], links[0], pair[:2], links[1], pair)

    def structure(self, data: ParseFile) -> Matching:
        """Return matchings if every word is in one link at most; else sets with as many as the data have."""
        ends = (Counter(link[side] for link in links) for links in data.outputs for side in (0, 1))
        most = max((max(counts.values(), default=1) for counts in ends), default=1)
        return Matching(inference=Bethe()) if most == 1 else Matching(fertility=most)

    def takes(self, structure: Any) -> bool:
        """Return whether these are links."""
        return isinstance(structure, Matching)

    def notes(self, structure: Any) -> list[str]:
        """Say what links a model can answer."""
        if structure.fertility == 1:
            return ["Links: every word in one at most; probabilities are approximate."]
        return [f"Links: every word in {structure.fertility} at most, without probabilities."]

    def error(self, y_true: list[Any], y_pred: list[Any]) -> float:
        """Return the alignment error rate."""
        return alignment_error_rate(y_true, None, y_pred)

    def lines(self, answer: ParseAnswer, to: str) -> Iterable[str]:
        """Return the pair with its links, links alone, or a line for every link with its probability."""
        p = answer.marginals
        links = WordAlignment(
            tuple(AlignmentLink(i, j, True, None if p is None else float(p[i, j])) for i, j in answer.output)
        )
        if to == "naacl":
            return naacl_lines(answer.number + 1, links)
        if to == "pharaoh":
            return [pharaoh_text(links)]
        return [parallel_text(answer.item.source._replace(alignment=links), answer.number)]
