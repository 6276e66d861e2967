"""Dependency trees for the commands: CoNLL-U in, CoNLL-U with heads, relations and probabilities out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import native
from ..arrays import offsets_of
from ..errors import InputError
from ..files.reading import Reading, Source
from ..io.conllu import COLUMNS, FORM, NOTHING, UPOS, ParsedSentence, conllu_lines, read_conllu
from ..metrics import attachment_scores
from ..structures import Dependency
from ._parses import ParseAnswer, ParseFile, ParseItem, ParseTask

CROSSING = 5
"""What native.dependency_fault says of arcs that cross."""


class DependencyTask(ParseTask):
    """Heads and relations of words."""

    name = "dependency"
    noun = "sentence"
    format = "conllu"
    cliques = "arcs"
    lists = ("conllu",)
    extra = "tags"

    def read(self, source: Source, reading: Reading) -> Iterator[ParseItem]:
        """Read sentences of CoNLL-U; words are FORM and UPOS, or the columns that a user names."""
        chosen = reading.columns or (FORM + 1, UPOS + 1)
        if max(chosen) > len(COLUMNS):
            raise InputError(f"--columns names column {max(chosen)}, but CoNLL-U has {len(COLUMNS)}.")
        for sentence in read_conllu(source, single_root=False, encoding=reading.encoding):
            yield _item(sentence, [column - 1 for column in chosen])

    def structure(self, data: ParseFile) -> Dependency:
        """Return a structure that has all trees: crossing arcs, several roots, relations if they have."""
        heads, relations = _parted(data.outputs)
        flat = np.concatenate([np.asarray(one, dtype=np.int32) for one in heads])
        starts = offsets_of([len(one) for one in heads])
        _, _, fault = native.dependency_fault(flat, starts, False, True)
        single = all(one.count(0) == 1 for one in heads)
        return Dependency(projective=fault != CROSSING, single_root=single, labels=relations or None)

    def takes(self, structure: Any) -> bool:
        """Return whether these are dependency trees."""
        return isinstance(structure, Dependency)

    def notes(self, structure: Any) -> list[str]:
        """Say what trees a model can answer."""
        kind = "projective trees" if structure.projective else "all trees, because some of the data cross"
        roots = "" if structure.single_root else ", with several roots"
        return [f"Dependency trees: {kind}{roots}."]

    def error(self, y_true: list[Any], y_pred: list[Any]) -> float:
        """Return the share of words with a wrong head."""
        return 1.0 - attachment_scores(y_true, y_pred).uas

    def lines(self, answer: ParseAnswer, to: str) -> Iterable[str]:
        """Return the sentence with its new arcs, their probabilities in MISC, the k best as comments."""
        heads, relations = answer.output if isinstance(answer.output, tuple) else (answer.output, None)
        places = [np.arange(len(heads)), np.asarray(heads, dtype=np.int64)]
        if relations is not None:
            index = {label: k for k, label in enumerate(answer.classes)}
            places.append(np.array([index[label] for label in relations], dtype=np.int64))
        shares = np.asarray(answer.marginals)[tuple(places)].tolist()
        names = None if relations is None else [str(label) for label in relations]
        arcs = answer.item.source.with_arcs(heads, names, shares)
        if answer.kbest is not None:
            several = (_comment(n, *one) for n, one in enumerate(answer.kbest, 1))
            arcs = replace(arcs, comments=(*arcs.comments, *several))
        return conllu_lines(arcs, answer.number, single_root=False)


def _comment(n: int, tree: Any, log_proba: float) -> str:
    """Return a tree as a comment: its log-probability, then head and relation of every word."""
    heads, relations = tree if isinstance(tree, tuple) else (tree, None)
    texts = (
        map(str, heads) if relations is None else (f"{h}:{r}" for h, r in zip(heads, relations, strict=True))
    )
    return f"# tree_{n} = {log_proba:.4f} {' '.join(texts)}"


def _item(sentence: ParsedSentence, columns: list[int]) -> ParseItem:
    words = sentence.words
    tokens = [tuple(row[c] for c in columns) if len(columns) > 1 else row[columns[0]] for row in words]
    heads, relations = sentence.heads, sentence.relations
    known = any(relation != NOTHING for relation in relations)
    y = None if heads is None else (heads, relations) if known else heads
    return ParseItem(tokens, y, sentence.forms, sentence.tags, sentence)


def _parted(outputs: list[Any]) -> tuple[list[list[int]], bool]:
    """Return the heads of all sentences, and whether there are relations."""
    labelled = [isinstance(output, tuple) for output in outputs]
    if any(labelled) and not all(labelled):
        raise InputError(f"Sentence {labelled.index(False)} has no relations, but others have.")
    return [output[0] if isinstance(output, tuple) else output for output in outputs], any(labelled)
