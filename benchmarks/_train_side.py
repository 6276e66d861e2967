"""One side of ``linear_crf_train``, alone in a process: its time and its peak memory.

python -m benchmarks._train_side ours|crfsuite DATA.npz MODEL TARGET
python -m benchmarks._train_side ours-text|crfsuite-text LIMIT MODEL TARGET
"""

from __future__ import annotations

import json
import pickle
import re
import sys
import time
from pathlib import Path

import numpy as np

from kernelfields import Run

from ._conll2000 import Featurised, attribute_lists, load, plain_sentences, read, template_attributes


def ours(path: Path, model_path: Path, target: float) -> dict[str, float]:
    """Fit; the time that counts is when the objective comes within 0.01 % of the target."""
    from kernelfields import CRF, Parts

    X, lengths, labels = load(path)
    reached: list[float] = []
    started = time.perf_counter()

    def look(progress) -> None:
        if progress.value <= 1.0001 * target and not reached:
            reached.append(time.perf_counter() - started)

    model = CRF(
        penalty=2.0,
        parts=Parts(bias=None, boundaries=None),
        observed_only=True,
        tol=1e-4,
        run=Run(callback=look),
    )
    model.fit(X, labels, lengths=lengths)
    total = time.perf_counter() - started
    with model_path.open("wb") as file:
        pickle.dump(model.set_params(run__callback=None), file, protocol=5)
    value = model.certificate_.value
    gap = model.certificate_.relative_gap
    return {
        "seconds": reached[0] if reached else float("inf"),
        "seconds_in_all": total,
        "objective": value,
        "gap": gap,
        "iterations": model.n_iter_,
    }


def crfsuite(path: Path, model_path: Path, target: float) -> dict[str, float]:
    """CRFsuite's lbfgs, c2 = 1, its own stopping rule; only ``train`` is timed."""
    import pycrfsuite

    X, lengths, labels = load(path)
    names = path.with_suffix(".names").read_text().split("\n")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=True)
    lines: list[str] = []
    trainer.message = lines.append
    X_train = attribute_lists(Featurised(X, lengths, names))  # kept, as its tutorial does and as we keep X
    del X, names
    ends = np.cumsum(lengths)
    for tokens, a, b in zip(X_train, ends - lengths, ends, strict=True):
        trainer.append(tokens, labels[a:b].tolist())
    trainer.set_params({"c1": 0.0, "c2": 1.0})
    started = time.perf_counter()
    trainer.train(str(model_path))
    seconds = time.perf_counter() - started
    losses = re.findall(r"Loss: ([\d.]+)", "".join(lines))
    return {"seconds": seconds, "objective": float(losses[-1]), "iterations": len(losses)}


def ours_text(limit: Path, model_path: Path, target: float) -> dict[str, float]:
    """From the text file: read, make features, fit; until the objective is within 0.01 % of the target."""
    from kernelfields import CRF, Parts

    started = time.perf_counter()
    reached: list[float] = []

    def look(progress) -> None:
        if progress.value <= 1.0001 * target and not reached:
            reached.append(time.perf_counter() - started)

    corpus = read("train", int(str(limit)) or None)
    model = CRF(
        features="chunking",
        penalty=2.0,
        parts=Parts(bias=None, boundaries=None),
        observed_only=True,
        tol=1e-4,
        run=Run(callback=look),
    )
    model.fit(corpus.sentences, corpus.labels)
    return {"seconds": reached[0] if reached else float("inf"), "objective": model.certificate_.value}


def crfsuite_text(limit: Path, model_path: Path, target: float) -> dict[str, float]:
    """From the text file: read, make lists of attributes as its tutorial does, append, train."""
    import pycrfsuite

    started = time.perf_counter()
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=True)
    lines: list[str] = []
    trainer.message = lines.append
    for tokens, labels in plain_sentences("train", int(str(limit)) or None):
        trainer.append(template_attributes(tokens), labels)
    trainer.set_params({"c1": 0.0, "c2": 1.0})
    trainer.train(str(model_path))
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "objective": float(re.findall(r"Loss: ([\d.]+)", "".join(lines))[-1])}


SIDES = {"ours": ours, "crfsuite": crfsuite, "ours-text": ours_text, "crfsuite-text": crfsuite_text}


def peak_megabytes() -> float:
    """The largest resident size since this program began; getrusage would count the parent's too."""
    status = Path("/proc/self/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def main() -> None:
    side, path, model = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    result = SIDES[side](path, model, float(sys.argv[4]))
    result["peak_mb"] = peak_megabytes()
    print(json.dumps(result))


if __name__ == "__main__":
    main()
