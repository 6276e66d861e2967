"""``kf clusters``: Brown clusters of words from text, labelled or not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..errors import InputError
from ..features import BrownClusters
from ..files.reading import Reading, read_items
from ._errors import plain_errors
from ._options import (
    MAX_SIZE,
    MISSING,
    AsJson,
    Columns,
    Debug,
    Drop,
    Encoding,
    Format,
    LabelColumn,
    SequenceColumn,
    reading_of,
    table_of,
)


def clusters(
    data: Annotated[list[Path], typer.Argument(help="Sentences: CoNLL columns or .jsonl, labelled or not.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write: path, word, count.")],
    n_clusters: Annotated[int, typer.Option("-n", "--clusters", help="How many clusters.")] = 200,
    min_count: Annotated[int, typer.Option(help="Words that occur less often have no cluster.")] = 1,
    data_format: Format = None,
    encoding: Encoding = "utf-8",
    columns: Columns = None,
    sequence_column: SequenceColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Find Brown clusters of words: classes of words that stand beside the same words.

    Labels are not looked at, so take all the text there is; words are the first column. `kf train
    --clusters FILE` makes features of them.

    For example:
        kf clusters esp.train news.conll -o paths --clusters 500
        kf train esp.train --features ner --clusters paths
    """
    with plain_errors(debug):
        settings = BrownClusters(n_clusters, min_count)
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, MISSING, columns, MAX_SIZE, table=table)
        found = settings.fit([sentence for path in data for sentence in _words(path, reading)])
        found.write(out)
        count = len(set(found.paths.values()))
        summary = {"out": str(out), "words": len(found.paths), "clusters": count}
        text = f"{out}: {len(found.paths)} words in {count} clusters."
        typer.echo(json.dumps(summary) if as_json else text)


def _words(path: Path, reading: Reading) -> list[list[str]]:
    """Return the sentences of a file; whether its last column has labels does not matter."""
    items = list(read_items(path, reading.kind(path), reading, labelled=False))
    for item in items:
        if any(not isinstance(token, str | list | tuple) for token in item.x):
            raise InputError(f"{path} has numbers or features, but clusters are of words.")
    return [[token if isinstance(token, str) else token[0] for token in item.x] for item in items]
