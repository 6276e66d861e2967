"""Constituency trees for the commands: Penn brackets in and out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..files.reading import Reading, Source
from ..io.brackets import bracketed, read_brackets
from ..io.phrases import leaves_of, phrases_of
from ..metrics import bracket_scores
from ..report.constituencies import share_of
from ..structures import Constituency, with_leaves
from ._parses import ParseAnswer, ParseFile, ParseItem, ParseTask

TOP = "TOP"
"""The label of a bracket without one around several trees."""


class ConstituencyTask(ParseTask):
    """Phrases over words and their tags."""

    name = "constituency"
    noun = "sentence"
    format = "brackets"
    cliques = "spans"
    outputs = ("jsonl",)
    lists = ("jsonl",)

    def read(self, source: Source, reading: Reading) -> Iterator[ParseItem]:
        """Read trees without function tags and traces; tokens are words and their tags."""
        for tree in read_brackets(source, functions=False, traces=False, encoding=reading.encoding):
            leaves = leaves_of(tree)
            named = tree if tree[0] else (TOP, *tree[1:])
            yield ParseItem([(word, tag) for tag, word in leaves], named, None, None, leaves)

    def structure(self, data: ParseFile) -> Constituency:
        """Return a structure with the labels of the data."""
        return Constituency().settled(data.outputs)

    def takes(self, structure: Any) -> bool:
        """Return whether these are constituency trees."""
        return isinstance(structure, Constituency)

    def error(self, y_true: list[Any], y_pred: list[Any]) -> float:
        """Return 1 − F1 of brackets."""
        return 1.0 - bracket_scores(y_true, y_pred).f1

    def lines(self, answer: ParseAnswer, to: str) -> Iterable[str]:
        """Return the tree on one line, with the probability of every phrase in JSON lines."""
        leaves = answer.item.source
        pairs = [tuple(leaf) for leaf in leaves]
        tree = with_leaves(answer.output, pairs)
        text = f"( {bracketed(tree)})"
        if to == self.format:
            return [text]
        phrases = [
            [*phrase, round(share_of(phrase, np.asarray(answer.marginals), answer.classes), 6)]
            for phrase in phrases_of(tree)
        ]
        row: dict[str, Any] = {"tokens": [leaf.word for leaf in leaves], "tree": text, "phrases": phrases}
        if answer.kbest is not None:
            row["kbest"] = [
                {"tree": f"( {bracketed(with_leaves(one, pairs))})", "log_probability": log_proba}
                for one, log_proba in answer.kbest
            ]
        return [json.dumps(row, ensure_ascii=False)]
