"""X as users give it: links for the structure, features for the model, by an extractor if X holds tokens."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from scipy import sparse

from ..arrays import Array, offsets_of
from ..checks import as_list
from ..errors import InputError
from ..features import DictFeatures, MissingValues, TemplateFeatures, Templates, TokensAndArrays
from ..features.extractor import templates_of
from ..structures import SEQUENCES, Structure, Words
from .inputs import Inputs, read_inputs


class Verbatim:
    """Takes tokens as they are, for kernels that compare other things than numbers."""

    def fit_transform(self, X: Any) -> tuple[Any, list[int]]:
        """Nothing is learnt."""
        return self.transform(X)

    def transform(self, X: Any) -> tuple[Any, list[int]]:
        """Return the tokens of all sequences, one behind the other, as an array of objects."""
        tokens = [token for sequence in X for token in sequence]
        result = np.empty(len(tokens), dtype=object)
        result[:] = tokens
        return result, [len(sequence) for sequence in X]


Extractor = TemplateFeatures | DictFeatures | MissingValues | TokensAndArrays | Verbatim

FeatureSetting = str | Templates | TemplateFeatures | DictFeatures | MissingValues | TokensAndArrays | None
"""What to look at in tokens: the name of a set, templates, an extractor; None for arrays and dictionaries."""


def extractor_for(features: FeatureSetting, X: Any, *, verbatim: bool = False) -> Extractor | None:
    """Return a new extractor: the one asked for; one for dictionaries if X has them; none for arrays.

    With ``verbatim``, strings are observations themselves.
    """
    if isinstance(features, TemplateFeatures | DictFeatures | MissingValues | TokensAndArrays):
        return copy.copy(features)
    if isinstance(features, Templates):
        return TemplateFeatures(features, dtype=np.float32)
    if isinstance(features, str):
        return TemplateFeatures(templates_of(features, _n_columns(X)), dtype=np.float32)
    if features is not None:
        raise InputError(
            f"features={features!r} is neither the name of a set, nor templates, nor an extractor."
        )
    token = _first_token(X)
    if isinstance(token, str) and verbatim:
        return Verbatim()
    if isinstance(token, str):
        raise InputError(
            "X holds plain strings: say with features= what to look at, for example features='pos'."
        )
    return DictFeatures(dtype=np.float32) if _attributes(token) else None


def _first_token(X: Any) -> Any:
    X = as_list(X)
    if not isinstance(X, list | tuple):
        return None
    return next((sentence[0] for sentence in X if isinstance(sentence, list | tuple) and sentence), None)


def _n_columns(X: Any) -> int | None:
    """Return the number of columns of tokens, 1 of plain words; None where X does not say."""
    token = _first_token(X)
    if isinstance(token, list | tuple):
        return len(token)
    return 1 if isinstance(token, str) else None


def _attributes(token: Any) -> bool:
    """Whether a token is a dictionary or a collection of strings."""
    if isinstance(token, dict | set | frozenset):
        return True
    return isinstance(token, list | tuple) and bool(token) and all(isinstance(item, str) for item in token)


def read_tokens(
    extractor: Extractor, X: Any, *, fit: bool, words: Words = SEQUENCES, keep: Array | None = None
) -> Inputs:
    """Return the features of sentences, which the extractor also learns from if asked to.

    ``keep`` says for which rows of cliques there are features.
    """
    if isinstance(X, list | tuple):
        for s, sentence in enumerate(X):
            if hasattr(sentence, "columns") or sparse.issparse(sentence):
                kind = type(sentence).__name__
                raise InputError(
                    f"{words.name(s, 'X')} is a {kind}; with features= it must be a list of tokens."
                )
    assert not isinstance(extractor, MissingValues)
    more = {} if keep is None else {"keep": keep}
    matrix, lengths = extractor.fit_transform(X, **more) if fit else extractor.transform(X, **more)
    return Inputs(matrix, offsets_of(lengths), None)


def read_incomplete(
    structure: Structure,
    extractor: MissingValues,
    X: Any,
    lengths: Any,
    *,
    fit: bool,
    names: Array | None = None,
) -> Inputs:
    """Return numbers with those that are missing filled in, which the extractor learns from if asked to."""
    if extractor.method == "interpolate" and (structure.linked or not structure.in_sequences):
        kind = type(structure).__name__
        raise InputError(f"MissingValues('interpolate') is for sequences in time, which {kind} has not.")
    width = None if fit else extractor.n_features_in_
    names = names if fit else extractor.fitted_names
    inputs = read_inputs(X, lengths, width, names=names, missing=True, words=structure.words)
    if fit:
        extractor.fit_rows(inputs.features, inputs.names)
    filled = extractor.fill(inputs.features, inputs.offsets)
    known = None if inputs.names is None else extractor.get_feature_names_out(inputs.names)
    return Inputs(filled, inputs.offsets, known)


def read_rows(extractor: Extractor | None, X: Any) -> Inputs:
    """Return the features of sentences to predict, as rows."""
    assert isinstance(extractor, TemplateFeatures | DictFeatures)
    rows = extractor.rows(X)
    return Inputs(rows, rows.offsets, None)


def read_to_fit(
    structure: Structure,
    features: FeatureSetting,
    X: Any,
    lengths: Any,
    *,
    fitted: Extractor | None = None,
    names: Array | None = None,
    verbatim: bool = False,
    binary: bool = False,
    missing: bool = False,
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
    missing : bool
        Whether NaN is let through, as a value that is missing.
    """
    X, parts = structure.split(X, lengths)
    extractor = extractor_for(features, X, verbatim=verbatim) if fitted is None else fitted
    _require_cliques(structure, extractor)
    if extractor is None:
        inputs = read_inputs(X, lengths, names=names, binary=binary, missing=missing, words=structure.words)
    elif isinstance(extractor, MissingValues):
        inputs = read_incomplete(structure, extractor, X, lengths, fit=fitted is None)
    else:
        keep = _kept(structure, extractor, parts)
        inputs = read_tokens(extractor, X, fit=fitted is None, words=structure.words, keep=keep)
    return linked(structure, inputs, parts), extractor


