"""Training a linear CRF: CoNLL-2000 with the CRF++ template, against CRFsuite at the same optimum.

Both sides get the same attributes (only pairs of attribute and label that occur have weights) and
the same penalty (c2 = 1, λ = 2), each in a process of its own. CRFsuite trains until it stops; what
counts for us is the time until our objective is within 0.01 % of its final value.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pickle
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import pycrfsuite

from kernelfields.metrics import entity_f1

from . import _conll2000 as conll
from ._run import Bar, Result

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run(quick: bool) -> Result:
    rounds, limit = (1, 300) if quick else (3, None)
    corpus, test = conll.read("train", limit), conll.read("test", limit)
    data, extractor = conll.featurise(corpus)
    sides: dict[str, list[dict[str, float]]] = {"crfsuite": [], "ours, one core": [], "ours, two cores": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.npz"
        conll.save(path, data, corpus.labels)
        for _ in range(rounds):
            theirs = _side("crfsuite", path, 1, 0.0)
            target = theirs["objective"]
            sides["crfsuite"].append(theirs)
            sides["ours, one core"].append(_side("ours", path, 1, target))
            sides["ours, two cores"].append(_side("ours", path, 2, target))
        f1 = _f1(path, test, extractor)
        text = _from_text(path, limit or 0)
    middle = {name: {key: median(r[key] for r in runs) for key in runs[0]} for name, runs in sides.items()}
    seconds = middle["crfsuite"]["seconds"]
    bars = [
        Bar("speedup_two_cores", seconds / middle["ours, two cores"]["seconds"], at_least=10),
        Bar("speedup_one_core", seconds / middle["ours, one core"]["seconds"], at_least=5),
        Bar(
            "memory_ratio", middle["ours, two cores"]["peak_mb"] / middle["crfsuite"]["peak_mb"], at_most=0.5
        ),
        Bar("f1_minus_crfsuite", f1["ours"] - f1["crfsuite"], at_least=-0.05),
    ]
    table = [{"side": name, **values} for name, values in middle.items()]
    return Result("linear_crf_train", bars, {"rounds": rounds, "f1": f1, "sides": table, **text})


def _from_text(path: Path, limit: int) -> dict[str, Any]:
    """End to end, once: from the text file to a model."""
    theirs = _side("crfsuite-text", path, 1, 0.0, limit)
    ours = _side("ours-text", path, 2, theirs["objective"], limit)
    return {
        "from_text_seconds": {"crfsuite": theirs["seconds"], "ours, two cores": ours["seconds"]},
        "from_text_speedup": theirs["seconds"] / ours["seconds"],
        "libwapiti": "installed" if importlib.util.find_spec("wapiti") else "not installed",
    }


def _side(side: str, path: Path, threads: int, target: float, limit: int | None = None) -> dict[str, float]:
    """Run one side in a process of its own, from features, or from text with a limit of sentences."""
    environment = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    source = path if limit is None else str(limit)
    command = [
        sys.executable,
        "-m",
        "benchmarks._train_side",
        side,
        source,
        path.with_name(side),
        str(target),
    ]
    output = subprocess.run(
        command, env=environment, cwd=conll.ROOT, capture_output=True, text=True, check=True
    )
    return json.loads(output.stdout.strip().split("\n")[-1])


def _f1(path: Path, test: conll.Corpus, extractor: Any) -> dict[str, float]:
    """Entity F1, in percent, of the last model of each side on the test part."""
    X, lengths = extractor.transform(test.sentences)
    model = pickle.loads(path.with_name("ours").read_bytes())
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path.with_name("crfsuite")))
    lists = conll.attribute_lists(conll.Featurised(X, lengths, extractor.names()))
    return {
        "ours": 100 * entity_f1(test.labels, model.predict(X, lengths=lengths)),
        "crfsuite": 100 * entity_f1(test.labels, [tagger.tag(tokens) for tokens in lists]),
    }
