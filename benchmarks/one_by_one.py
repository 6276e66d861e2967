"""One short sequence at a time, as services call a tagger: processor time of a single call.

`Tagger` of compat against python-crfsuite's, both with the same model file, rounds in turn, on addresses
with features as usaddress makes them and on sentences with those of sklearn-crfsuite's tutorial. Answers
must agree.

Then single calls of `CRF.predict` and `CRF.predict_marginals` with 5 to 10 positions, from arrays,
dictionaries and tokens; answers must be those of all sequences at once.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pycrfsuite

from kernelfields import CRF
from kernelfields.compat import pycrfsuite as compat

from . import _entities as entities
from ._run import Bar, Result

Items = list[list[dict[str, Any]]]
Call = Callable[[Any, Any], Any]


def run(quick: bool) -> Result:
    count, rounds = (20, 2) if quick else (200, 15)
    rows = []
    for name, (items, labels) in {"addresses": addresses(count), "sentences": sentences(count)}.items():
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model")
            _train(items, labels, path)
            rows += [{"data": name, **row} for row in _compared(path, items, rounds)]
    bars = [Bar(f"{row['data']}_{row['call']}_speedup", row["speedup"], at_least=1.5) for row in rows]
    own = [row for name, case in cases(count).items() for row in _own(name, *case, 20 * rounds)]
    bars += [
        Bar(f"{row['call']}_{row['input']}_us", row["us"], at_most=60)
        for row in own
        if row["call"] == "predict"
    ]
    return Result("one_by_one", bars, {"sequences": count, "rounds": rounds, "calls": rows, "own": own})


def addresses(count: int) -> tuple[Items, list[list[str]]]:
    """Make addresses up, with features like usaddress's: what a token looks like, and its neighbours."""
    draw = random.Random(7)
    names = ["Main", "Oak", "Washington", "Lake View", "2nd", "Martin Luther King"]
    cities = ["Chicago", "Saint Paul", "New York", "Springfield"]
    items, labels = [], []
    for _ in range(count):
        parts = [("AddressNumber", str(draw.randint(1, 9999)))]
        parts += [("StreetName", word) for word in draw.choice(names).split()]
        parts.append(("StreetNamePostType", draw.choice(["St.", "Avenue", "Blvd.", "Rd"])))
        parts += [("PlaceName", word) for word in draw.choice(cities).split()]
        parts += [
            ("StateName", draw.choice(["IL", "MN", "NY"])),
            ("ZipCode", f"{draw.randint(10000, 99999)}"),
        ]
        tokens = [_token(word) for _, word in parts]
        items.append([_in_context(tokens, t) for t in range(len(tokens))])
        labels.append([label for label, _ in parts])
    return items, labels


def _token(word: str) -> dict[str, Any]:
    clean = word.strip(".,")
    return {
        "abbrev": word.endswith("."),
        "digits": "all_digits"
        if clean.isdigit()
        else "some_digits"
        if any(map(str.isdigit, clean))
        else "no_digits",
        "word": False if clean.isdigit() else clean.lower(),
        "trailing.zeros": "00" if clean.endswith("00") else False,
        "length": f"{'d' if clean.isdigit() else 'w'}:{len(clean)}",
        "endsinpunc": word[-1] if word[-1] in ".,;" else False,
        "directional": clean.lower() in ("n", "s", "e", "w"),
        "street_name": clean.lower() in ("st", "avenue", "blvd", "rd"),
        "has.vowels": any(letter in "aeiou" for letter in clean.lower()[1:]),
    }


def _in_context(tokens: list[dict[str, Any]], t: int) -> dict[str, Any]:
    item = dict(tokens[t])
    if t > 0:
        item["previous"] = tokens[t - 1] | ({"address.start": True} if t == 1 else {})
    else:
        item["address.start"] = True
    if t + 1 < len(tokens):
        item["next"] = tokens[t + 1] | ({"address.end": True} if t + 2 == len(tokens) else {})
    else:
        item["address.end"] = True
    return item


def sentences(count: int) -> tuple[Items, list[list[str]]]:
    """Give sentences of at most 12 words."""
    read = entities.read("train", 8 * count)
    short = [pair for pair in zip(read.items, read.labels, strict=True) if len(pair[0]) <= 12][:count]
    return [items for items, _ in short], [labels for _, labels in short]


