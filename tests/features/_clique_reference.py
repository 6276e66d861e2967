"""The features of arcs, spans and pairs, slowly and obviously."""

from __future__ import annotations

from kernelfields.features import BETWEEN, CliqueKind, Template, TemplatePart, Templates, Transform

from . import _reference as slow


def cliques(kind: CliqueKind, first, second) -> list[tuple[int, int] | None]:
    """Places of the anchors, row by row; None for rows without features."""
    n = len(first)
    if kind is CliqueKind.ARCS:
        return [None if h == m else (h, m) for m in range(n) for h in range(-1, n)]
    if kind is CliqueKind.SPANS:
        return [(i, j) for i in range(n) for j in range(i, n)]
    return [(i, j) for i in range(n) for j in range(len(second))]


def far(distance: int) -> str:
    bins = [(5, None), (10, "6..10"), (20, "11..20"), (40, "21..40"), (10**9, "41..")]
    text = next(text or str(abs(distance)) for most, text in bins if abs(distance) <= most)
    return "-" + text if distance < 0 else text


def measured(transform: Transform, places, lengths) -> str:
    i, j = places
    if transform is Transform.DISTANCE:
        return far(j - i)
    if transform is Transform.STEPS:
        return str(max(-100, min(100, j - i)))
    if transform is Transform.DIRECTION:
        return "left" if j < i else "right" if j > i else "same"
    behind = (j + 0.5) / lengths[1] - (i + 0.5) / lengths[0]
    tenths = int(10 * (behind + 1)) - 10
    return f"{tenths / 10:.1f}" if tenths else "0.0"


def values(part: TemplatePart, templates: Templates, sides, places, boundaries: bool) -> list:
    """All values of a part; none, one, or several between anchors."""
    if part.transform.of_anchors:
        return [measured(part.transform, places, [len(side) for side in sides])]
    if part.anchor == BETWEEN:
        inside = sides[0][min(places) + 1 : max(places)]
        return list(dict.fromkeys(token[templates.columns.index(part.column)] for token in inside))
    k = templates.cliques.anchors.index(part.anchor)
    here = TemplatePart(part.column, part.offset, part.transform)
    found = slow.value(here, sides[k], places[k], templates.columns, boundaries)
    return [] if found is None else [found]


def found(template: Template, templates: Templates, sides, places, boundaries: bool) -> list:
    combinations = [()]
    for part in template.parts:
        several = values(part, templates, sides, places, boundaries)
        combinations = [(*before, value) for before in combinations for value in several]
    return [(template, combination) for combination in combinations]


def features(templates: Templates, items, boundaries: bool = True) -> list[list]:
    """For every clique the features it has, in the order of the templates."""
    rows = []
    for item in items:
        sides = item if templates.cliques is CliqueKind.PAIRS else (item, item)
        for places in cliques(templates.cliques, *sides):
            each = [] if places is None else templates.templates
            rows.append([f for t in each for f in found(t, templates, sides, places, boundaries)])
    return rows
