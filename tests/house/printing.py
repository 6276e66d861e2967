"""The readings as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .annotations import count_annotations, share_of_any
from .layout import count_lines
from .limits import LIMITS, exceeded, outdated
from .measuring import Measured


def walk_table(measured: Measured) -> Iterator[str]:
    """Yield a line per estimator and command: the files that it enters."""
    yield f"{'files entered':28}{'fit':>6}{'predict':>9}"
    for name, walk in measured.estimators.items():
        yield f"{name:28}{len(walk.fit):6}{len(walk.predict):9}"
    for name, files in measured.commands.items():
        yield f"kf {name:25}{len(files):6}"


def room_table(measured: Measured) -> Iterator[str]:
    """Yield a line per room."""
    any_counts = count_annotations(measured.modules)
    single = Counter(_room(place.split(" < ")[0]) for place in measured.places["single_client_modules"])
    participles = Counter(_room(place.split(": ")[1]) for place in measured.places["participle_names"])
    yield f"{'room':16}{'files':>6}{'lines':>7}{'one client':>12}{'Any, %':>8}{'participles':>13}"
    for room in sorted({module.room for module in measured.modules}):
        inside = [module for module in measured.modules if module.room == room]
        share = share_of_any([any_counts[room]]) if room in any_counts else 0.0
        row = f"{room:16}{len(inside):6}{count_lines(inside):7}{single[room]:12}"
        yield f"{row}{100 * share:8.1f}{participles[room]:13}"


def phrase_table(measured: Measured) -> Iterator[str]:
    """Yield a line per pattern of the prose lint, the most frequent first."""
    yield f"{'turn of phrase':24}{'hits':>6}"
    for name, count in Counter(hit.split(": ")[0] for hit in measured.places["prose_hits"]).most_common():
        yield f"{name:24}{count:6}"


def limit_table(measured: Measured) -> Iterator[str]:
    """Yield a line per meter: the number, its limit and its target."""
    too_many, behind = exceeded(measured.values), outdated(measured.values)
    yield f"{'':24}{'value':>8}{'limit':>8}{'target':>8}"
    for key, limit in LIMITS.items():
        verdict = "broken" if key in too_many else "set the limit to the value" if key in behind else "kept"
        target = "" if limit.target is None else f"{limit.target:g}"
        yield f"{key:24}{measured.values[key]:8}{limit.value:8}{target:>8}  {verdict}"


def _room(path: str) -> str:
    """Return the room of a file by its path."""
    return path.split("/")[0] if "/" in path else "."
