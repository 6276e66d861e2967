"""A threshold with a guarantee: how often it is violated, and how much is answered beside an oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.guarantee_draws import BETTING, METHODS, ThresholdDraws, draw_misses, draw_thresholds
from .lib.guarantee_tasks import LETTERS, AnswerTask, letter_task, spanish_tasks
from .lib.results import Outcome, Row


@dataclass(frozen=True)
class GuaranteeSettings:
    """Models, and sizes of calibration sets."""

    error_at_most: float
    """α."""
    violated_at_most: float
    """δ."""
    miss_at_most: float
    """α of sets of labels."""
    repeats: int
    """Calibration sets of each task."""
    seed: int
    train_fold: int
    max_words: int
    """At most that many words to train on, and in the pool."""
    n_words: int
    """Words of a calibration set."""
    gamma: float
    letter_penalty: float
    order_seed: int
    pool_parts: list[str]
    n_train_sentences: int
    max_sentences: int
    n_sentences: int
    """Sentences of a calibration set."""
    token_penalty: float
    tol: float
    least_over_oracle: float


def run(settings: GuaranteeSettings, report: Report) -> Outcome:
    """Draw calibration sets for every task and method."""
    tasks = {**spanish_tasks(settings, report)}  # first: the data may be missing
    tasks = {LETTERS: letter_task(settings, report), **tasks}
    found: dict[tuple[str, str], ThresholdDraws] = {}
    for name, task in tasks.items():
        for method in METHODS:
            report(f"{name}: {settings.repeats} calibration sets, {method}")
            draws = draw_thresholds(
                task,
                method,
                settings.error_at_most,
                settings.violated_at_most,
                settings.repeats,
                settings.seed,
            )
            found[name, method] = draws
    rows = [_row(name, method, tasks[name], draws, settings) for (name, method), draws in found.items()]
    missed = {name: _missed(task, settings) for name, task in tasks.items()}
    details = {
        "errors": {name: found[name, BETTING].error.tolist() for name in tasks},
        "shares": {
            name: (found[name, BETTING].answered / found[name, BETTING].oracle).tolist() for name in tasks
        },
        "missed": missed,
        "error_at_most": settings.error_at_most,
    }
    return Outcome("guarantee", _claims(rows, settings), rows, details, _notes(settings, missed))


def _row(name: str, method: str, task: AnswerTask, draws: ThresholdDraws, settings: GuaranteeSettings) -> Row:
    return {
        "data": name,
        "guarantee by": method,
        "calibration set": task.n_calibration,
        "judged on": task.answers.n_sequences - task.n_calibration,
        "violated": float((draws.error > settings.error_at_most).mean()),
        "error %": 100 * float(draws.error.mean()),
        "answered %": 100 * float(draws.answered.mean()),
        "oracle %": 100 * float(draws.oracle.mean()),
        "answered over oracle": float((draws.answered / draws.oracle).mean()),
        "nothing proved": float((draws.answered == 0).mean()),
    }


def _missed(task: AnswerTask, settings: GuaranteeSettings) -> float:
    found = draw_misses(task, settings.miss_at_most, settings.repeats, settings.seed)
    return float(found.mean())


def _claims(rows: list[Row], settings: GuaranteeSettings) -> list[Claim]:
    ours = [row for row in rows if row["guarantee by"] == BETTING]
    return [
        Claim("violated_share", max(row["violated"] for row in ours), at_most=settings.violated_at_most),
        Claim(
            "answered_over_oracle",
            min(row["answered over oracle"] for row in ours),
            at_least=settings.least_over_oracle,
        ),
    ]


def _notes(settings: GuaranteeSettings, missed: dict[str, float]) -> list[str]:
    shares = ", ".join(f"{name} {100 * share:.2f} %" for name, share in missed.items())
    return [
        f"Errors at most {100 * settings.error_at_most:g} % of the answers, with confidence "
        f"{1 - settings.violated_at_most:g}; {settings.repeats} calibration sets of each kind, drawn without "
        "replacement from a pool that the model was not trained on, each judged on the rest of the pool. "
        "The oracle has the laxest threshold whose error on that rest is small enough. Claims are about the "
        "worst of the three data sets, with the method that `calibrate` has by default.",
        f"Letters: a kernel CRF trained on fold {settings.train_fold}, the pool is the other folds. Spanish: "
        f"a linear CRF trained on {settings.n_train_sentences} of the training sentences, the pool is the "
        f"other ones and {' and '.join(settings.pool_parts)}. An entity is right if ends and type are.",
        f"Sets of labels that miss at most {100 * settings.miss_at_most:g} % in the mean over sequences, of "
        f"labels or of whole entities, missed: {shares}.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw how errors and answered shares are spread over calibration sets."""
    details = outcome.details
    left, right = figure.subplots(1, 2)
    for name, errors in details["errors"].items():
        left.hist(100 * np.array(errors), bins=40, histtype="step", linewidth=1.5, label=name)
        right.hist(
            100 * np.array(details["shares"][name]), bins=40, histtype="step", linewidth=1.5, label=name
        )
    aim = 100 * details["error_at_most"]
    left.axvline(aim, color="black", linestyle="--", linewidth=1, label=f"at most {aim:g} %")
    left.set_xlabel("errors among the answers, %")
    left.set_ylabel("calibration sets")
    right.set_xlabel("answered, % of what the oracle answers")
    for panel in (left, right):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small", loc="upper left")


GUARANTEE = Experiment(
    "guarantee",
    "errors at most 5 % of the answers: how often that fails, and how much is answered beside an oracle",
    "conll2002",
    GuaranteeSettings,
    run,
    draw,
)
