"""Small models of every kind of input, and a service of them."""

import json
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

from kernelfields import CRF, load
from kernelfields.cli._suited import Suit
from kernelfields.cli.serve import read_served
from kernelfields.serving import ServedFile, Shelf, service
from kernelfields.web import Guards, guarded
from tests.cli._files import frames, sentences

from ._client import AppClient

TEMPLATES = "columns: w pos\nw[0]\npos[0]\nw[-1] & w[0]\nsuffix2(w[0])"


def words(n=40, seed=0):
    pairs = list(sentences(n, seed))
    return [[(w, w[:1]) for w, _ in one] for one in pairs], [[y for _, y in one] for one in pairs]


def attributes(n=40, seed=0):
    X, y = words(n, seed)
    return [[{"w": w, "title": w.istitle(), "length": len(w) / 10} for w, _ in one] for one in X], y


def numbers(n=30, seed=0):
    found = list(frames(n, seed))
    return [x for _, x, _ in found], [["AB"[k] for k in y] for _, _, y in found]


def trees(n=30, seed=0):
    X, y = words(n, seed)
    return [([w for w, _ in x], [-1, *range(len(x) - 1)]) for x in X], y


def graphs(n=30, seed=0):
    X, y = words(n, seed)
    edges = [[[t, t + 1] for t in range(len(x) - 1)] for x in X]
    return [Graph([w for w, _ in x], e) for x, e in zip(X, edges, strict=True)], y


class Graph(NamedTuple):
    tokens: list
    edges: list


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Model files: words (calibrated), attributes, numbers, trees, graphs."""
    path = tmp_path_factory.mktemp("models")
    CRF(features=TEMPLATES).fit(*words()).calibrate(*words(300, seed=1)).save(path / "words.kf")
    CRF().fit(*attributes()).save(path / "attributes.kf")
    CRF().fit(*numbers()).save(path / "numbers.kf")
    CRF(features="columns: w\nw[0]", structure="tree").fit(*trees()).save(path / "trees.kf")
    CRF(features="columns: w\nw[0]", structure="graph").fit(*graphs()).save(path / "graphs.kf")
    return path


@pytest.fixture(scope="session")
def models(folder):
    return {path.stem: load(path) for path in folder.glob("*.kf")}


def shelf_of(*paths):
    return Shelf(
        [ServedFile(path.stem, path) for path in paths], read_served, partial(Suit, hint="use fewer")
    )


def app_of(shelf, limits=None, **guards):
    return guarded(service(shelf, limits, secured="token" in guards), Guards(**guards))


@pytest.fixture(scope="session")
def app(folder):
    return app_of(shelf_of(*sorted(folder.glob("*.kf"))))


@pytest.fixture(scope="session")
def client(app):
    with AppClient(app) as found:
        yield found


def as_json(x):
    """A sequence as clients write it."""
    if isinstance(x, np.ndarray):
        return x.tolist()
    if isinstance(x, Graph):
        return x._asdict()
    if isinstance(x, tuple):
        return {"tokens": x[0], "parents": x[1]}
    return json.loads(json.dumps(x))
