"""Horses: figure and ground in photographs; pixels by themselves and on a grid [borenstein2002]."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter

from kernelfields.approximation import RandomFourier
from kernelfields.arrays import Array
from kernelfields.datasets import LabelledImages, load_horses
from kernelfields.estimators import CRF, KernelLogisticRegression, StructuredSVM
from kernelfields.kernels import RBF
from kernelfields.structures import Graph, TreeReweighted, TreeReweightedMax

from .lib.claims import Claim
from .lib.contest import Method, SequenceSet, fitted
from .lib.experiment import Experiment, Report
from .lib.folds import folds_of
from .lib.pixels import neighbours, show
from .lib.results import Outcome, Row

SINGLE, FIELD, MARGIN = "single pixels", "CRF", "structured SVM"
CONTRASTS = ("alike", "a little apart", "apart")
"""Types of edges, by how much the colours of their ends differ."""
SCALES = (0, 1, 3, 6)
"""Widths of what pixels see, in pixels."""


@dataclass(frozen=True)
class HorsesSettings:
    """How many images, and the settings of the models."""

    seed: int
    n_train: int
    n_test: int
    gamma: float
    """Of the RBF kernel of single pixels."""
    rank: int
    """Random Fourier features in its place."""
    penalty: float
    every: int
    """Single pixels are learnt from one in so many."""
    n_folds: int
    """In which single pixels of the training images are judged by models of the others."""
    grid_penalties: dict[str, float]
    """Of the models on grids."""
    tol: float
    margin_tol: float
    messages: int
    messages_tol: float
    rounds: int
    """Most iterations on grids."""
    shown: int
    """Test images in the figure."""


def run(settings: HorsesSettings, report: Report) -> Outcome:
    """Judge single pixels by a kernel, then learn on grids what neighbours add."""
    train, test = (
        _drawn(load_horses(part), n, settings.seed)
        for part, n in (("train", settings.n_train), ("test", settings.n_test))
    )
    report(f"{SINGLE}: {len(train.images)} images")
    started = perf_counter()
    odds, test_odds, gap = _single(train, test, settings)
    labels: dict[str, list[Array]] = {SINGLE: [(one > 0).astype(int) for one in test_odds]}
    seconds = {SINGLE: perf_counter() - started}
    X = [_graph(*pair) for pair in zip(train.images, odds, strict=True)]
    X_test = [_graph(*pair) for pair in zip(test.images, test_odds, strict=True)]
    gaps: dict[str, float | None] = {SINGLE: gap}
    for name in (FIELD, MARGIN):
        report(f"{name}: {sum(map(np.size, odds))} pixels")
        started = perf_counter()
        penalty = settings.grid_penalties[name]
        method = Method(name, partial(_model, name, settings), [penalty])
        model = fitted(method, penalty, SequenceSet(X, X, [one.ravel().tolist() for one in train.labels]))
        found = model.model.predict(X_test)
        labels[name] = [np.reshape(a, b.shape) for a, b in zip(found, test.labels, strict=True)]
        seconds[name] = perf_counter() - started
        gaps[name] = model.gap
    rows = [_row(name, found, test.labels, gaps.get(name), seconds[name]) for name, found in labels.items()]
    wrong = [row["pixels wrong %"] for row in rows]
    claims = [
        Claim("crf_below_single_pixels_points", wrong[0] - wrong[1], at_least=0.0),
        Claim("svm_below_single_pixels_points", wrong[0] - wrong[2], at_least=0.0),
        Claim("single_pixels_relative_gap", gap, at_most=settings.tol),
    ]
    pictures = {name: [one.tolist() for one in found[: settings.shown]] for name, found in labels.items()}
    pictures["truth"] = [one.tolist() for one in test.labels[: settings.shown]]
    shown = [one.tolist() for one in test.images[: settings.shown]]
    return Outcome("horses", claims, rows, {"images": shown, "labels": pictures}, _notes(settings))


def _drawn(part: LabelledImages, n: int, seed: int) -> LabelledImages:
    ids = np.random.default_rng(seed).permutation(len(part.images))[:n]
    return LabelledImages([part.images[i] for i in ids], [part.labels[i] for i in ids])


def pixel_features(image: Array) -> Array:
    """Return what a pixel sees, (H, W, D): place, colours and texture around it, their distance from others'.

    Colours are lightness and two differences of colours, as they are and blurred; texture is the deviation of
    lightness; others are the pixels of the border, and those in the middle of the image.
    """
    red, green, blue = np.moveaxis(image / 255.0, 2, 0)
    colours = np.stack([(red + green + blue) / 3, 2 * (red - green), red + green - 2 * blue], axis=2)
    blurred = [gaussian_filter(colours, (scale, scale, 0)) for scale in SCALES]
    light = colours[:, :, :1]
    textures = [
        np.sqrt(np.maximum(gaussian_filter(light**2, (s, s, 0)) - gaussian_filter(light, (s, s, 0)) ** 2, 0))
        for s in SCALES[1:]
    ]
    height, width = light.shape[:2]
    rows, columns = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]
    border = np.concatenate([colours[0], colours[-1], colours[:, 0], colours[:, -1]]).mean(axis=0)
    middle = colours[height // 3 : 2 * height // 3, width // 3 : 2 * width // 3].mean(axis=(0, 1))
    away = [colours - border, colours - middle, np.abs(colours - border), np.abs(colours - middle)]
    place = 1.5 * np.stack([rows, columns], axis=2)
    return np.concatenate([*blurred, *(3 * one for one in textures), *away, place], axis=2)


def _single(
    train: LabelledImages, test: LabelledImages, settings: HorsesSettings
) -> tuple[list[Array], list[Array], float]:
    """Return log-odds of "horse" for every pixel; of training images by models that have not seen them.

    And the relative gap of the last model.
    """
    seen = [pixel_features(image) for image in train.images]
    odds: list[Array] = [np.empty(0)] * len(seen)
    for fold in folds_of(len(seen), settings.n_folds, settings.seed):
        model = _fitted([seen[i] for i in fold.train], [train.labels[i] for i in fold.train], settings)
        for i in fold.test:
            odds[i] = _log_odds(model, seen[i])
    model = _fitted(seen, train.labels, settings)
    gap = float(model.certificate_.relative_gap)
    return odds, [_log_odds(model, pixel_features(image)) for image in test.images], gap


def _fitted(features: list[Array], labels: list[Array], settings: HorsesSettings) -> Any:
    X = np.concatenate([one.reshape(-1, one.shape[2])[:: settings.every] for one in features])
    y = np.concatenate([one.ravel()[:: settings.every] for one in labels])
    return KernelLogisticRegression(
        RBF(settings.gamma),
        penalty=settings.penalty,
        basis=RandomFourier(settings.rank),
        tol=settings.tol,
        random_state=settings.seed,
    ).fit(X, y)


def _log_odds(model: Any, features: Array) -> Array:
    p = model.predict_proba(features.reshape(-1, features.shape[2]))[:, 1].clip(1e-4, 1 - 1e-4)
    return np.asarray(np.log(p / (1 - p)).reshape(features.shape[:2]))


def _graph(image: Array, odds: Array) -> tuple[Array, dict[str, Array]]:
    """Return an image as a graph: log-odds of pixels, and neighbours by the contrast between them."""
    edges = np.concatenate(list(neighbours(*odds.shape).values()))
    flat = image.reshape(-1, 3).astype(np.float64)
    apart = np.linalg.norm(flat[edges[:, 0]] - flat[edges[:, 1]], axis=1)
    kind = np.searchsorted(np.quantile(apart, [0.5, 0.85]), apart)
    return odds.reshape(-1, 1), {name: edges[kind == k] for k, name in enumerate(CONTRASTS)}


def _model(name: str, settings: HorsesSettings, penalty: float) -> Any:
    if name == MARGIN:
        return StructuredSVM(
            penalty=penalty,
            structure=Graph(TreeReweightedMax(), edge_types=CONTRASTS),
            tol=settings.margin_tol,
            max_iter=settings.rounds,
        )
    sums = TreeReweighted(max_iter=settings.messages, tol=settings.messages_tol)
    return CRF(
        penalty,
        structure=Graph(sums, edge_types=CONTRASTS),
        decoder="posterior",
        tol=settings.tol,
        max_iter=settings.rounds,
    )


def _row(name: str, found: list[Array], labels: list[Array], gap: float | None, seconds: float) -> Row:
    wrong = np.concatenate([(a != b).ravel() for a, b in zip(found, labels, strict=True)])
    overlap = [
        (a.astype(bool) & b.astype(bool)).sum() / max((a.astype(bool) | b.astype(bool)).sum(), 1)
        for a, b in zip(found, labels, strict=True)
    ]
    return {
        "model": name,
        "pixels wrong %": 100 * float(wrong.mean()),
        "overlap %": 100 * float(np.mean(overlap)),
        "relative gap": gap,
        "seconds": seconds,
    }


def _notes(settings: HorsesSettings) -> list[str]:
    return [
        "Single pixels: kernel logistic regression on colours, texture and place, by Fourier features. "
        "On grids its log-odds are the only feature of a pixel; in training they are those of models that "
        f"have not seen the image ({settings.n_folds} folds). Edges between neighbours have three tables of "
        "label pairs, by contrast. The CRF is fitted with tree-reweighted sums and decides pixel by pixel; "
        "the SVM is fitted and decides by TRW-S. Overlap: pixels that both say are horse, by those "
        "that either says are, averaged over images.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw test images, the true figure, and what models make of it."""
    images, labels = outcome.details["images"], outcome.details["labels"]
    names = ["truth", SINGLE, FIELD, MARGIN]
    wrong = {row["model"]: f"\n{row['pixels wrong %']:.1f} % wrong" for row in outcome.rows}
    panels = figure.subplots(len(images), 1 + len(names), squeeze=False)
    for n, line in enumerate(panels):
        show(line[0], images[n], "" if n else "image")
        for name, panel in zip(names, line[1:], strict=True):
            show(panel, labels[name][n], "" if n else name + wrong.get(name, ""), vmin=0, vmax=1, cmap="gray")


HORSES = Experiment(
    "horses",
    "figure and ground: single pixels, a CRF and a structured SVM on grids [borenstein2002]",
    "weizmann_horses",
    HorsesSettings,
    run,
    draw,
)
