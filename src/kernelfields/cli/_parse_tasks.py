"""The structures whose outputs are trees or links, by name and by fitted model."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import native
from ..arrays import offsets_of
from ..errors import InputError
from ..files.reading import Reading, Source
from ..io.alignments import AlignmentLink, WordAlignment, naacl_lines, pharaoh_text
from ..io.brackets import bracketed, read_brackets
from ..io.conllu import COLUMNS, FORM, NOTHING, UPOS, ParsedSentence, conllu_lines, read_conllu
from ..io.parallel import parallel_text, read_parallel
from ..io.phrases import leaves_of, phrases_of
from ..metrics import alignment_error_rate, attachment_scores, bracket_scores
from ..models.model import fitted_structure
from ..report.constituencies import share_of
from ..structures import Bethe, Constituency, Dependency, Matching, with_leaves
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


TASKS: dict[str, ParseTask] = {
    task.name: task for task in (DependencyTask(), ConstituencyTask(), MatchingTask())
}


def task_of(model: Any) -> ParseTask | None:
    """Return what the commands do with a fitted model; None for one that labels positions."""
    if not hasattr(model, "structure_"):
        return None
    structure = fitted_structure(model)
    return next((task for task in TASKS.values() if task.takes(structure)), None)
