"""Four tasks with few labels, on which averaging over functions is compared with the most probable one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from kernelfields import Parts
from kernelfields.datasets import load_conll2002, load_jpred4, load_letters, spelling_templates
from kernelfields.estimators import CRF, KernelCRF
from kernelfields.features import TemplateFeatures
from kernelfields.features.windows import stack_windows
from kernelfields.kernels import RBF

from .folds import pick
from .gesture_frames import frames_of_gestures

LETTERS, ENTITIES, PROTEINS, GESTURES = "letters", "entities", "proteins", "gestures"


class UncertainTask(NamedTuple):
    """Sequences to learn from and to test on, and a model for them."""

    X: list[Any]
    y: list[Any]
    X_test: list[Any]
    y_test: list[Any]
    model: Any
    """Without a posterior."""

    def first(self, train: int, test: int) -> UncertainTask:
        """Return the task with some sequences of both parts."""
        return self._replace(
            X=self.X[:train], y=self.y[:train], X_test=self.X_test[:test], y_test=self.y_test[:test]
        )


def _letters(tol: float, seed: int) -> UncertainTask:
    """Return pixels of one fold, tested on the nine others."""
    letters = load_letters()
    model = KernelCRF(RBF(0.03), penalty=0.05, decoder="posterior", tol=tol, random_state=seed)
    return UncertainTask(*letters.split(0), *letters.split(*range(1, 10)), model)


def _entities(tol: float, seed: int) -> UncertainTask:
    """Return 300 Spanish sentences with spelling features, tested on others."""
    train, test = load_conll2002("train", 300, seed), load_conll2002("testb")
    extractor = TemplateFeatures(spelling_templates(), dtype=np.float64)
    rows, lengths = extractor.fit_transform(train.sentences)
    other, sizes = extractor.transform(test.sentences)
    model = CRF(0.1, decoder="posterior", observed_only=True, tol=tol, random_state=seed)
    return UncertainTask(_cut(rows, lengths), train.labels, _cut(other, sizes), test.labels, model)


def _cut(rows: Any, lengths: Any) -> list[Any]:
    ends = np.cumsum(lengths).tolist()
    return [rows[end - size : end] for end, size in zip(ends, lengths, strict=True)]


def _proteins(tol: float, seed: int) -> UncertainTask:
    """Return fifteen chains of JPred4, tested on sixty others."""
    data = load_jpred4()
    known = [i for i, labels in enumerate(data.labels) if data.fold[i] and None not in labels]
    order = np.random.default_rng(seed).permutation(known)
    train, test = order[:15], order[15:75]
    windows = [stack_windows(pick(data.profiles, part), 15) for part in (train, test)]
    model = KernelCRF(RBF(0.01), penalty=0.3, decoder="posterior", tol=tol, random_state=seed)
    return UncertainTask(windows[0], pick(data.labels, train), windows[1], pick(data.labels, test), model)


def _gestures(tol: float, seed: int) -> UncertainTask:
    """Return three videos of gestures, tested on the four others."""
    videos = frames_of_gestures(7, 100_000)
    kernel = RBF(0.003)
    model = KernelCRF(
        kernel, penalty=1.0, parts=Parts(bias=None), basis="nystroem", decoder="posterior", tol=tol
    ).set_params(random_state=seed)
    return UncertainTask(videos.X[:3], videos.y[:3], videos.X[3:], videos.y[3:], model)


TASKS: Mapping[str, Callable[[float, int], UncertainTask]] = {
    LETTERS: _letters,
    ENTITIES: _entities,
    PROTEINS: _proteins,
    GESTURES: _gestures,
}
