"""Results as notebooks show them: tables of an evaluation, of tuning, of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .description import BasisFunction, Description, describe
from .markup import element, escape

MOST = 20
"""Rows of a table."""


def evaluation_card(found: Any) -> str:
    """Return the numbers of a test, then those of entities, or of labels."""
    numbers = [
        ("wrong labels", f"{found.token_error:.2%}"),
        (f"{found.noun}s with a wrong label", f"{found.sequence_error:.2%}"),
        ("−log p per position", f"{found.nll:.4f}"),
        ("Brier score", f"{found.brier:.4f}"),
        ("calibration error", f"{found.ece:.2%}"),
    ]
    head = f"{found.model} on {found.n_tokens:,} positions of {found.n_sequences:,} {found.noun}s"
    if found.entities is None:
        return _framed(head, [_table((), numbers)], [found.warning])
    numbers.insert(0, ("entity F1", f"{found.entities.overall.f1:.2%}"))
    rows = [
        (name, f"{one.precision:.1%}", f"{one.recall:.1%}", f"{one.f1:.1%}")
        for name, one in found.entities.by_type.items()
    ]
    return _framed(
        head, [_table((), numbers), _table(("entity", "precision", "recall", "F1"), rows)], [found.warning]
    )


def tuning_card(found: Any) -> str:
    """Return the settings that were tried, best first."""
    rows = [
        (one.label, f"{one.mean:.4f}", "scouting" if one.folds == 0 else one.folds, f"{one.seconds:.1f} s")
        for one in found.tried
    ]
    head = f"Chosen: {found.tried[0].label}"
    return _framed(head, [_table(("settings", found.criterion, "folds", "time"), rows)], found.notes)


def comparison_card(found: Any) -> str:
    """Return the models that were compared, best first, and those that refused the data."""
    rows = [
        (
            name,
            f"{one.token_error:.2%} ± {one.standard_error:.2%}",
            f"{one.above_best:+.2%}",
            one.folds,
            f"{one.seconds:.1f} s",
            one.note,
        )
        for name, one in found.models.items()
    ]
    refused = [f"{name}: {why}" for name, why in found.refused.items()]
    header = ("model", "wrong labels", "above the best", "folds", "time of a fit", "")
    return _framed(
        f"Best: {next(iter(found.models), 'none')}", [_table(header, rows)], [*refused, *found.notes]
    )


def _table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; first columns are text, others numbers."""
    lines = [element("tr", *(element("th", escape(name), style=CELL) for name in header))] if header else []
    lines += [
        element("tr", *(element("td", escape(cell), style=CELL) for cell in row)) for row in rows[:MOST]
    ]
    if len(rows) > MOST:
        lines.append(element("tr", element("td", escape(f"… and {len(rows) - MOST} more"), style=CELL)))
    return element("table", *lines, style="border-collapse:collapse;margin:.3em 0;background:none")


def _framed(head: str, tables: Sequence[str], notes: Sequence[str | None]) -> str:
    said = "".join(element("div", escape(note)) for note in notes if note)
    title = element("strong", escape(head))
    return element("div", title, *tables, said, class_="kernelfields-result", style=FRAME)


LABELS, GROUPS, STRONGEST = 24, 12, 5
"""Labels written out, labels whose features are, and how many of each."""
LONGEST = 60
"""Letters of a label or feature that are shown."""
# Colours are those of the page around it, which may be light or dark.
LINE = "1px solid color-mix(in srgb, currentColor 25%, transparent)"
FRAME = f"border:{LINE};border-radius:6px;padding:.5em .8em;max-width:46em;overflow-x:auto;text-align:left"
CELL = "padding:.1em .8em .1em 0;vertical-align:top;text-align:left;background:none;border:none;color:inherit"


def card(model: Any) -> str:
    """Return a fitted model as HTML, without scripts and without anything from elsewhere."""
    return _card(describe(model, STRONGEST))


