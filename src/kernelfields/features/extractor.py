"""Sparse binary features of tokens, arcs, spans and pairs from token columns, by templates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array, FeatureRows, Matrix
from ..checks import is_list, require_whole, shown, unknown_name
from ..errors import InputError
from ..native import FeatureIndex, Tokens, WordPaths, fit_features, hashed_features, pack_tokens
from ._settings import unusual
from .sets import TEXTS, ner
from .siblings import joined_siblings
from .tally import FeatureTally
from .templates import CliqueKind, Templates, parse_templates

if TYPE_CHECKING:
    from .brown import BrownClusters

Sentences = Sequence[Any]


class Packed(NamedTuple):
    """Sentences as the core reads them; of pairs, the second ones apart."""

    tokens: Tokens
    others: Tokens | None = None
    siblings: tuple[Array, Array] | None = None
    """Rows of siblings, and where those of each sentence begin."""


class TemplateFeatures:
    r"""Sparse 0/1 features of tokens: x_tj = 1 if the values around token t are those of feature j.

    With templates of arcs, spans, pairs or siblings (`CliqueKind`), the same for these: rows are then those
    of cliques, in the order that `CliqueKind` says, and lengths of sentences are their numbers of cliques.

    Features that occur in ``fit`` at least ``min_count`` times get a column, the most frequent first;
    ``transform`` drops all others. With ``n_hash`` there is no vocabulary: a hash of a feature is its
    column, which several features may share (their entries in a row add up), and ``fit`` learns nothing.
    Everything except reading Python's lists runs on all cores without the global lock.

    Parameters
    ----------
    templates : Templates or str
        What makes features: one of ``features.sets``, or text for ``parse_templates``.
    min_count : int
        Number of times that a feature must occur to get a column.
    n_hash : int, optional
        Number of columns for the hashing trick, a power of two up to 2**31.
    boundaries : bool
        Whether places beyond a sentence have values, as in CRF++: ``__BOS1__`` is the place before the
        first token, ``__EOS2__`` the second after the last. If not, a template that refers to them makes
        no feature there. Predicates never have values there.
    by_frequency : bool
        Order columns by frequency (better for caches) instead of by first appearance.
    dtype : float64 or float32
        Type of the matrix.
    clusters : BrownClusters, optional
        Fitted clusters for templates such as ``cluster6(w[0])``.

    Examples
    --------
    >>> features = TemplateFeatures("columns: w\nw[0]\nsuffix2(w[0])\nw[-1] & w[0]")
    >>> X, lengths = features.fit_transform([["walking", "talking"], ["walking"]])
    >>> X.shape, lengths.tolist()
    ((3, 5), [2, 1])
    >>> features.names()[:3]
    ['suffix2(w[0])=ng', 'w[0]=walking', 'w[-1]&w[0]=__BOS1__&walking']
    """

    def __init__(
        self,
        templates: Templates | str,
        min_count: int = 1,
        n_hash: int | None = None,
        *,
        boundaries: bool = True,
        by_frequency: bool = True,
        dtype: npt.DTypeLike = np.float64,
        clusters: BrownClusters | None = None,
    ) -> None:
        self.templates = parse_templates(templates) if isinstance(templates, str) else templates
        self.clusters = _require_clusters(self.templates, clusters)
        self.min_count = require_whole("min_count", min_count)
        if n_hash is not None:
            n_hash = require_whole("n_hash", n_hash, 2, 2**31)
            if min_count > 1 or n_hash & (n_hash - 1):
                raise InputError(
                    "n_hash must be a power of two from 2 to 2**31, and cannot be combined with min_count."
                )
        self.n_hash = n_hash
        self.boundaries = boundaries
        self.by_frequency = by_frequency
        self.dtype = np.dtype(dtype)
        self._index: FeatureIndex | None = None

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.n_hash if self.n_hash is not None else len(self._fitted())

    @property
    def fitted(self) -> bool:
        """Whether columns are known: by `fit`, or because features are hashed."""
        return self.n_hash is not None or self._index is not None

    def fit(self, sentences: Sentences) -> TemplateFeatures:
        """Learn the features of sentences.

        Parameters
        ----------
        sentences : list of sentences
            A sentence is a list of tokens: tuples or lists of strings, one per column (more are
            ignored), or plain strings if there is one column. Or it is a dictionary from names of
            columns to lists of strings. For templates of pairs, a list of pairs of sentences; for those of
            siblings, a list of pairs of a sentence and its siblings, (C, 3) words from 1 on: head, inner and
            outer word, the head itself, which may be 0, in the place of an inner word that is not there.
        """
        if self.n_hash is None:
            self._fit(self._pack(sentences))
        return self

    def fit_chunks(self, chunks: Iterable[Sentences]) -> TemplateFeatures:
        """Learn the features of sentences that do not fit into memory at once.

        The vocabulary is that of `fit` on all of them, however they are cut into chunks. In memory are one
        chunk at a time and the counts of all features, rare ones included.

        Parameters
        ----------
        chunks : iterable of lists of sentences
            What `fit` would take, piece by piece; gone through once.
        """
        if self.n_hash is None:
            tally = FeatureTally(self.templates)
            for chunk in chunks:
                tally.add(*self._counted(chunk))
            self.restore(tally.vocabulary(self.min_count, self.by_frequency))
        return self

    def transform(self, sentences: Sentences, keep: Array | None = None) -> Matrix:
        """Return a CSR matrix with a row for every token or clique, and how many each sentence has.

        Parameters
        ----------
        sentences : list of sentences
            As for `fit`.
        keep : booleans, optional
            Which cliques are looked at, one for every row: the others have no features.
        """
        return self.rows(sentences, keep).with_lengths()

    def fit_transform(self, sentences: Sentences, keep: Array | None = None) -> Matrix:
        """Fit, and transform the same sentences, which are read only once; ``keep`` as for `rows`."""
        tokens = self._pack(sentences)
        if self.n_hash is None:
            self._fit(tokens, keep)
        return self._rows(tokens, keep).with_lengths()

    def rows(self, sentences: Sentences, keep: Array | None = None) -> FeatureRows:
        """Return the result of `transform` as plain arrays; columns are in the order of the templates.

        ``keep``, of cliques, says which rows are looked at: the others are empty.
        """
        return self._rows(self._pack(sentences), keep)

    def names(self) -> list[str]:
        r"""Return the name of every column: template=values, with & and \ in values escaped by \."""
        return self._fitted().names(self.templates.texts())

    def export(self) -> dict[str, Array]:
        """Return the vocabulary as arrays, for a file; ``restore`` reads them."""
        return dict(zip(_STATE, self._fitted().state(), strict=True))

    def restore(self, arrays: Mapping[str, Array]) -> TemplateFeatures:
        """Use a vocabulary that ``export`` of the same templates returned, instead of calling ``fit``."""
        given = [np.ascontiguousarray(arrays[name], dtype=dtype) for name, dtype in _STATE.items()]
        codes, counts = self.templates.codes(), (len(self.templates.templates), len(self.templates.columns))
        text, ends, sizes, features = given
        try:
            text.tobytes().decode()
            if (text[ends[(ends >= 0) & (ends < len(text))]] & 0xC0 == 0x80).any():
                raise ValueError("a word ends inside a character")
            self._index = FeatureIndex(
                codes,
                *counts,
                self.boundaries,
                text,
                ends,
                sizes,
                features,
                self._paths(),
                self.templates.cliques,
            )
        except ValueError as error:
            raise InputError(f"The vocabulary is not that of these templates: {error}") from None
        return self

    def __repr__(self) -> str:
        """Return the settings that differ from their defaults."""
        usual = {"min_count": 1, "n_hash": None, "boundaries": True, "by_frequency": True, "clusters": None}
        return f"TemplateFeatures({', '.join([repr(self.templates), *unusual(self, usual)])})"

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        state["templates"] = str(self.templates)  # other formats than pickle have no enumerations
        state["_index"] = None if self._index is None else self.export()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, templates=parse_templates(state["templates"]), _index=None)
        if state["_index"] is not None:
            self.restore(state["_index"])

    def _fitted(self) -> FeatureIndex:
        if self._index is None:
            raise InputError(
                "Hashed features have no names and no vocabulary." if self.n_hash else "Call fit first."
            )
        return self._index

    def _pack(self, sentences: Sentences) -> Packed:
        columns, kind = list(self.templates.columns), self.templates.cliques
        with reworded():
            if kind is CliqueKind.PAIRS:
                first, second = _sides(sentences, "of sentences")
                return Packed(pack_tokens(first, columns), pack_tokens(second, columns))
            if kind is CliqueKind.SIBLINGS:
                first, rows = _sides(sentences, "(sentence, siblings)")
                return Packed(pack_tokens(first, columns), siblings=joined_siblings(rows))
            return Packed(pack_tokens(sentences, columns))

    def _fit(self, packed: Packed, keep: Array | None = None) -> None:
        codes, count = self.templates.codes(), len(self.templates.templates)
        settings = (self.boundaries, self.min_count, self.by_frequency, self._paths())
        kept = self._kept(keep)
        with reworded():
            self._index = fit_features(
                packed.tokens,
                codes,
                count,
                *settings,
                self.templates.cliques,
                packed.others,
                kept,
                packed.siblings,
            )

    def _counted(self, sentences: Sentences) -> tuple[dict[str, Array], Array]:
        """Return all features of sentences as they first appear, and how often they occur."""
        alone = TemplateFeatures(
            self.templates, boundaries=self.boundaries, by_frequency=False, clusters=self.clusters
        )
        packed = alone._pack(sentences)
        alone._fit(packed)
        return alone.export(), np.bincount(alone._rows(packed).indices, minlength=alone.n_features)

    def _paths(self) -> WordPaths | None:
        return None if self.clusters is None else self.clusters.core

    def _kept(self, keep: Array | None) -> Array | None:
        if keep is None:
            return None
        if self.templates.cliques in (CliqueKind.TOKENS, CliqueKind.SIBLINGS):
            kind = self.templates.cliques.name.lower()
            raise InputError(f"keep is for arcs, spans and pairs; these are templates of {kind}.")
        return np.ascontiguousarray(keep, dtype=bool).view(np.uint8)

    def _rows(self, packed: Packed, keep: Array | None = None) -> FeatureRows:
        kept = self._kept(keep)
        with reworded():
            indptr, indices, offsets = (
                self._fitted().rows(packed.tokens, packed.others, kept, packed.siblings)
                if self.n_hash is None
                else self._hashed(packed, self.n_hash, kept)
            )
        shape = (len(indptr) - 1, self.n_features)
        return FeatureRows(indptr, indices, None, offsets, shape, self.dtype)

    def _hashed(self, packed: Packed, columns: int, kept: Array | None) -> tuple[Array, Array, Array]:
        codes, texts, kind = self.templates.codes(), self.templates.texts(), self.templates.cliques
        bits = columns.bit_length() - 1
        settings = (self.boundaries, bits, self._paths(), kind)
        return hashed_features(packed.tokens, codes, texts, *settings, packed.others, kept, packed.siblings)


@contextmanager
def reworded() -> Iterator[None]:
    """Say what the core refuses as an error of what was given."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(str(error)) from None


