"""The best tree of a PCFG that was read off the sample of the Penn Treebank, beside NLTK's ViterbiParser.

NLTK gets short sentences, for it takes minutes for long ones; its probabilities are compared with ours first.
The rate is that of sentences of up to 40 words on all cores, scores included.

This file is also the program that another Python runs: `python _parsing_grammar.py GRAMMAR.json`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MOST_WORDS = 40


def measured(quick: bool) -> tuple[list[Any], dict[str, Any] | str]:
    """Return bars, and what was measured; nothing where there is no treebank."""
    from experiments.lib.pcfg import PCFG
    from kernelfields.datasets import load_ptb_trees
    from kernelfields.errors import MissingDataError
    from kernelfields.io.phrases import leaves_of

    from . import _parsing_rivals, _run

    try:
        trees = load_ptb_trees().trees[: 60 if quick else None]
    except MissingDataError:
        return [], "not measured: there is no treebank"
    split = 9 * len(trees) // 10
    model = PCFG(horizontal=1).fit(trees[:split])
    test = [leaves_of(tree) for tree in trees[split:]]
    test = [[tuple(leaf) for leaf in leaves] for leaves in test if len(leaves) <= MOST_WORDS]
    start = time.perf_counter()
    model.predict(test)
    rate = len(test) / (time.perf_counter() - start)
    row: dict[str, Any] = {
        "symbols": len(model.grammar.symbols),
        "rules": len(model.grammar.rules),
        "sentences_a_second": rate,
    }
    bars = [] if quick else [_run.Bar("pcfg_sentences_a_second", rate, at_least=100.0)]
    if not quick and _parsing_rivals.has("nltk"):
        row |= _beside_nltk(model, test, _parsing_rivals.PYTHON)
        bars.append(_run.Bar("viterbi_over_nltk", row["nltk_ratio"], at_least=1000.0))
    return bars, row


def _beside_nltk(model: Any, test: list[Any], python: str) -> dict[str, float]:
    """Compare and time a few sentences, the first of each length from 5 to 8 words."""
    import numpy as np

    batch, scores = model.batch(test)
    chosen = []
    for n in range(5, 9):
        good = [s for s, tokens in enumerate(test) if len(tokens) == n]
        chosen += [s for s in good if np.isfinite(_best(batch, scores, [s])[0])][:1]
    start = time.perf_counter()
    for _ in range(20):
        value = _best(batch, scores, chosen)
    ours = (time.perf_counter() - start) / 20
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "grammar.json")
        path.write_text(json.dumps(_as_lists(model, [test[s] for s in chosen])))
        done = subprocess.run([python, __file__, str(path)], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout.splitlines()[-1])
    np.testing.assert_allclose(found["log_probabilities"], value, rtol=1e-6)
    return {"ms": 1e3 * ours, "nltk_ms": 1e3 * found["seconds"], "nltk_ratio": found["seconds"] / ours}


def _best(batch: Any, scores: Any, ids: list[int]) -> Any:
    part, cut = batch.take(ids), batch.cut(scores, ids)
    return part.grammar.chart.argmax(*part._arrays(cut))[1]


def _as_lists(model: Any, sentences: list[Any]) -> dict[str, Any]:
    """Return rules with probabilities; words are those of the sentences."""
    import numpy as np

    grammar = model.grammar
    words = {word: tag for tokens in sentences for tag, word in tokens}
    return {
        "roots": [[symbol, float(np.exp(p))] for symbol, p in model._root.items()],
        "rules": [
            [*rule, float(np.exp(p))]
            for rule, p in zip(grammar.rules, model.rule_scores.tolist(), strict=True)
        ],
        "words": [
            [grammar.symbols[k], word, float(np.exp(p))]
            for word, tag in words.items()
            for k, p in model._word_scores(tag, word).items()
        ],
        "sentences": [[word for _, word in tokens] for tokens in sentences],
    }


def _main(path: str) -> None:
    import nltk

    given = json.loads(Path(path).read_text())
    make, name = nltk.grammar.ProbabilisticProduction, nltk.grammar.Nonterminal
    top = name("<top>")
    productions = [
        *(make(top, [name(symbol)], prob=p) for symbol, p in given["roots"]),
        *(make(name(a), [name(b), name(c)], prob=p) for a, b, c, p in given["rules"]),
        *(make(name(a), [word], prob=p) for a, word, p in given["words"]),
    ]

    class Grammar(nltk.grammar.PCFG):
        """Whose words are those of a few sentences: probabilities of symbols do not sum to 1."""

        def __init__(self, start: Any, productions: Any) -> None:
            nltk.grammar.CFG.__init__(self, start, productions)

    parser = nltk.ViterbiParser(Grammar(top, productions), max_time=None)  # it would give up after 5 seconds
    start = time.perf_counter()
    found = [next(iter(parser.parse(sentence))) for sentence in given["sentences"]]
    seconds = time.perf_counter() - start
    import math

    print(json.dumps({"seconds": seconds, "log_probabilities": [math.log(tree.prob()) for tree in found]}))


if __name__ == "__main__":
    _main(sys.argv[1])
