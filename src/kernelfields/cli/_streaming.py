"""Training from a file that is larger than memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ..errors import InputError, quoted
from ..estimators import CRF
from ..features import TemplateFeatures
from ..files.reading import Reading
from ..io import ConllSentences, ParquetSentences
from ..io.parquet import LABELS
from ..models.stream_chunks import columns_within
from ._fitting import Keeping, set_checkpoint, shown
from ._loaded import remember_reading
from ._models import Choice
from ._summary import summary_of
from ._tag_rules import REPAIR
from ._token_features import features_of

SOME = 1000
"""Sentences that templates are chosen by."""
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True)
class _Head:
    """The beginning of a file, as far as templates depend on it."""

    known: list[Any]
    """Labels."""
    n_columns: int
    is_text: bool = True
    is_joint: bool = False
    is_letters: bool = False


def bytes_of(text: str) -> int:
    """Read a size: 500M, 2G, 2GB, or bytes."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip(), re.IGNORECASE)
    if found is None:
        raise InputError(f"--memory-limit {quoted(text)} is no size; write it like 500M or 2G.")
    return int(float(found[1]) * UNITS[found[2].upper()])


@dataclass(frozen=True)
class _LabelledSentences:
    """Sentences, none of whose labels stands for a missing one."""

    sentences: ConllSentences
    missing: str

    def __iter__(self) -> Iterator[Any]:
        for s, (tokens, labels) in enumerate(self.sentences):
            if self.missing and self.missing in labels:
                place = labels.index(self.missing)
                raise InputError(
                    f"Sentence {s} has no label at position {place}, {self.missing}; "
                    "--memory-limit needs all of them."
                )
            yield tokens, labels


def train_stream(
    console: Console,
    paths: Sequence[Path],
    out: Path,
    choice: Choice,
    limit: str,
    reading: Reading,
    keep: Keeping,
) -> dict[str, Any]:
    """Train a linear CRF on files of sentences, which are read twice, and write it; return a summary."""
    _require_streamable(choice, reading)
    most, sentences = bytes_of(limit), _sentences(reading, paths)
    head = [one for one in islice(sentences, SOME) if one[0]]
    if not head:
        raise InputError(f"{paths[0]} has no sentences.")
    seen: Any = _Head([label for _, labels in head for label in labels], len(head[0][0][0]))
    found = features_of(seen, choice.features, choice.clusters)
    columns = columns_within(most, len(set(seen.known)))
    features = TemplateFeatures(found.templates, n_hash=columns, dtype=np.float32, clusters=found.clusters)
    model = CRF(features=features, constraints=None if choice.constraints == "none" else choice.constraints)
    for name in ("penalty", "tol", "max_iter"):
        if getattr(choice, name) is not None:
            model.set_params(**{name: getattr(choice, name)})
    set_checkpoint(model, "crf", keep)
    console.print(f"Features are hashed to {columns} columns, and kept in files.")
    done = shown(console, model, lambda: model.fit_stream(sentences, memory_limit=most), None)
    remember_reading(model, reading, "parquet")
    model.save(out)
    return summary_of(model, out, done.seconds, done.notes)


def _require_streamable(choice: Choice, reading: Reading) -> None:
    """Refuse what is not read sentence by sentence."""
    names = ("kernel", "gamma", "basis", "structure", "min_count")
    given = [name for name in names if getattr(choice, name) is not None]
    given += [name for name in ("columns", "parents") if getattr(reading, name) is not None]
    given += [f"constraints {REPAIR}"] if choice.constraints == REPAIR else []
    if given:
        raise InputError(f"--memory-limit does not go with --{given[0].replace('_', '-')}.")


def _sentences(reading: Reading, paths: Sequence[Path]) -> Iterable[Any]:
    """Return the sentences of files, all in one format; only in columns of text may a label be missing."""
    kinds = {reading.kind(path) for path in paths}
    if kinds == {"parquet"}:
        table = reading.named
        return ParquetSentences(tuple(paths), table.label or LABELS, table.drop)
    if kinds != {"conll"}:
        raise InputError("--memory-limit is for files of CoNLL columns, or for Parquet and Arrow files.")
    return _LabelledSentences(ConllSentences(tuple(paths), reading.encoding), reading.missing)