def _card(found: Description) -> str:
    head = element("strong", escape(found.estimator)) + escape(", fitted")
    rows = "".join(
        element("tr", element("td", escape(name), style=CELL), element("td", text, style=CELL))
        for name, text in _rows(found)
    )
    table = element("table", rows, style="border-collapse:collapse;margin:.3em 0;background:none")
    inner = "".join(map(_card, found.parts))
    if inner:
        inner = element("details", element("summary", escape(f"made of {len(found.parts)}")), inner)
    return element("div", head, table, _strongest(found), inner, class_="kernelfields-model", style=FRAME)


def _rows(found: Description) -> list[tuple[str, str]]:
    """What there is to say, in short lines."""
    rows = [("settings", element("code", escape(found.settings), style="white-space:pre-wrap"))]
    names = ", ".join(_short(label) for label in found.labels[:LABELS])
    more = f", … ({len(found.labels)})" if len(found.labels) > LABELS else ""
    rows.append(("labels", escape(names + more)))
    rows += [(name, escape(text)) for name, text in _sizes(found) + _trust(found) if text]
    return rows


def _sizes(found: Description) -> list[tuple[str, str]]:
    features = [
        f"{found.n_features:,} features" if found.n_features is not None else "",
        f"{found.n_weights:,} weights" if found.n_weights is not None else "",
        f"{found.n_basis:,} basis functions" if found.n_basis is not None else "",
    ]
    trained = found.provenance
    seen = [f"{trained[name]:,} {name}" for name in ("sequences", "positions") if name in trained]
    return [
        ("structure", found.structure),
        ("kernel", found.kernel or ""),
        ("size", ", ".join(text for text in features if text)),
        ("trained on", ", ".join(seen)),
    ]


def _trust(found: Description) -> list[tuple[str, str]]:
    """Certificate, temperature and guarantee."""
    known, trust = found.certificate, found.trust
    gap = ""
    if "objective" in known:
        gap = (
            f"objective {known['objective']:.6g}, at most "
            f"{_share(known['certified_relative_gap'])} above the best there is"
        )
    scaled = ""
    if "temperature" in trust:
        scaled = f"temperature {trust['temperature']:.3g}, by {trust['recalibrated_by']}"
    promised = trust.get("answers_with_5_percent_errors", "")
    if isinstance(promised, dict):
        promised = "; ".join(f"{_short(name)}: {text}" for name, text in promised.items())
    promised = promised.replace("none", "nothing")
    promise = f"answers {promised}, by {trust['calibrated_by']}" if promised else ""
    return [
        ("certificate", gap),
        ("stopped", str(known.get("stopped", ""))),
        ("recalibrated", scaled),
        ("errors at most 5 %", promise),
    ]


def _strongest(found: Description) -> str:
    """The strongest features, or basis functions, of the first labels, folded away."""
    groups = [[(_short(one.name), one.weight, one.label) for one in group] for group in found.features] or [
        [(_place(one), one.coefficient, one.label) for one in group] for group in found.basis
    ]
    filled = [group for group in groups if group][:GROUPS]
    if not filled:
        return ""
    rows = [
        element("td", element("strong", escape(_short(group[0][2]))), style=CELL)
        + element("td", escape(" · ".join(f"{name} {value:+.3g}" for name, value, _ in group)), style=CELL)
        for group in filled
    ]
    what = f"features of each label, by {found.strength}"
    if not found.features:
        what = "functions of each label: sequence:position in the training set, and coefficient"
    table = element("table", *(element("tr", row) for row in rows), style="border-collapse:collapse")
    return element("details", element("summary", escape(f"strongest {what}")), table)


def _place(one: BasisFunction) -> str:
    """Say which observation it is: where it stands in the training set, if it is one of it."""
    return _short(one.observation) if one.sequence < 0 else f"{one.sequence}:{one.position}"


def _short(thing: object) -> str:
    text = str(thing)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _share(gap: float) -> str:
    return f"{gap:.2%}" if gap >= 1e-4 else f"{gap:.0e} of it"
