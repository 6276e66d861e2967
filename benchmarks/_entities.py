"""CoNLL-2002 with the features of sklearn-crfsuite's tutorial: dictionaries, one per token."""

from __future__ import annotations

from typing import Any, NamedTuple

from kernelfields.datasets.folder import data_file
from kernelfields.io import read_conll

Item = dict[str, Any]


class Sentences(NamedTuple):
    """Features and labels."""

    items: list[list[Item]]
    labels: list[list[str]]


def read(part: str, limit: int | None = None) -> Sentences:
    """Read the first sentences of a part of the Spanish data."""
    items, labels = [], []
    for sentence in read_conll(data_file("conll2002", f"esp.{part}.gz")):
        if len(items) == limit:
            break
        words, tags, names = sentence.columns
        items.append([_item(words, tags, t) for t in range(len(words))])
        labels.append(list(names))
    return Sentences(items, labels)


def _item(words: list[str], tags: list[str], t: int) -> Item:
    word, tag = words[t], tags[t]
    item: Item = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    for shift, end in ((-1, "BOS"), (1, "EOS")):
        if 0 <= t + shift < len(words):
            word, tag = words[t + shift], tags[t + shift]
            item |= {
                f"{shift:+d}:word.lower()": word.lower(),
                f"{shift:+d}:word.istitle()": word.istitle(),
                f"{shift:+d}:word.isupper()": word.isupper(),
                f"{shift:+d}:postag": tag,
                f"{shift:+d}:postag[:2]": tag[:2],
            }
        else:
            item[end] = True
    return item
