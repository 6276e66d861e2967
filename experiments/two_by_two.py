"""Log or hinge loss, linear or with a kernel: which of the two choices matters [altun2004gp, 1]?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kernelfields.solvers import BlockFrankWolfe

from .lib.claims import Claim
from .lib.contest import FittedModel, Method, chosen, largest_gap
from .lib.experiment import Experiment, Report
from .lib.methods import crf, kernel_crf, svm
from .lib.results import Outcome, Row
from .lib.tasks import LearningTask, entities_task, letters_task, web_task

LETTERS, ENTITIES, SPEECH = "letters", "NER-300", "POS-500"
LOSSES, SPACES = ("log", "hinge"), ("linear", "kernel")


@dataclass(frozen=True)
class TwoByTwoSettings:
    """Sample sizes, and the penalties to choose from."""

    seed: int
    n_words: int
    n_test_words: int
    n_entities: int
    """Sentences of named entities."""
    n_speech: int
    """Sentences with parts of speech."""
    n_test_sentences: int
    validation: float
    """Share of the training part that penalties are chosen on."""
    tol: float
    """Relative gap with the log loss."""
    svm_tol: float
    """The same with the hinge loss."""
    max_passes: int
    """Of the linear SVM on parts of speech."""
    min_kernel_gain: float
    """Points that a kernel must gain on letters."""
    max_loss_difference: float
    """Points between losses that are "close"."""
    penalties: dict[str, dict[str, list[float]]]
    """By task, then by "log linear" and so on."""


def run(settings: TwoByTwoSettings, report: Report) -> Outcome:
    """Run four models on three tasks."""
    rows, details, models = [], {}, []
    for name, task in _tasks(settings).items():
        errors, found = {}, {}
        for method in methods_of(name, task, settings):
            report(f"{name}: {method.name}, {task.positions} positions")
            model = chosen(method, task.train, task.validation)
            errors[method.name], found[method.name] = model.error(task.test), _detail(model)
            report(f"{name}: {method.name}, {errors[method.name]:.2f} % wrong, {found[method.name]}")
            models.append(model._replace(model=_Kept(model.model.certificate_)))
        rows.append(_row(name, task, errors))
        details[name] = found
    claims = [
        *_claims(rows, settings),
        Claim("largest_relative_gap", largest_gap(models), at_most=settings.svm_tol),
    ]
    return Outcome("two-by-two", claims, rows, {"models": details}, _notes(settings))


@dataclass(frozen=True)
class _Kept:
    """What is kept of a model once it is tested: not its Gram matrix."""

    certificate_: Any


def _tasks(settings: TwoByTwoSettings) -> dict[str, LearningTask]:
    share, seed, n_test = settings.validation, settings.seed, settings.n_test_sentences
    return {
        LETTERS: letters_task(settings.n_words, settings.n_test_words, share, seed),
        ENTITIES: entities_task(settings.n_entities, n_test, share, seed),
        SPEECH: web_task(settings.n_speech, n_test, share, seed),
    }


def methods_of(name: str, task: LearningTask, settings: TwoByTwoSettings) -> list[Method]:
    """Return all four methods, with the penalties of the task."""
    penalties = settings.penalties[name]
    # With 49 labels, planes of the whole objective have some million numbers each.
    blocks = name == SPEECH
    return [
        crf("log linear", penalties["log linear"], settings.tol),
        svm(
            "hinge linear",
            penalties["hinge linear"],
            settings.svm_tol,
            solver=BlockFrankWolfe(memory=0) if blocks else "one-slack",
            max_iter=settings.max_passes if blocks else 2000,
        ),
        kernel_crf("log kernel", task.kernel, penalties["log kernel"], settings.tol),
        svm("hinge kernel", penalties["hinge kernel"], settings.svm_tol, kernel=task.kernel),
    ]


def _detail(model: FittedModel) -> dict[str, Any]:
    return {"penalty": model.choice, "gap": model.gap, "seconds": model.seconds}


def _row(name: str, task: LearningTask, errors: dict[str, float]) -> Row:
    columns = {f"{method}, error %": error for method, error in errors.items()}
    return {"task": name, "positions": task.positions, "labels": _labels(task), **columns}


def _labels(task: LearningTask) -> int:
    return len({label for labels in task.train.labels for label in labels})


def _claims(rows: list[Row], settings: TwoByTwoSettings) -> list[Claim]:
    def error(row: Row, loss: str, space: str) -> float:
        return float(row[f"{loss} {space}, error %"])

    letters = rows[0]
    gains = {loss: error(letters, loss, "linear") - error(letters, loss, "kernel") for loss in LOSSES}
    apart = [abs(error(row, "log", space) - error(row, "hinge", space)) for row in rows for space in SPACES]
    return [
        *(
            Claim(f"letters_kernel_gain_{loss}_points", gain, at_least=settings.min_kernel_gain)
            for loss, gain in gains.items()
        ),
        Claim("largest_difference_of_losses_points", max(apart), at_most=settings.max_loss_difference),
    ]


def _notes(settings: TwoByTwoSettings) -> list[str]:
    return [
        f"Every penalty is the best of its range on {100 * settings.validation:g} % of the training part, "
        "which the models do not learn from; all decode with Viterbi's algorithm. Hinge: margin rescaling "
        "with the Hamming cost. Kernels: cubic on letters, else degree 2. Letters: fold 0 against the nine "
        "others. NER-300: CoNLL-2002 Spanish, tested on testb. POS-500: English Web Treebank, XPOS.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw four bars for every task."""
    panels = figure.subplots(1, len(outcome.rows))
    for panel, row in zip(panels, outcome.rows, strict=True):
        names = [f"{loss} {space}" for space in SPACES for loss in LOSSES]
        bars = panel.bar(
            [name.replace(" ", "\n") for name in names],
            [row[f"{name}, error %"] for name in names],
            color=["C0", "C1", "C0", "C1"],
        )
        panel.bar_label(bars, fmt="%.3g")
        panel.set_title(row["task"])
        panel.grid(axis="y", alpha=0.3)
    panels[0].set_ylabel("labels wrong, %")


TWO_BY_TWO = Experiment(
    "two-by-two",
    "{log, hinge} × {linear, kernel} on letters, named entities and parts of speech [altun2004gp]",
    "conll2002 and ud_english_ewt",
    TwoByTwoSettings,
    run,
    draw,
)
