"""The features of tokens that models use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..features import BrownClusters, TemplateFeatures, Templates, TokensAndArrays, each
from ..features.sets import chunking, letters, ner, pos
from ..features.templates import parse_templates
from ..files.items import FileData
from ..io.opening import is_pipe, opened_file
from ..metrics import has_entities


def features_of(data: FileData, given: str | None, clusters: str | None = None) -> Any:
    """Return the features of tokens, a named set or templates; None for numbers and dictionaries.

    Numbers beside tokens are scaled, and make a block of features of their own.

    ``clusters`` is the file of Brown clusters that named sets look at, too.
    """
    tokens = _features_of(data, given, clusters)
    if not data.is_joint:
        return tokens
    from sklearn.preprocessing import StandardScaler

    return TokensAndArrays(tokens, arrays=each(StandardScaler()))


def _features_of(data: FileData, given: str | None, clusters: str | None) -> Any:
    if not data.is_text:
        for name, value in (("features", given), ("clusters", clusters)):
            if value is not None:
                raise InputError(f"--{name} is for tokens; these data have numbers or features already.")
        return None
    if given is None:
        given = "letters" if data.is_letters else "ner" if has_entities(data.known) else "pos"
    templates = _templates(given, data.n_columns, clusters is not None)
    if templates.of_clusters != (clusters is not None):
        missing = (
            "asks for Brown clusters; add --clusters FILE" if clusters is None else "asks for no --clusters"
        )
        raise InputError(f"--features {given} {missing}.")
    if len(templates.columns) > data.n_columns:
        raise InputError(
            f"--features {given} looks at {len(templates.columns)} columns, {', '.join(templates.columns)}, "
            f"but tokens have {data.n_columns}."
        )
    found = None if clusters is None else BrownClusters.read(clusters)
    return TemplateFeatures(_wide(templates, data.n_columns), dtype=np.float32, clusters=found)


def _templates(given: str, n_columns: int, clusters: bool) -> Templates:
    sets: dict[str, Callable[..., Templates]] = {
        "ner": partial(ner, n_columns > 1),
        "pos": pos,
        "chunking": chunking,
        "letters": letters,
    }
    if given in sets:
        return sets[given](clusters=clusters)
    return templates_in(given, "one of ner, pos, chunking, letters")


def templates_in(given: str, names: str) -> Templates:
    """Read the templates of a file; what is no file might have been meant as one of the names."""
    if not Path(given).is_file() and not is_pipe(given):
        raise InputError(f"--features {given}: neither a file of templates nor {names}.")
    try:
        with opened_file(given) as file:
            return parse_templates(file.read().decode())
    except UnicodeDecodeError as error:
        raise InputError(f"--features {given}: not a text in UTF-8: {error.reason}.") from None


def unused_columns(model: Any) -> str | None:
    """Return a note on columns of tokens that no feature uses."""
    extractor = getattr(model, "features", None)
    extractor = extractor.tokens if isinstance(extractor, TokensAndArrays) else extractor
    if not isinstance(extractor, TemplateFeatures):
        return None
    seen = {part.column for template in extractor.templates.templates for part in template.parts}
    unused = [f"{c} ({name})" for c, name in enumerate(extractor.templates.columns, 1) if name not in seen]
    if not unused:
        return None
    return f"No feature uses column {', '.join(unused)} of tokens; --features FILE can."


def _wide(templates: Templates, n_columns: int) -> Templates:
    """Name all columns, unused ones too, so that a model knows the width of its tokens."""
    more = range(len(templates.columns), n_columns)
    names = (f"column{c}" if f"column{c}" not in templates.columns else f"other{c}" for c in more)
    return replace(templates, columns=(*templates.columns, *names))
