"""``kf demo``: what models are worth on handwritten words."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from ..approximation import Nystroem
from ..arrays import Array
from ..datasets import draw_letter, load_letters
from ..errors import InputError
from ..estimators import CRF, HMM, KernelCRF, StructuredPerceptron, StructuredSVM
from ..features.images import OrientationChannels
from ..kernels import RBF
from ..metrics import expected_calibration_error, log_likelihood, token_error
from ..models.model import remembering_scores
from ..models.parts import Parts
from ..report import Evaluation, evaluate, write_report
from ._console import plain_console
from ._errors import plain_errors
from ._progress import LiveLine

TRAINING_FOLD = 0
QUICK = 10, 50
"""With ``--quick``, every how many words one is used; the first words alone would be too similar."""

Words = tuple[list[Any], list[list[str]]]


@dataclass(frozen=True)
class DemoRow:
    """The results of one model."""

    name: str
    linear: bool
    strokes: bool
    letter_error: float
    log_likelihood: float
    """Mean of log p(y|x) per letter."""
    calibration_error: float
    seconds: float
    """Of training."""
    bytes: int | None
    """As saved; None where a model cannot be saved."""


def demo(
    report: Annotated[Path, typer.Option(help="The page to write.")] = Path("demo-report.html"),
    quick: Annotated[bool, typer.Option("--quick", help="On few words, for a glimpse.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, the last line.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Train seven models on handwritten words, compare them, and write a report of the best.

    For example:
        kf demo
        kf demo --report letters.html
        kf demo --quick --json
    """
    console = plain_console(stderr=as_json)
    with plain_errors(debug):
        training, test = words(quick)
        console.print(
            f"Handwritten words, letter by letter: {len(training[0]):,} to learn from, "
            f"{len(test[0]):,} to test on."
        )
        tried = [try_entry(console, entry, training, test) for entry in ENTRIES]
        rows = [one.row for one in tried]
        console.print(table(rows))
        console.print(verdict(rows), soft_wrap=True)
        best = min(tried, key=lambda one: one.row.letter_error)
        write_report(best.judged(test), report, title=f"Handwritten words, read by a {best.row.name}")
        console.print(f"Every word with its probabilities: {report}", soft_wrap=True)
        console.print(
            "With your own data (columns of text, JSON lines, CSV or .npz): "
            "kf train DATA --model auto --holdout 0.2 -o model.kf",
            soft_wrap=True,
        )
        if as_json:
            typer.echo(json.dumps({"models": [asdict(row) for row in rows], "report": str(report)}))


def words(quick: bool) -> tuple[Words, Words]:
    """Return words to learn from, one fold of ten, and those to test on."""
    letters = load_letters()
    test_folds = (fold for fold in range(10) if fold != TRAINING_FOLD)
    training, test = letters.split(TRAINING_FOLD), letters.split(*test_folds)
    some, few = QUICK if quick else (1, 1)
    return (training[0][::some], training[1][::some]), (test[0][::few], test[1][::few])


class Tried(NamedTuple):
    """A fitted model, what it sees of the words to test on, and its results."""

    row: DemoRow
    model: Any
    inputs: list[Any]
    path: list[Any]

    def judged(self, test: Words) -> Evaluation:
        """Return all that a report shows."""
        pictures = [[draw_letter(image) for image in word] for word in test[0]]
        found: Evaluation = evaluate(self.model, self.inputs, test[1], pictures, path=self.path or None)
        return found


def try_entry(console: Console, entry: DemoModel, training: Words, test: Words) -> Tried:
    """Fit a model with a live line, test it, and see how large its file is."""
    console.print(f"{entry.name} …")
    model = entry.make()
    started = time.perf_counter()
    with LiveLine(console, None) as line:
        model.set_params(run__callback=line).fit(entry.inputs(training[0]), training[1])
    seconds = time.perf_counter() - started
    model.set_params(run__callback=None)
    inputs, true = entry.inputs(test[0]), test[1]
    with remembering_scores():
        marginals = model.predict_marginals(inputs)
        log_proba = model.sequence_log_proba(inputs, true)
        found = answers(model, inputs, marginals)
    row = DemoRow(
        name=entry.name,
        linear=entry.linear,
        strokes=entry.strokes,
        letter_error=token_error(true, found),
        log_likelihood=log_likelihood(log_proba, [len(word) for word in true]),
        calibration_error=expected_calibration_error(true, marginals, model.classes_),
        seconds=seconds,
        bytes=size_of(model),
    )
    return Tried(row, model, inputs, line.records)


