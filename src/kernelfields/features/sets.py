"""Ready-made templates: chunking, entities, parts of speech, letters; arcs, spans, pairs, siblings."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import InputError
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

_CHUNKING_MORE = """
bias
w[-2] & w[-1]
w[1] & w[2]
w[-1] & w[1]
lower(w[0])
prefix2(w[0])
prefix3(w[0])
prefix4(w[0])
suffix1(w[0])
suffix2(w[0])
suffix3(w[0])
suffix4(w[0])
shape(w[0])
short_shape(w[-1..1])
w[0] & pos[0]
w[-1] & pos[0]
pos[-1] & w[0]
w[0] & pos[1]
pos[0] & w[1]
w[-1] & pos[-1] & pos[0]
pos[-1] & w[0] & pos[1]
pos[-1] & pos[0] & w[1]
w[-1] & pos[0] & pos[1]
pos[-3]
pos[3]
w[-3]
w[3]
pos[-3] & pos[-2] & pos[-1] & pos[0]
pos[-2] & pos[-1] & pos[0] & pos[1]
pos[-1] & pos[0] & pos[1] & pos[2]
pos[0] & pos[1] & pos[2] & pos[3]
pos[-2] & pos[-1] & pos[0] & pos[1] & pos[2]
w[-1] & w[0] & w[1]
w[-2] & w[-1] & w[0]
w[0] & w[1] & w[2]
has_digit(w[0])
has_hyphen(w[0])
is_title(w[0])
is_upper(w[0])
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

_ARCS = """
columns: w pos
cliques: arcs
distance
pos[h] & distance
pos[m] & distance
w[h]
w[m]
w[h] & pos[h]
w[m] & pos[m]
pos[h] & pos[m]
pos[h] & pos[m] & distance
w[h] & pos[m]
w[h] & pos[m] & direction
pos[h] & w[m]
pos[h] & w[m] & direction
w[h] & w[m]
w[h] & pos[h] & pos[m] & direction
pos[h] & w[m] & pos[m] & direction
w[h] & pos[h] & w[m] & pos[m]
suffix3(w[h]) & suffix3(w[m])
pos[h] & suffix3(w[m])
suffix3(w[h]) & pos[m]
pos[h] & between(pos) & pos[m] & direction
pos[h] & pos[h+1] & pos[m-1] & pos[m] & direction
pos[h-1] & pos[h] & pos[m-1] & pos[m] & direction
pos[h] & pos[h+1] & pos[m] & pos[m+1] & direction
pos[h-1] & pos[h] & pos[m] & pos[m+1] & direction
pos[h] & pos[m-1] & pos[m] & direction
pos[h] & pos[m] & pos[m+1] & direction
pos[h-1] & pos[h] & pos[m] & direction
pos[h] & pos[h+1] & pos[m] & direction
"""

_SPANS = """
columns: w pos
cliques: spans
distance
w[i]
w[j]
pos[i] & pos[j]
pos[i] & pos[j] & distance
w[i] & pos[j]
pos[i] & w[j]
w[i] & w[j]
w[i] & distance
w[j] & distance
w[i-1]
w[j+1]
pos[i-1] & pos[i]
pos[j] & pos[j+1]
pos[i-1] & pos[j+1]
w[i-1] & w[i]
w[j] & w[j+1]
w[i-1] & w[j+1]
pos[i-1] & pos[i] & pos[j] & pos[j+1]
pos[i] & between(pos) & pos[j]
suffix3(w[i])
suffix3(w[j])
short_shape(w[i])
short_shape(w[j])
"""

_PAIRS = """
columns: w
cliques: pairs
relative
w[i] & w[j]
lower(w[i]) & lower(w[j])
prefix4(w[i]) & prefix4(w[j])
suffix3(w[i]) & suffix3(w[j])
short_shape(w[i]) & short_shape(w[j])
w[i] & relative
w[j] & relative
w[i-1] & w[i] & w[j]
w[i] & w[i+1] & w[j]
w[i] & w[j-1] & w[j]
w[i] & w[j] & w[j+1]
"""

_SIBLINGS = """
columns: w pos
cliques: siblings
pos[s] & pos[m] & direction
pos[s] & pos[m] & distance
pos[h] & pos[s] & pos[m] & direction
w[h] & pos[s] & pos[m] & direction
pos[h] & w[s] & pos[m] & direction
pos[h] & pos[s] & w[m] & direction
w[s] & w[m] & direction
w[s] & pos[m] & direction
pos[s] & w[m] & direction
w[h] & w[s] & pos[m]
"""

_LETTERS = """
columns: w
bias
w[-9..9]
w[-4] & w[-3]
w[-3] & w[-2]
w[-2] & w[-1]
w[-1] & w[0]
w[0] & w[1]
w[1] & w[2]
w[2] & w[3]
w[3] & w[4]
w[-6] & w[-5] & w[-4]
w[-5] & w[-4] & w[-3]
w[-4] & w[-3] & w[-2]
w[-3] & w[-2] & w[-1]
w[-2] & w[-1] & w[0]
w[-1] & w[0] & w[1]
w[0] & w[1] & w[2]
w[1] & w[2] & w[3]
w[2] & w[3] & w[4]
w[3] & w[4] & w[5]
w[4] & w[5] & w[6]
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
    "chunking-more": _CHUNKING + _CHUNKING_MORE,
    "ner": f"columns: w pos{_NER}{_NER_POS}",
    "pos": _POS,
    "arcs": _ARCS,
    "spans": _SPANS,
    "pairs": _PAIRS,
    "siblings": _SIBLINGS,
    "letters": _LETTERS,
}
"""All sets as texts, as `parse_templates` reads them, by name."""


def chunking(clusters: bool = False, more: bool = False) -> Templates:
    """Return the 19 templates that CRF++ comes with for CoNLL-2000, over words and parts of speech.

    Words and parts of speech of a window of five, pairs of words, pairs and triples of parts of speech.
    ``more`` adds spelling, words with parts of speech, triples of words, four and five parts of speech, and
    a window of seven: several times the time, and a quarter of a point of F1 on CoNLL-2000. ``clusters``
    adds the Brown clusters of words, for `TemplateFeatures` with ``clusters=``.
    """
    return _with(TEXTS["chunking-more" if more else "chunking"], clusters)


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


def letters(clusters: bool = False) -> Templates:
    """Return templates for letters of genes and proteins: a window of 19, pairs and triples near its middle.

    ``clusters`` is there for the form: letters have no Brown clusters, and True is refused.
    """
    if clusters:
        raise InputError("Letters have no Brown clusters.")
    return parse_templates(TEXTS["letters"])


def arcs() -> Templates:
    """Return templates for arcs of dependency trees, over words and parts of speech [mcdonald2005online].

    Both words and their parts of speech, alone and together, with direction and distance; the parts of speech
    between them, and of their neighbours.
    """
    return parse_templates(TEXTS["arcs"])


def siblings() -> Templates:
    """Return templates for neighbouring words of one head, over words and tags [mcdonald2006online].

    Their words and parts of speech, with each other and with those of the head.
    """
    return parse_templates(TEXTS["siblings"])


def spans() -> Templates:
    """Return templates for spans of a sentence, over words and parts of speech.

    First and last word of the span and the words around it, their parts of speech and spelling, those in
    between, and how long it is.
    """
    return parse_templates(TEXTS["spans"])


def pairs() -> Templates:
    """Return templates for pairs of words of two sentences: words, spelling, neighbours, places."""
    return parse_templates(TEXTS["pairs"])


def _with(text: str, clusters: bool) -> Templates:
    return parse_templates(text + CLUSTERS if clusters else text)
