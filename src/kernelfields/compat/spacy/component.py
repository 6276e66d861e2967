"""Labels of a fitted model for documents of spaCy."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays import Array
from ...checks import require_flag, require_share, require_whole
from ...errors import InputError
from ...estimators import CRF, load
from ...features import TemplateFeatures
from ...features.sets import ner
from ...metrics import entity_spans, has_entities
from ...models.entity_confidence import entity_confidence

SPANS_KEY = "kernelfields"
MODEL = "model.kf"
SETTINGS = ("columns", "least_probability", "overwrite", "marginals", "spans_key")


class SpacyLabeller:
    """A component of spaCy that labels tokens by a model.

    Labels such as "B-PER" become entities, ``doc.ents``; all others become ``token.tag_``. A document is cut
    at the ends of its sentences, if a component before has found some; tokens that are only space are left
    out.

    Parameters
    ----------
    model : path, fitted estimator or None
        A model file, which is read when it is first needed; None for one that `fit` or
        ``nlp.initialize`` trains.
    columns : list of str
        Attributes of tokens that are the columns the model was trained on: ["text"], or ["text", "tag_"].
    least_probability : float
        Entities that are less probable stay out of ``doc.ents``, but not out of ``doc.spans``.
    overwrite : bool
        Whether entities that a document has already go; otherwise those that overlap them are left out.
    marginals : bool
        Whether ``doc._.label_marginals`` and ``token._.label_probabilities`` are kept.
    spans_key : str
        Where all entities are in ``doc.spans``.
    name : str
        What the pipeline calls the component.
    """

    def __init__(
        self,
        model: Any = None,
        *,
        columns: Sequence[str] = ("text",),
        least_probability: float = 0.0,
        overwrite: bool = True,
        marginals: bool = True,
        spans_key: str = SPANS_KEY,
        name: str = SPANS_KEY,
    ) -> None:
        self.name = name
        self.columns = [str(column) for column in columns]
        if not self.columns:
            raise InputError("columns is empty; it must name an attribute of tokens, such as 'text'.")
        self.least_probability = require_share("least_probability", least_probability)
        self.overwrite = bool(require_flag("overwrite", overwrite))
        self.marginals = bool(require_flag("marginals", marginals))
        self.spans_key = spans_key
        self._path = Path(model) if isinstance(model, str | Path) else None
        self._model = None if isinstance(model, str | Path) else model
        declare_extensions()

    @property
    def model(self) -> Any:
        """The fitted estimator, whose file is read when it is first asked for; None if there is none.

        spaCy asks for attributes of components, this one among them, when they are added to a pipeline:
        here nothing may be refused.
        """
        return self._estimator() if self._has_model() else None

    def _has_model(self) -> bool:
        return self._model is not None or (self._path is not None and self._path.is_file())

    def _estimator(self) -> Any:
        if self._model is None:
            if self._path is None:
                raise InputError(
                    f"The component {self.name!r} has no model: name a file by config={{'model': ...}}, or "
                    "train one by nlp.initialize."
                )
            self._model = load(self._path)
        return self._model

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels of the model; types if they are those of entities. None as long as there is no model."""
        if not self._has_model():
            return ()
        names = [str(label) for label in self._estimator().classes_.tolist()]
        if not has_entities(names):
            return tuple(names)
        return tuple(sorted({name[2:] for name in names if name[1:2] == "-"}))

    def __call__(self, doc: Any) -> Any:
        """Label one document."""
        self._label([doc])
        return doc

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Label documents, some at a time."""
        size, documents = require_whole("batch_size", batch_size), iter(stream)
        while batch := list(islice(documents, size)):
            self._label(batch)
            yield from batch

    def fit(self, documents: Iterable[Any], estimator: Any = None) -> SpacyLabeller:
        """Train on documents of spaCy whose entities are known; ``ent_iob`` 0 says that one is not.

        Parameters
        ----------
        documents : iterable of Doc or Example
            Of an Example, the reference counts.
        estimator : estimator, optional
            Takes lists of tokens; otherwise a `CRF` with the templates of ``features="ner"``.
        """
        docs = [getattr(one, "reference", one) for one in documents]
        parts = [part for doc in docs for part in parts_of(doc)]
        if not parts:
            raise InputError("There are no tokens to learn from.")
        y = [known_labels(part) for part in parts]
        if estimator is None:
            estimator = CRF(features=ner(pos=len(self.columns) > 1))
        self._model = estimator.fit([tokens_of(part, self.columns) for part in parts], y)
        return self

    def initialize(self, get_examples: Callable[[], Iterable[Any]], *, nlp: Any = None) -> None:
        """Train on examples, as ``nlp.initialize`` asks; a component that was given a model keeps it."""
        if self._path is None and self._model is None:
            self.fit(get_examples())

    def score(self, examples: Iterable[Any], **_: Any) -> dict[str, Any]:
        """Return precision, recall and F1 of entities, as ``nlp.evaluate`` asks."""
        from spacy.scorer import get_ner_prf

        result: dict[str, Any] = get_ner_prf(examples)
        return result

    def to_disk(self, path: Any, *, exclude: Sequence[str] = ()) -> None:
        """Write model and settings to a folder."""
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(self._settings()), encoding="utf-8")
        if "model" not in exclude:
            self._estimator().save(folder / MODEL)

    def from_disk(self, path: Any, *, exclude: Sequence[str] = ()) -> SpacyLabeller:
        """Read model and settings from a folder."""
        folder = Path(path)
        self._take(json.loads((folder / "settings.json").read_text(encoding="utf-8")))
        if "model" not in exclude:
            self._model = load(folder / MODEL)
        return self

    def to_bytes(self, *, exclude: Sequence[str] = ()) -> bytes:
        """Return model and settings."""
        from spacy.util import to_bytes

        def model() -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                self._estimator().save(Path(folder) / MODEL)
                return (Path(folder) / MODEL).read_bytes()

        parts: dict[str, Any] = {"settings": self._settings, "model": model}
        result: bytes = to_bytes(parts, exclude)
        return result

    def from_bytes(self, data: bytes, *, exclude: Sequence[str] = ()) -> SpacyLabeller:
        """Take model and settings."""
        from spacy.util import from_bytes

        def model(content: bytes) -> None:
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / MODEL).write_bytes(content)
                self._model = load(Path(folder) / MODEL)

        parts: dict[str, Any] = {"settings": self._take, "model": model}
        from_bytes(data, parts, exclude)
        return self

    def _settings(self) -> dict[str, Any]:
        return {key: getattr(self, key) for key in SETTINGS}

    def _take(self, settings: dict[str, Any]) -> None:
        given = self._path if self._model is None else self._model
        vars(self).update(vars(SpacyLabeller(given, name=self.name, **settings)))

    def _label(self, docs: list[Any]) -> None:
        each = [list(parts_of(doc)) for doc in docs]
        parts = [part for one in each for part in one]
        X = [tokens_of(part, self._required_columns()) for part in parts]
        labels = self._estimator().predict(X)
        marginals = self._estimator().predict_marginals(X)
        sure = entity_confidence(self._estimator(), X, labels, marginals)
        first = 0
        for doc, own in zip(docs, each, strict=True):
            here = slice(first, first + len(own))
            first += len(own)
            if self.marginals:
                self._set_marginals(doc, own, marginals[here])
            if sure is None:
                _set_tags(own, labels[here])
            else:
                self._set_entities(doc, own, labels[here], sure[here])

    def _required_columns(self) -> list[str]:
        """Return the attributes of tokens; refuse others than the model was trained on."""
        extractor = getattr(self._estimator(), "features_", None)
        if isinstance(extractor, TemplateFeatures):
            names = extractor.templates.columns
            if len(names) != len(self.columns):
                raise InputError(
                    f"The model was trained on the columns {', '.join(names)}, but columns has "
                    f"{len(self.columns)}: {', '.join(self.columns)}."
                )
        return self.columns

    def _set_entities(
        self, doc: Any, parts: list[Part], labels: list[list[Any]], sure: list[list[float]]
    ) -> None:
        from spacy.tokens import Span, SpanGroup

        spans, probabilities = [], []
        for part, y, each in zip(parts, labels, sure, strict=True):
            for (start, stop, kind), probability in zip(entity_spans([list(y)])[0], each, strict=True):
                span = Span(doc, part[start].i, part[stop - 1].i + 1, label=kind or "entity")
                span._.probability = float(probability)
                spans.append(span)
                probabilities.append(float(probability))
        attributes = {"probabilities": probabilities}
        doc.spans[self.spans_key] = SpanGroup(doc, name=self.spans_key, spans=spans, attrs=attributes)
        kept = [] if self.overwrite else list(doc.ents)
        taken = {token.i for span in kept for token in span}
        likely = [one for one, p in zip(spans, probabilities, strict=True) if p >= self.least_probability]
        doc.set_ents([*kept, *(one for one in likely if taken.isdisjoint(token.i for token in one))])

    def _set_marginals(self, doc: Any, parts: list[Part], marginals: list[Array]) -> None:
        """Keep (T, L) probabilities; rows of tokens that are only space are 0."""
        names = [str(label) for label in self._estimator().classes_.tolist()]
        every = np.zeros((len(doc), len(names)), dtype=np.float32)
        for part, p in zip(parts, marginals, strict=True):
            every[[token.i for token in part]] = p
        doc._.label_marginals, doc._.label_names = every, names


def _set_tags(parts: list[Part], labels: list[list[Any]]) -> None:
    for part, y in zip(parts, labels, strict=True):
        for token, label in zip(part, y, strict=True):
            token.tag_ = "" if label is None else str(label)


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
