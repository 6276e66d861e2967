"""Ready-made templates for chunking, named entities and parts of speech."""

from __future__ import annotations

from collections.abc import Mapping

from .templates import Templates, parse_templates

_CHUNKING = """
columns: w pos
w[-2..2]
w[-1] & w[0]
w[0] & w[1]
pos[-2..2]
pos[-2] & pos[-1]
pos[-1] & pos[0]
pos[0] & pos[1]
pos[1] & pos[2]
pos[-2] & pos[-1] & pos[0]
pos[-1] & pos[0] & pos[1]
pos[0] & pos[1] & pos[2]
"""

_NER = """
bias
w[-2..2]
lower(w[-1..1])
w[-1] & w[0]
w[0] & w[1]
digits(w[0])
shape(w[-2..2])
short_shape(w[-1..1])
short_shape(w[-1]) & short_shape(w[0])
short_shape(w[0]) & short_shape(w[1])
short_shape(w[-1]) & short_shape(w[0]) & short_shape(w[1])
lower(w[-1]) & short_shape(w[0])
short_shape(w[0]) & lower(w[1])
begin & short_shape(w[0])
end
prefix1(w[0])
prefix2(w[0])
prefix3(w[0])
prefix4(w[0])
suffix1(w[0])
suffix2(w[0])
suffix3(w[0])
suffix4(w[0])
suffix3(w[-1])
suffix3(w[1])
is_title(w[-1..1])
is_upper(w[-1..1])
is_lower(w[-1..1])
is_digits(w[-1..1])
has_digit(w[0])
has_hyphen(w[0])
is_punctuation(w[-1..1])
is_title(w[-1]) & is_title(w[0])
is_title(w[0]) & is_title(w[1])
"""

_NER_POS = """
pos[-2..2]
pos[-1] & pos[0]
pos[0] & pos[1]
pos[-1] & pos[0] & pos[1]
pos[0] & short_shape(w[0])
"""

_POS = """
columns: w
bias
w[-2..2]
lower(w[0])
w[-1] & w[0]
w[0] & w[1]
w[-1] & w[1]
prefix1(w[0])
prefix2(w[0])
prefix3(w[0])
prefix4(w[0])
suffix1(w[0])
suffix2(w[0])
suffix3(w[0])
suffix4(w[0])
suffix5(w[0])
suffix3(w[-1])
suffix3(w[1])
suffix2(w[-1]) & suffix2(w[0])
suffix2(w[0]) & suffix2(w[1])
short_shape(w[-1..1])
is_title(w[0])
is_title(w[0]) & begin
is_upper(w[0])
has_digit(w[0])
has_hyphen(w[0])
is_punctuation(w[0])
"""

CLUSTERS = """
cluster4(w[-2..2])
cluster6(w[-2..2])
cluster10(w[-2..2])
cluster20(w[-2..2])
"""
"""Starts of the paths of Brown clusters in a window of five [turian2010]."""

TEXTS: Mapping[str, str] = {
    "chunking": _CHUNKING,
    "ner": f"columns: w pos{_NER}{_NER_POS}",
    "pos": _POS,
}
"""All sets as texts, as `parse_templates` reads them, by name."""


def chunking(clusters: bool = False) -> Templates:
    """Return the 19 templates that CRF++ comes with for CoNLL-2000, over words and parts of speech.

    Words and parts of speech of a window of five, pairs of words, pairs and triples of parts of speech.
    ``clusters`` adds the Brown clusters of words, for `TemplateFeatures` with ``clusters=``.
    """
    return _with(TEXTS["chunking"], clusters)


def ner(pos: bool = True, clusters: bool = False) -> Templates:
    """Return templates for named entities, over words and, if ``pos``, parts of speech.

    ``clusters`` adds the Brown clusters of words, for `TemplateFeatures` with ``clusters=``.
    """
    return _with(TEXTS["ner"] if pos else f"columns: w{_NER}", clusters)


def pos(clusters: bool = False) -> Templates:
    """Return templates for parts of speech, over words.

    ``clusters`` adds the Brown clusters of words, for `TemplateFeatures` with ``clusters=``.
    """
    return _with(TEXTS["pos"], clusters)


def _with(text: str, clusters: bool) -> Templates:
    return parse_templates(text + CLUSTERS if clusters else text)
