"""Sequences, trees and graphs as a model takes them, and what does not fit it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..data.reading import Verbatim
from ..errors import InputError, quoted
from ..estimators import SequencePipeline
from ..features import ArrayTokens, DictFeatures, MissingValues, TemplateFeatures, TokensAndArrays
from ..files.items import LINKS, GraphInput, TreeInput
from ..tables import STRUCTURES
from ..trials.preparing import inner
from ._loaded import takes_symbols
from ._structures import WHERE, structure_named

SPACES = 2
"""Number of spaces in the only token of a sequence that suggests a sentence that was not split."""


class Suit:
    """Adapts inputs from a file to a model, or refuses them; every adaptation is reported once.

    A model that was trained on several columns takes tokens as columns, as objects that name them (by the
    names of its templates, or as ``word``, ``column1``, …) and as words, whose other columns are then empty.

    Parameters
    ----------
    model : estimator
        Fitted, or about to be fitted to these sequences or trees.
    say : callable
        Takes a sentence for the user.
    hint : str
        What to do about tokens that are too wide.
    """

    def __init__(
        self, model: Any, say: Callable[[str], Any], hint: str = "--columns takes some of them"
    ) -> None:
        piped = isinstance(model, SequencePipeline)
        self.width = vars(model).get("n_features_in_") if piped else None
        model = inner(model)
        given = getattr(model, "features_", None)
        self.extractor = None if isinstance(given, MissingValues) else given  # which takes numbers
        asked = getattr(model, "features", None) if given is None else given
        self.joint, self.fitted = isinstance(asked, TokensAndArrays), given is not None
        if isinstance(given, TokensAndArrays):
            self.extractor = given.tokens_
        self.symbols = takes_symbols(model) or isinstance(self.extractor, Verbatim)
        fitted = hasattr(model, "n_features_in_")
        self.numbers = (self.extractor is None and not self.symbols and fitted) or piped
        self.structure = structure_named(model)
        self.say, self.hint = say, hint
        self._said: set[str] = set()
        self._count = 0

    def __call__(self, inputs: list[Any]) -> list[Any]:
        """Return items that the model takes."""
        first, self._count = self._count, self._count + len(inputs)
        return [self._shaped(x, first + s) for s, x in enumerate(inputs)]

    def _shaped(self, x: Any, n: int) -> Any:
        """Return a tree to a model of trees, a graph to one of graphs, a sequence to others."""
        given = "tree" if isinstance(x, TreeInput) else "graph" if isinstance(x, GraphInput) else "chain"
        name, words = STRUCTURES[given].words.name(n), STRUCTURES[self.structure].words
        if given != self.structure and self.structure == "chain":
            links = LINKS[given]
            raise InputError(
                f"{name} has {links}, but the model labels sequences; --flat leaves the {links} out."
            )
        if given != self.structure:
            raise InputError(
                f"{name} has no {LINKS[self.structure]}, but the model labels {words.items}: "
                f"{WHERE[self.structure]}."
            )
        return self._one(x, name) if given == "chain" else x._replace(features=self._one(x.features, name))

    def _one(self, x: Any, where: str) -> Any:
        if isinstance(x, ArrayTokens):
            if not self.joint:
                raise InputError(f"{where} has numbers beside its tokens, which the model does not take.")
            return ArrayTokens(self._tokens(x, where), x.numbers)
        if self.joint and self.fitted:
            raise InputError(f"{where} has no numbers beside its tokens: the model needs --dense.")
        return self._tokens(x, where)

    def _tokens(self, x: Any, where: str) -> Any:
        if isinstance(x, np.ndarray):
            if self.symbols or self.extractor is not None:
                raise InputError(f"{where} has numbers, but the model labels tokens.")
            if self.width is not None and x.shape[1] != self.width:
                found = _columns(x.shape[1])
                raise InputError(f"{where} has {found}, but the model was trained on {self.width}.")
            return x
        if self.numbers:
            raise InputError(f"{where} has tokens, but the model labels numbers.")
        self._look_for_sentences(x, where)
        if isinstance(self.extractor, TemplateFeatures):
            return self._columned(x, self.extractor.templates.columns, where)
        if isinstance(self.extractor, DictFeatures) and any(isinstance(token, str) for token in x):
            raise InputError(f"{where} has words, but the model takes objects of features, as in JSON lines.")
        return [self._symbol(token, where) for token in x] if self.symbols else x

    def _look_for_sentences(self, x: list[Any], where: str) -> None:
        if len(x) == 1 and isinstance(x[0], str) and x[0].strip().count(" ") >= SPACES:
            self._once(
                f"{where} is one token with spaces, {quoted(x[0], 40)}, and gets one label: "
                "give every token by itself."
            )

    def _columned(self, x: list[Any], names: tuple[str, ...], where: str) -> list[Any]:
        """Return tokens as columns; words and complete tokens, nearly all there are, together."""
        kinds = set(map(type, x))
        if len(names) == 1 and kinds == {str}:
            return list(x)
        if kinds == {str}:
            self._without(names[1:])
            blank = ("",) * (len(names) - 1)
            return [(token, *blank) for token in x]
        if len(names) > 1 and kinds == {tuple} and set(map(len, x)) == {len(names)}:
            return list(x)
        return [self._token(token, names, where) for token in x]

    def _token(self, token: Any, names: tuple[str, ...], where: str) -> Any:
        """Return the columns of a token."""
        if isinstance(token, dict):
            token = self._named(token, names, where)
        elif isinstance(token, str):
            token = (token,)
        if len(token) > len(names):
            raise InputError(
                f"{where} has tokens of {_columns(len(token))}, {quoted(' '.join(token), 40)}, but the model "
                f"was trained on {len(names)}; {self.hint}."
            )
        if 1 < len(token) < len(names):
            raise InputError(
                f"{where} has tokens of {_columns(len(token))}, but the model was trained on {len(names)}: "
                f"{', '.join(names)}."
            )
        if len(token) < len(names):
            self._without(names[1:])
        padded = (*token, *("" for _ in range(len(names) - len(token))))
        return padded if len(names) > 1 else padded[0]

    def _named(self, token: dict[str, Any], names: tuple[str, ...], where: str) -> tuple[str, ...]:
        """Return the columns that an object names."""
        keys = [(name, "word" if c == 0 else f"column{c}") for c, name in enumerate(names)]
        found = [next((token[key] for key in both if key in token), None) for both in keys]
        if not isinstance(found[0], str):
            known = " or ".join(map(repr, dict.fromkeys(keys[0])))
            raise InputError(f"{where} has an object without a text {known}, the token itself.")
        empty = [name for name, value in zip(names, found, strict=True) if not isinstance(value, str)]
        if empty:
            self._without(empty)
        return tuple(value if isinstance(value, str) else "" for value in found)

    def _symbol(self, token: Any, where: str) -> Any:
        """Return the first column, which is all that hidden Markov models and kernels on words look at."""
        if isinstance(token, dict):
            return self._named(token, ("word",), where)[0]
        if isinstance(token, tuple):
            if len(token) > 1:
                self._once("The model uses the first column of tokens only.")
            return token[0]
        return token

    def _without(self, names: Any) -> None:
        self._once(
            f"The model was trained with {', '.join(names)} beside the words, which these tokens lack: "
            "expect more errors."
        )

    def _once(self, sentence: str) -> None:
        kind = sentence.split(" ", 2)[-1][:40]
        if kind not in self._said:
            self._said.add(kind)
            self.say(sentence)


def _columns(count: int) -> str:
    return f"{count} columns" if count > 1 else "one column"
