"""What a model holds, by name; and the same as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...estimators import CRF
from ...features import DictFeatures


class ParsedDump:
    """The inside of a model.

    Attributes
    ----------
    transitions : dict
        Weight by (label, next label).
    state_features : dict
        Weight by (attribute, label).
    header : dict
        Facts about the file, as strings.
    labels, attributes : dict
        Number, as a string, by name.
    """

    def __init__(self) -> None:
        self.header: dict[str, str] = {}
        self.labels: dict[str, str] = {}
        self.attributes: dict[str, str] = {}
        self.transitions: dict[tuple[str, str], float] = {}
        self.state_features: dict[tuple[str, str], float] = {}


def info_of(model: CRF, header: dict[str, str]) -> ParsedDump:
    """Look into a model."""
    assert isinstance(model.features_, DictFeatures)
    labels, attributes = model.classes_.tolist(), model.features_.names()
    result = ParsedDump()
    result.labels = {name: str(k) for k, name in enumerate(labels)}
    result.attributes = {name: str(k) for k, name in enumerate(attributes)}
    source, target = np.nonzero(model.transitions_)
    weights = model.transitions_[source, target].tolist()
    result.transitions = {
        (labels[i], labels[j]): w for i, j, w in zip(source.tolist(), target.tolist(), weights, strict=True)
    }
    table: Any = model.coef_.T.tocsr()
    rows = np.repeat(np.arange(len(attributes)), np.diff(table.indptr)).tolist()
    result.state_features = {
        (attributes[a], labels[k]): w
        for a, k, w in zip(rows, table.indices.tolist(), table.data.tolist(), strict=True)
    }
    counts = {
        "num_features": len(result.transitions) + len(result.state_features),
        "num_labels": len(labels),
        "num_attrs": len(attributes),
    }
    result.header = {name: str(count) for name, count in counts.items()} | header
    return result


def dump_lines(info: ParsedDump) -> Iterator[str]:
    """Write it down, as ``crfsuite dump`` does."""
    yield "FILEHEADER = {"
    yield from (f"  {name}: {value}" for name, value in info.header.items())
    for title, names in (("LABELS", info.labels), ("ATTRIBUTES", info.attributes)):
        yield from ("}", "", f"{title} = {{")
        yield from (f"  {number:>5}: {name}" for name, number in names.items())
    tables = (("TRANSITIONS", 1, info.transitions), ("STATE_FEATURES", 0, info.state_features))
    for title, kind, weights in tables:
        yield from ("}", "", f"{title} = {{")
        yield from (f"  ({kind}) {a} --> {b}: {weight:f}" for (a, b), weight in weights.items())
    yield from ("}", "")