def answers(model: Any, inputs: list[Any], marginals: list[Array]) -> list[list[str]]:
    """Return what the model predicts, from marginals where these decide: words need not be scored again."""
    if model.decoder != "posterior":
        found: list[list[str]] = model.predict(inputs)
        return found
    return [model.classes_[p.argmax(axis=1)].tolist() for p in marginals]


def size_of(model: Any) -> int | None:
    """Return the size of the model's file in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.kf"
        try:
            model.save(path)
        except (AttributeError, InputError):  # not every model has a file format
            return None
        return path.stat().st_size


def table(rows: Sequence[DemoRow]) -> Table:
    """Return all rows as a table, with the fewest errors in bold."""
    headings = "model", "letter\nerror", "log p per\nletter", "calibration\nerror", "seconds", "bytes"
    result = Table(*headings)
    for column in result.columns:
        column.no_wrap = True
        column.justify = "left" if column is result.columns[0] else "right"
    best = min(row.letter_error for row in rows)
    for row in rows:
        result.add_row(
            row.name,
            f"{row.letter_error:.1%}",
            f"{row.log_likelihood:.3f}",
            f"{row.calibration_error:.1%}",
            f"{row.seconds:.1f}",
            "–" if row.bytes is None else f"{row.bytes:,}",
            style="bold" if row.letter_error == best else "",
        )
    return result


def verdict(rows: Sequence[DemoRow]) -> str:
    """Say what the kernel was worth."""
    linear = min((row for row in rows if row.linear), key=lambda row: row.letter_error)
    kernels = (row for row in rows if not row.linear and not row.strokes)
    kernel = min(kernels, key=lambda row: row.letter_error)
    strokes = min((row for row in rows if row.strokes), key=lambda row: row.letter_error)
    fewer = 1 - kernel.letter_error / linear.letter_error
    compared = f"{abs(fewer):.0%} {'fewer' if fewer >= 0 else 'more'} errors"
    return (
        f"The best linear model, {linear.name}, gets {linear.letter_error:.1%} of the letters wrong, "
        f"{kernel.name} {kernel.letter_error:.1%}: {compared}. With directions of strokes instead of pixels "
        f"it is {strokes.letter_error:.1%}."
    )


KERNEL = RBF(gamma=0.03)
PENALTY = 0.05
STROKES = OrientationChannels((16, 8), blur=0.85)
BASIS = 600
"""Basis functions of the sparse model, an eighth of those of the dense one."""


@dataclass(frozen=True)
class DemoModel:
    """One model of the demo, a row of its table."""

    name: str
    linear: bool
    """Whether scores of letters are linear in the pixels."""
    make: Callable[[], Any]
    """Return the estimator, unfitted; settings are those of the experiments letters and letters-svm."""
    strokes: bool = False
    """Whether it sees directions of strokes instead of pixels."""

    def inputs(self, words: list[Any]) -> list[Any]:
        """Return what the model sees of words."""
        return STROKES.transform(words) if self.strokes else words


# Models with probabilities answer label by label; those without, by their best sequence.
ENTRIES = (
    DemoModel("HMM", True, lambda: HMM("bernoulli", decoder="posterior")),
    DemoModel("perceptron", True, lambda: StructuredPerceptron(random_state=0)),
    DemoModel("CRF", True, lambda: CRF(penalty=2.0, decoder="posterior")),
    DemoModel("structured SVM", True, lambda: StructuredSVM(penalty=5.0, tol=1e-2)),
    DemoModel(
        "kernel CRF, dense",
        False,
        lambda: KernelCRF(KERNEL, penalty=PENALTY, parts=Parts(bias=None), decoder="posterior"),
    ),
    DemoModel(
        "kernel CRF, sparse",
        False,
        lambda: KernelCRF(
            KERNEL,
            penalty=PENALTY,
            basis=Nystroem(BASIS),
            random_state=0,
            parts=Parts(bias=None),
            decoder="posterior",
        ),
    ),
    DemoModel(
        "kernel CRF, strokes",
        False,
        lambda: KernelCRF(RBF(gamma=0.45), penalty=0.03, parts=Parts(bias=None), decoder="posterior"),
        strokes=True,
    ),
)
