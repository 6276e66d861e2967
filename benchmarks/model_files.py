"""Opening a model file of a hundred megabytes, against pickle and against copying its bytes.

The model is a linear CRF with nine labels and a vocabulary of about 1.2 million features; its weights are
made up, since their values do not matter. The file is in the page cache on both sides.
"""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

import numpy as np

import kernelfields as kf
from kernelfields.features import TemplateFeatures

from . import _run

LABELS = 9
TEMPLATES = "columns: w\nw[-1..1]\nsuffix5(w[0])\nprefix5(w[0])\nw[-1] & w[0]"


def model_of(words: int) -> kf.CRF:
    """A fitted model whose vocabulary has six features per word, its weights replaced by random ones."""
    text = [f"{n * 2654435761 % 2**32:08x}" for n in range(words)]
    features = TemplateFeatures(TEMPLATES, dtype=np.float32)
    features.fit([text[k : k + 20] for k in range(0, words, 20)])
    tags = [f"tag{k}" for k in range(LABELS)]
    model = kf.CRF(features=TEMPLATES, tol=0.5).fit([text[:LABELS]], [tags])
    rng = np.random.default_rng(0)
    model.features_, model.n_features_in_ = features, features.n_features
    model.coef_ = rng.normal(size=(features.n_features, LABELS)).T
    return model


def run(quick: bool) -> _run.Result:
    model = model_of(2_000 if quick else 200_000)
    sentence = [["00000000", "9e3779b1", "unknown"]]
    with tempfile.TemporaryDirectory() as folder:
        file, pickled = Path(folder) / "model.kf", Path(folder) / "model.pickle"
        model.save(file)
        pickled.write_bytes(pickle.dumps(model))
        opened = kf.load(file)
        np.testing.assert_array_equal(
            opened.predict_marginals(sentence)[0], model.predict_marginals(sentence)[0]
        )
        sides = {
            "open": _run.Side(lambda: kf.load(file)),
            "open_and_predict": _run.Side(lambda: kf.load(file).predict(sentence)),
            "predict": _run.Side(lambda: opened.predict(sentence)),
            "unpickle": _run.Side(lambda: pickle.loads(pickled.read_bytes())),
            "read_bytes": _run.Side(file.read_bytes),
            "save": _run.Side(lambda: model.save(Path(folder) / "again.kf")),
        }
        seconds = _run.alternate(sides, 1 if quick else 7)
        size = file.stat().st_size
    rows = [{"what": name, "seconds": value} for name, value in seconds.items()]
    details = {"megabytes": size / 1e6, "features": model.n_features_in_, "seconds": rows}
    return _run.Result("model_files", [_run.Bar("open_seconds", seconds["open"], at_most=0.2)], details)
