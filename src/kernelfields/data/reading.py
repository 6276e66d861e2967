"""X as users give it: links for the structure, features for the model, by an extractor if X holds tokens."""

from __future__ import annotations

from typing import Any

from ..arrays import Array
from ..structures import Structure
from .extraction import Extractor, extractor_for, read_rows, read_tokens
from .inputs import Inputs, read_inputs


def read_to_fit(
    structure: Structure,
    features: Any,
    X: Any,
    lengths: Any,
    *,
    fitted: Extractor | None = None,
    names: Array | None = None,
    verbatim: bool = False,
    binary: bool = False,
) -> tuple[Inputs, Extractor | None]:
    """Read X to learn from; return the extractor that read it, too.

    Parameters
    ----------
    structure : Structure
        What takes the links out of X.
    features : setting
        What an estimator was told to look at in tokens.
    X, lengths
        What the user gave.
    fitted : Extractor, optional
        An extractor of an earlier fit, which stays as it is.
    names : (D,) array, optional
        Names of columns, in the order that frames are brought into.
    verbatim : bool
        Whether strings are observations themselves.
    binary : bool
        Whether a flat sparse matrix of booleans stays one.
    """
    X, parts = structure.split(X, lengths)
    extractor = extractor_for(features, X, verbatim=verbatim) if fitted is None else fitted
    if extractor is None:
        inputs = read_inputs(X, lengths, names=names, binary=binary)
    else:
        inputs = read_tokens(extractor, X, fit=fitted is None)
    return linked(structure, inputs, parts), extractor


def read_to_predict(
    structure: Structure,
    extractor: Extractor | None,
    X: Any,
    lengths: Any,
    width: int,
    names: Array | None,
    *,
    missing: bool = False,
    as_rows: bool = False,
) -> Inputs:
    """Read X as a fitted model does; ``as_rows`` asks an extractor for rows instead of a matrix."""
    X, parts = structure.split(X, lengths)
    if extractor is None or lengths is not None:
        inputs = read_inputs(X, lengths, width, names=names, missing=missing)
    else:
        inputs = (
            read_rows(extractor, X)
            if as_rows and structure.labelling
            else read_tokens(extractor, X, fit=False)
        )
    return linked(structure, inputs, parts)


def linked(structure: Structure, inputs: Inputs, parts: Any) -> Inputs:
    """Return inputs with the links of a whole batch."""
    return inputs if parts is None else inputs._replace(links=structure.links(parts, inputs.offsets))