def _require_cliques(structure: Structure, extractor: Extractor | None) -> None:
    """Refuse templates of other cliques than those that the structure has a row for."""
    if not isinstance(extractor, TemplateFeatures):
        return
    given, wanted = extractor.templates.cliques.name.lower(), structure.cliques
    if given != wanted:
        name = type(structure).__name__
        hint = "" if wanted == "tokens" else f", as features={wanted!r} is"
        raise InputError(f"features are templates of {given}; {name} needs templates of {wanted}{hint}.")


def _kept(structure: Structure, extractor: Extractor, parts: Any) -> Array | None:
    """Return which cliques are looked at, where the links of items say so."""
    return structure.kept(parts) if isinstance(extractor, TemplateFeatures) and parts is not None else None


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
    if isinstance(extractor, MissingValues):
        inputs = read_incomplete(structure, extractor, X, lengths, fit=False)
    elif extractor is None or lengths is not None:
        inputs = read_inputs(X, lengths, width, names=names, missing=missing, words=structure.words)
    else:
        inputs = (
            read_rows(extractor, X)
            if as_rows and structure.labelling and not isinstance(extractor, TokensAndArrays)
            else read_tokens(
                extractor, X, fit=False, words=structure.words, keep=_kept(structure, extractor, parts)
            )
        )
    return linked(structure, inputs, parts)


def linked(structure: Structure, inputs: Inputs, parts: Any) -> Inputs:
    """Return inputs with the links of a whole batch."""
    if parts is None:
        return inputs
    return structure.spread(inputs._replace(links=structure.links(parts, inputs.offsets)))