def cases(count: int) -> dict[str, tuple[Any, Any, CRF]]:
    """Give what a CRF learns from, by kind of input."""
    rng = np.random.default_rng(7)
    arrays = [rng.normal(size=(rng.integers(5, 11), 20)) for _ in range(count)]
    signs = [[str(int(row[0] > 0)) for row in array] for array in arrays]
    items, labels = sentences(count)
    tokens = [[(item["word.lower()"], item["postag"]) for item in sentence] for sentence in items]
    return {
        "arrays": (arrays, signs, CRF(tol=0.1)),
        "dictionaries": (items, labels, CRF(tol=0.1)),
        "observed_pairs": (items, labels, CRF(tol=0.1, observed_only=True)),
        "tokens": (tokens, labels, CRF(tol=0.1, features="chunking")),
    }


def _own(name: str, X: Any, y: Any, model: CRF, rounds: int) -> list[dict[str, Any]]:
    model.fit(X, y)
    short = [x for x in X if 5 <= len(x) <= 10]
    rows = []
    for call in ("predict", "predict_marginals"):
        ask, times = getattr(model, call), []
        for _ in range(rounds):
            started = time.process_time()
            answers = [ask([x])[0] for x in short]
            times.append(1e6 * (time.process_time() - started) / len(short))
        if not all(map(np.array_equal, answers, ask(short))):
            raise RuntimeError(f"{call} of {name} differs one by one.")
        rows.append({"call": call, "input": name, "us": median(times)})
    return rows


def _train(items: Items, labels: list[list[str]], path: str) -> None:
    trainer = pycrfsuite.Trainer(verbose=False, params={"c1": 0.05, "c2": 0.05, "max_iterations": 50})
    for xseq, yseq in zip(items, labels, strict=True):
        trainer.append(xseq, yseq)
    trainer.train(path)


def _compared(path: str, items: Items, rounds: int) -> list[dict[str, Any]]:
    """Time every call on both sides."""
    sides = [(pycrfsuite.Tagger(), items), (compat.Tagger(), items)]
    prepared = [(pycrfsuite.Tagger(), [*map(pycrfsuite.ItemSequence, items)])]
    prepared.append((compat.Tagger(), [*map(compat.ItemSequence, items)]))
    for tagger, _ in sides + prepared:
        tagger.open(path)
    rows = [_row(name, call, sides, rounds) for name, call in CALLS.items()]
    return [*rows, _row("tag_prepared", CALLS["tag"], prepared, rounds)]


def _row(name: str, call: Call, sides: list[tuple[Any, Any]], rounds: int) -> dict[str, Any]:
    times: list[list[float]] = [[], []]
    answers: list[Any] = [None, None]
    for _ in range(rounds):
        for side, (tagger, items) in enumerate(sides):
            started = time.process_time()
            answers[side] = [call(tagger, xseq) for xseq in items]
            times[side].append(1e6 * (time.process_time() - started) / len(items))
    if not all(map(_agree, *answers)):
        raise RuntimeError(f"The answers to {name!r} differ.")
    theirs, ours = map(median, times)
    return {"call": name, "crfsuite_us": theirs, "compat_us": ours, "speedup": theirs / ours}


def _agree(theirs: Any, ours: Any) -> bool:
    """Tags are the same, probabilities equal but for rounding."""
    return bool(theirs == ours or np.allclose(theirs, ours, rtol=0, atol=1e-9))


def _set_then_tag(tagger: Any, xseq: Any) -> Any:
    tagger.set(xseq)
    return tagger.tag()


def _marginals(tagger: Any, xseq: Any) -> list[float]:
    tagger.set(xseq)
    return [tagger.marginal(label, t) for label in tagger.labels() for t in range(len(xseq))]


CALLS: dict[str, Call] = {
    "tag": lambda tagger, xseq: tagger.tag(xseq),
    "set_tag": _set_then_tag,
    "tag_probability": lambda tagger, xseq: tagger.probability(tagger.tag(xseq)),
    "set_marginals": _marginals,
}