def _sides(pairs: Any, what: str) -> tuple[list[Any], list[Any]]:
    """Return the first and the second parts of pairs."""
    if not is_list(pairs):
        raise InputError(f"Expected a list of pairs {what}.")
    for s, pair in enumerate(pairs):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"Pair {s} is not a pair {what}.")
    return [pair[0] for pair in pairs], [pair[1] for pair in pairs]


def _require_clusters(templates: Templates, clusters: Any) -> BrownClusters | None:
    """Refuse clusters that no template asks for, and templates that ask for clusters that are not there."""
    if clusters is None:
        if templates.of_clusters:
            raise InputError("The templates ask for Brown clusters: give fitted ones as clusters=.")
        return None
    from .brown import BrownClusters

    if not isinstance(clusters, BrownClusters):
        raise InputError(f"clusters is {shown(clusters)}; it must be BrownClusters.")
    if not templates.of_clusters:
        raise InputError("No template asks for clusters=; add some such as cluster6(w[0]).")
    clusters.require_fitted()
    return clusters


_STATE = {"bytes": np.uint8, "ends": np.int64, "sizes": np.int64, "features": np.int32}


_NAME = re.compile(r"[\w -]+")
"""What looks like the name of a set."""


def templates_of(given: str, n_columns: int | None = None) -> Templates:
    """Return the set of this name, or the templates that a text has.

    Parameters
    ----------
    given : str
        Name or text.
    n_columns : int, optional
        Columns of tokens, if they are known: entities are looked for in plain words, too.

    Examples
    --------
    >>> templates_of("ner").columns, templates_of("ner", n_columns=1).columns
    (('w', 'pos'), ('w',))
    """
    if given == "ner" and n_columns == 1:
        return ner(pos=False)
    if given in TEXTS:
        return parse_templates(TEXTS[given])
    try:
        return parse_templates(given)
    except InputError:
        if _NAME.fullmatch(given):
            raise unknown_name("features", given, TEXTS, ", or give templates") from None
        raise
