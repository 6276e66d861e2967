"""What many fits warned about, in a sentence or two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .bounded import End
from .racing import RaceAttempt


def notes_of(attempts: Sequence[RaceAttempt]) -> list[str]:
    """Return at most two sentences: fits that were not over, and the most frequent of other warnings."""
    slow = sum(one.end is End.OUT_OF_TIME for one in attempts)
    short = sum(one.unsettled and one.end is not End.OUT_OF_TIME for one in attempts)
    found = []
    if slow or short:
        parts = [f"{slow} at their share of the time"] if slow else []
        parts += [f"{short} at their limit of iterations"] if short else []
        found.append(
            f"{slow + short} of {len(attempts)} fits were compared before they had converged: "
            f"{', '.join(parts)}."
        )
    others = Counter(text for one in attempts for text in dict.fromkeys(one.warnings))
    if others:
        text, count = others.most_common(1)[0]
        more = len(others) - 1
        kinds = f", beside {more} other warnings" if more else ""
        found.append(f"{count} of {len(attempts)} fits warned{kinds}: {text}")
    return found
