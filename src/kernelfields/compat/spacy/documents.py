"""Documents of spaCy as sequences of tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...errors import InputError

Part = list[Any]
"""Tokens of a sentence, or of a whole document."""


def declare_extensions() -> None:
    """Declare ``span._.probability``, ``doc._.label_marginals`` and ``token._.label_probabilities``, once."""
    from spacy.tokens import Doc, Span, Token

    for place, name in ((Span, "probability"), (Doc, "label_marginals"), (Doc, "label_names")):
        if not place.has_extension(name):
            place.set_extension(name, default=None)
    if not Token.has_extension("label_probabilities"):
        Token.set_extension("label_probabilities", getter=_probabilities)


def _probabilities(token: Any) -> dict[str, float] | None:
    """Return the probability of every label of a token."""
    marginals, names = token.doc._.label_marginals, token.doc._.label_names
    if marginals is None or token.is_space:
        return None
    return dict(zip(names, marginals[token.i].tolist(), strict=True))


def parts_of(doc: Any) -> Iterator[Part]:
    """Return the tokens of every sentence, or of the document if it has none; those of space are left out."""
    sentences = doc.sents if doc.has_annotation("SENT_START") else [doc]
    for sentence in sentences:
        part = [token for token in sentence if not token.is_space]
        if part:
            yield part


def tokens_of(part: Part, columns: Sequence[str]) -> list[Any]:
    """Return what models take: words, or tuples of columns."""
    try:
        rows = [tuple(str(getattr(token, name)) for name in columns) for token in part]
    except AttributeError as error:
        raise InputError(f"columns names what tokens of spaCy do not have: {error}.") from None
    return [row[0] for row in rows] if len(columns) == 1 else rows


def known_labels(part: Part) -> list[str | None]:
    """Return IOB2 tags, None where nothing is known."""
    result: list[str | None] = []
    for t, token in enumerate(part):
        letter = token.ent_iob_
        if letter in ("", "O"):
            result.append(letter or None)
            continue
        inside = letter == "I" and t > 0 and part[t - 1].ent_type_ == token.ent_type_
        result.append(f"{'I' if inside else 'B'}-{token.ent_type_}")
    return result
