"""Tagging with a linear CRF: labels per second from raw tokens and from ready features.

CoNLL-2000 test part, the same attributes on both sides, against python-crfsuite's Tagger: with
attributes made in Python as its users make them, and with its own ItemSequences made beforehand.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pycrfsuite

from kernelfields import CRF, Parts
from kernelfields.features import TemplateFeatures

from . import _conll2000 as conll
from ._run import Bar, Result, Side, alternate


def run(quick: bool) -> Result:
    rounds, limit = (2, 100) if quick else (9, None)
    train, test = conll.read("train", limit or 2000), conll.read("test", limit)
    data, extractor = conll.featurise(train)
    model = CRF(penalty=2.0, parts=Parts(bias=None, boundaries=None), observed_only=True)
    model.fit(data.X, train.labels, lengths=data.lengths)
    with tempfile.TemporaryDirectory() as folder:
        tagger = _tagger(train, Path(folder) / "model")
        sides = _sides(model, extractor, tagger, test)
        _check_agreement(sides)
        times = alternate(sides, rounds)
    tokens = sum(map(len, test.labels))
    bars = [
        Bar("raw_tokens_speedup", times["crfsuite, raw"] / times["ours, raw"], at_least=10),
        Bar("features_speedup", times["crfsuite, features"] / times["ours, features"], at_least=5),
    ]
    speed = [{"side": name, "labels_per_second": tokens / seconds} for name, seconds in times.items()]
    return Result("linear_crf_tag", bars, {"tokens": tokens, "rounds": rounds, "speed": speed})


def _tagger(train: conll.Corpus, path: Path) -> Any:
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for tokens, labels in zip(train.sentences, train.labels, strict=True):
        trainer.append(pycrfsuite.ItemSequence(attributes(tokens)), labels)
    trainer.set_params({"c1": 0.0, "c2": 1.0})
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    return tagger


def _sides(model: CRF, extractor: TemplateFeatures, tagger: Any, test: conll.Corpus) -> dict[str, Side]:
    X, lengths = extractor.transform(test.sentences)
    ready = [pycrfsuite.ItemSequence(attributes(tokens)) for tokens in test.sentences]

    def raw() -> list[list[Any]]:
        X, lengths = extractor.transform(test.sentences)
        return model.predict(X, lengths=lengths)

    return {
        "crfsuite, raw": Side(lambda: [tagger.tag(attributes(tokens)) for tokens in test.sentences]),
        "ours, raw": Side(raw, threads=2),
        "crfsuite, features": Side(lambda: [tagger.tag(items) for items in ready]),
        "ours, features": Side(lambda: model.predict(X, lengths=lengths), threads=2),
    }


def attributes(tokens: list[tuple[str, str]]) -> list[list[str]]:
    """The 19 attributes of each token, as users of python-crfsuite write them."""
    words, tags = [word for word, _ in tokens], [tag for _, tag in tokens]

    def at(column: list[str], t: int) -> str:
        if t < 0:
            return f"__BOS{-t}__"
        return column[t] if t < len(column) else f"__EOS{t - len(column) + 1}__"

    result = []
    for t in range(len(words)):
        w = [at(words, t + k) for k in range(-2, 3)]
        p = [at(tags, t + k) for k in range(-2, 3)]
        row = [f"w[{k}]={w[k + 2]}" for k in range(-2, 3)]
        row += [f"w[-1]&w[0]={w[1]}&{w[2]}", f"w[0]&w[1]={w[2]}&{w[3]}"]
        row += [f"pos[{k}]={p[k + 2]}" for k in range(-2, 3)]
        row += [f"pos[{k}]&pos[{k + 1}]={p[k + 2]}&{p[k + 3]}" for k in range(-2, 2)]
        row += [f"pos[{k}]&pos[{k + 1}]&pos[{k + 2}]={p[k + 2]}&{p[k + 3]}&{p[k + 4]}" for k in range(-2, 1)]
        result.append(row)
    return result


def _check_agreement(sides: dict[str, Side]) -> None:
    """All four give nearly the same labels: the models stop at slightly different points."""
    answers = {name: [label for labels in side.call() for label in labels] for name, side in sides.items()}
    reference = answers.pop("crfsuite, raw")
    for name, labels in answers.items():
        same = sum(a == b for a, b in zip(labels, reference, strict=True)) / len(reference)
        if same < 0.995:
            raise RuntimeError(f"{name} agrees with crfsuite on {same:.2%} of the labels only.")
