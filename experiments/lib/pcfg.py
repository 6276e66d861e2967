"""Probabilistic context-free grammars: relative frequencies of a treebank, unknown words by their shape."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from kernelfields.arrays import Array
from kernelfields.io.phrases import leaves_of
from kernelfields.structures import Grammar, GrammarBatch, count_symbols, symbol_spans, tree_of
from kernelfields.structures.phrases import JOIN

Tokens = Sequence[tuple[str, str]]
"""(tag, word) of a sentence."""


@dataclass
class PCFG:
    """p(tree) = p(root) Π p(A → B C | A) Π p(word | symbol), all of them relative frequencies.

    The probability of a word given its symbol is smoothed towards that of its shape among words that
    training had once: for a symbol that was seen c times, c(word) times with this word,

        p(word | symbol) = (c(word) + β p(shape | symbol)) / (c + β).

    Parameters
    ----------
    horizontal, vertical : int
        How much of its surroundings a symbol knows, see `symbol_spans`.
    smoothing : float
        β.
    given_tags : bool
        Whether tags of words are known: then the words themselves do not count.
    """

    horizontal: int = 2
    vertical: int = 1
    smoothing: float = 1.0
    given_tags: bool = False
    grammar: Grammar = field(init=False, repr=False)
    rule_scores: Array = field(init=False, repr=False)

    def fit(self, trees: Sequence[Any]) -> Self:
        """Count."""
        counts = count_symbols(trees, self.horizontal, self.vertical)
        self.grammar = Grammar.from_counts(counts)
        parents: Counter[str] = Counter()
        for (parent, _, _), count in counts.rules.items():
            parents[parent] += count
        for symbol, count in counts.words.items():
            parents[symbol] += count
        self.rule_scores = np.log([counts.rules[rule] / parents[rule[0]] for rule in self.grammar.rules])
        self._root = {symbol: np.log(count / len(trees)) for symbol, count in counts.roots.items()}
        self._symbols = {
            symbol: (self.grammar.index[symbol], count, parents[symbol])
            for symbol, count in counts.words.items()
        }
        self._of_tag: dict[str, dict[int, float]] = defaultdict(dict)
        for symbol, (number, count, uses) in self._symbols.items():
            self._of_tag[symbol.split(JOIN)[-1]][number] = float(np.log(count / uses))
        self._count_words(trees)
        return self

    def batch(self, sentences: Sequence[Tokens]) -> tuple[GrammarBatch, dict[str, Array]]:
        """Return all trees of sentences with their scores: logarithms of probabilities."""
        batch = GrammarBatch([len(tokens) for tokens in sentences], self.grammar)
        span = np.zeros(batch.shapes["span"])
        for first, tokens in zip(batch.offsets.tolist(), sentences, strict=False):
            n = len(tokens)
            for k, (tag, word) in enumerate(tokens):
                row = span[first + k * (2 * n - k - 1) // 2 + k]
                row[:] = -np.inf
                for symbol, log_p in self._word_scores(tag, word).items():
                    row[symbol] = log_p
            whole = np.full(span.shape[1], -np.inf)
            whole[[self.grammar.index[symbol] for symbol in self._root]] = list(self._root.values())
            if n:
                span[first + n - 1] += whole
        return batch, {"span": span, "rule": self.rule_scores}

    def predict(self, sentences: Sequence[Tokens], size: int = 50) -> list[Any]:
        """Return the best trees, numbers of words as leaves; a flat one where the grammar has none."""
        result: list[Any] = []
        for start in range(0, len(sentences), size):
            part = sentences[start : start + size]
            batch, scores = self.batch(part)
            outputs, value = self.grammar.chart.argmax(*batch._arrays(scores))
            for s, tokens in enumerate(part):
                if not np.isfinite(value[s]):
                    result.append(("S", *range(len(tokens))) if len(tokens) > 1 else 0)
                    continue
                own = outputs[batch.output_offsets[s] : batch.output_offsets[s + 1]]
                result.append(self._tree(own, len(tokens)))
        return result

    def _tree(self, output: Array, n: int) -> Any:
        rows, symbols = np.divmod(output, len(self.grammar.symbols))
        begins, lasts = (part[rows].tolist() for part in np.triu_indices(n))
        labels = [self.grammar.labels[k] for k in symbols.tolist()]
        return tree_of((i, j + 1, label) for i, j, label in zip(begins, lasts, labels, strict=True))

    def _count_words(self, trees: Sequence[Any]) -> None:
        pairs: Counter[tuple[str, str]] = Counter()
        for tree in trees:
            singles = sorted(span for span in symbol_spans(tree) if span[1] - span[0] == 1)
            pairs.update(
                (symbol, word) for (_, _, symbol), (_, word) in zip(singles, leaves_of(tree), strict=True)
            )
        total: Counter[str] = Counter()
        for (_, word), count in pairs.items():
            total[word] += count
        self._of_word: dict[str, dict[str, int]] = defaultdict(dict)
        self._of_shape: dict[str, dict[str, int]] = defaultdict(dict)
        for (symbol, word), count in pairs.items():
            self._of_word[word][symbol] = count
            if total[word] == 1:
                shapes = self._of_shape[shape_of(word)]
                shapes[symbol] = shapes.get(symbol, 0) + 1

    def _word_scores(self, tag: str, word: str) -> dict[int, float]:
        """Log-probabilities of a word by symbol."""
        if self.given_tags:
            return self._of_tag.get(tag, {})
        seen, shapes = self._of_word.get(word, {}), self._of_shape.get(shape_of(word), {})
        found = {}
        for symbol in {*seen, *shapes} or set(self._symbols):
            number, count, parents = self._symbols[symbol]
            likely = shapes.get(symbol, 0) / count if seen or shapes else 1 / len(self._of_word)
            smoothed = (seen.get(symbol, 0) + self.smoothing * likely) / (count + self.smoothing)
            if smoothed > 0:
                found[number] = float(np.log(smoothed * count / parents))
        return found


def shape_of(word: str) -> str:
    """Return what can be seen of a word without knowing it: letters, digits, hyphens, and how it ends."""
    marks = [
        "C" if word[:1].isupper() else "",
        "A" if word.isupper() else "",
        "0" if any(c.isdigit() for c in word) else "",
        "-" if "-" in word else "",
        "." if not any(c.isalnum() for c in word) else "",
    ]
    endings = ("ing", "ion", "ed", "ly", "er", "est", "ity", "al", "ous", "s", "y")
    ending = next((end for end in endings if len(word) > len(end) + 2 and word.lower().endswith(end)), "")
    return "".join(marks) + ":" + ending
