"""Functions named by a participle or a preposition instead of a verb and its object."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .sources import Function, Module, functions

PARTICIPLE = re.compile(r"[a-z]+(ed|en)")
IRREGULAR = re.compile(
    r"begun|built|done|drawn|felt|found|gone|grown|heard|held|kept|known|laid|learnt|"
    r"lent|lost|made|meant|met|paid|said|sent|shown|shrunk|sold|sought|spent|stuck|"
    r"swept|taught|told|undone|understood|won|worn"
)
"""Participles with other endings; without cut, set and bound, which are verbs or nouns as well."""
NO_PARTICIPLES = re.compile(
    r"bed|breed|deepen|embed|even|exceed|feed|flatten|gen|hundred|indeed|lengthen|len|"
    r"listen|need|open|proceed|screen|seed|seven|shed|shorten|sharpen|speed|ten|then|"
    r"token|tighten|uneven|when|widen|women"
)
PREPOSITIONS = re.compile(
    r"about|above|across|after|along|among|apart|around|as|aside|at|before|below|beside|"
    r"between|beyond|by|for|from|in|inside|into|of|off|on|onto|over|per|through|to|"
    r"towards|under|upon|via|with|within|without"
)


def participle_names(everything: Sequence[Module]) -> list[str]:
    """Return the functions and methods whose whole name, underscores aside, is one of those words.

    Every definition counts, overridden ones and those inside functions included; properties do not,
    because attributes have no verbs (``model.fitted``), and neither do longer names (``memory_of``).
    """
    return sorted(
        f"{function.name}: {module.path.as_posix()}:{function.lineno}"
        for module in everything
        for function in functions(module.tree)
        if is_participle_or_preposition(function.name.strip("_")) and not _is_property(function)
    )


def is_participle_or_preposition(word: str) -> bool:
    """Tell whether a word is one of the two; `word` has no underscores around it."""
    if PARTICIPLE.fullmatch(word):
        return not NO_PARTICIPLES.fullmatch(word)
    return bool(IRREGULAR.fullmatch(word) or PREPOSITIONS.fullmatch(word))


def _is_property(function: Function) -> bool:
    """Tell whether a function is read as an attribute: ``@property``, ``@cached_property``, ``@x.setter``."""
    names = (getattr(node, "id", getattr(node, "attr", "")) for node in function.decorator_list)
    return any(name.endswith(("property", "setter")) for name in names)
