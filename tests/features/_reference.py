"""The same features, slowly and obviously, with Python's own notion of characters."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

from kernelfields.features import Template, TemplatePart, Templates, Transform

Sentence = Sequence[Sequence[str]]


def kind(c: str) -> str:
    if c.isupper() or unicodedata.category(c) == "Lt":
        return "X"
    if c.islower():
        return "x"
    if c.isdecimal():
        return "d"
    if c.isascii():
        return "p" if "!" <= c <= "~" else "?"
    return "p" if unicodedata.category(c)[0] in "PS" else "l"


def shape(word: str) -> str:
    return "".join({"l": "x", "p": c, "?": c}.get(kind(c), kind(c)) for c in word)


def once(text: str) -> str:
    return "".join(c for k, c in enumerate(text) if k == 0 or text[k - 1] != c)


def small(c: str) -> str:
    return c.lower() if len(c.lower()) == 1 else c


@cache
def transformed(transform: Transform, w: str) -> str | None:
    kinds = [kind(c) for c in w]
    name = transform.name.lower()
    if name.startswith(("prefix", "suffix")):
        n = int(name[-1])
        return None if len(w) < n else w[:n] if name.startswith("prefix") else w[-n:]
    values = {
        "word": lambda: w,
        "lower": lambda: "".join(map(small, w)),
        "shape": lambda: shape(w),
        "short_shape": lambda: once(shape(w)),
        "digits": lambda: "".join("0" if c.isdecimal() else c for c in w),
    }
    if name in values:
        return values[name]()
    predicates = {
        "is_digits": set(kinds) == {"d"},
        "has_digit": "d" in kinds,
        "is_title": kinds[:1] == ["X"] and "X" not in kinds[1:],
        "is_upper": "X" in kinds and "x" not in kinds,
        "is_lower": "x" in kinds and "X" not in kinds,
        "has_hyphen": any(c in "-\u2010\u2011" for c in w),
        "is_punctuation": set(kinds) == {"p"},
    }
    return "1" if predicates[name] else None


def value(part: TemplatePart, sentence: Sentence, t: int, columns: Sequence[str], boundaries: bool):
    """None, or something that only equal values are equal to."""
    if part.transform.of_place:
        return "1" if t == (0 if part.transform is Transform.BEGIN else len(sentence) - 1) else None
    at = t + part.offset
    if 0 <= at < len(sentence):
        return transformed(part.transform, sentence[at][columns.index(part.column)])
    if not boundaries or Transform.IS_DIGITS <= part.transform <= Transform.IS_PUNCTUATION:
        return None
    return ("BOS", -at) if at < 0 else ("EOS", at - len(sentence) + 1)


def feature(template: Template, sentence: Sentence, t: int, columns: Sequence[str], boundaries: bool):
    values = tuple(value(part, sentence, t, columns, boundaries) for part in template.parts)
    return None if None in values else (template, values)


def features(templates: Templates, sentences: Sequence[Sentence], boundaries: bool = True) -> list[list]:
    """For every token the features it has, in the order of the templates."""
    return [
        [
            found
            for template in templates.templates
            if (found := feature(template, sentence, t, templates.columns, boundaries)) is not None
        ]
        for sentence in sentences
        for t in range(len(sentence))
    ]


def vocabulary(rows: list[list], min_count: int = 1, by_frequency: bool = True) -> dict:
    counts = Counter(f for row in rows for f in row)
    kept = [f for f in counts if counts[f] >= min_count]  # in order of first appearance
    if by_frequency:
        kept.sort(key=lambda f: -counts[f])
    return {f: column for column, f in enumerate(kept)}


def escaped(v) -> str:
    if isinstance(v, tuple):
        return f"__{v[0]}{v[1]}__"
    text = v.replace("\\", "\\\\").replace("&", "\\&")
    return "\\" + text if v.startswith("__") else text


def name(f) -> str:
    template, values = f
    return str(template) + ("=" + "&".join(map(escaped, values)) if values else "")
