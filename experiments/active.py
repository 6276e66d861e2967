"""Active learning: labels that are asked for against labels at random, on letters and on Spanish entities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernelfields.active import LearningCurve

from .lib.asking import as_details
from .lib.asking_letters import ASKED, LETTERS, WORDS, LetterRuns, letter_runs
from .lib.asking_spanish import RANDOM, SENTENCES, TOKENS, SpanishRuns, spanish_runs, spanish_task
from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.results import Outcome, Row

STYLES = {
    ASKED: ("C0", "o-"),
    LETTERS: ("C1", "s-"),
    WORDS: ("C2", "^-"),
    TOKENS: ("C0", "o-"),
    SENTENCES: ("C4", "v-"),
    RANDOM: ("C2", "^-"),
}


@dataclass(frozen=True)
class ActiveSettings:
    """Pools, models and numbers of labels."""

    pool_folds: list[int]
    test_folds: list[int]
    max_words: int
    """At most that many words in the pool, and to test on."""
    gamma: float
    """Of the Gaussian kernel of letters."""
    n_landmarks: int
    """Letters of the pool that span the functions of that kernel."""
    letter_penalty: float
    letter_tol: float
    letter_strategy: str
    letter_start: int
    """Labels of the whole words that the choice of single letters begins with; they count."""
    letter_budgets: list[int]
    random_letter_budgets: list[int]
    """The error to be reached is that of random letters after the last of these."""
    letter_repeats: int
    max_letter_share: float
    n_sentences: int | None
    n_test_sentences: int | None
    test_part: str
    seed: int
    token_penalty: float
    token_tol: float
    token_strategy: str
    sentence_strategy: str
    token_start: int
    """Tokens of the whole sentences that all choices begin with; they count."""
    token_budgets: list[int]
    sentence_budgets: list[int]
    share_of_full: float
    """The F1 to be reached, as a share of that of all labels."""
    max_token_share: float

    def __post_init__(self) -> None:
        """Read 0 as all sentences: TOML has no None."""
        for name in ("n_sentences", "n_test_sentences"):
            object.__setattr__(self, name, getattr(self, name) or None)


def run(settings: ActiveSettings, report: Report) -> Outcome:
    """Run both tasks."""
    task = spanish_task(settings)  # first: the data may be missing
    letters, spanish = letter_runs(settings, report), spanish_runs(settings, task, report)
    aims = {
        "letters": float(letters.curves[LETTERS].scores[-1]),
        "spanish": settings.share_of_full * spanish.full,
    }
    labels = {"letters": settings.random_letter_budgets[-1], "spanish": spanish.n_tokens}
    rows = [
        _row(data, name, curve, aims[data], labels[data])
        for data, curves in (("letters", letters.curves), ("spanish", spanish.curves))
        for name, curve in curves.items()
    ]
    details = {
        "curves": {"letters": as_details(letters.curves), "spanish": as_details(spanish.curves)},
        "aims": aims,
        "labels": labels,
        "full_f1": spanish.full,
    }
    return Outcome(
        "active", _claims(letters, spanish, aims, labels, settings), rows, details, _notes(settings)
    )


def _row(data: str, name: str, curve: LearningCurve, aim: float, labels: int) -> Row:
    needed = curve.labels_to_reach(aim)
    reached = np.isfinite(needed)
    return {
        "data": data,
        "choice": name,
        "to reach %": 100 * aim,
        "labels needed": round(needed) if reached else None,
        "share": needed / labels if reached else None,
        "most labels": round(float(curve.labels[-1])),
        "score then %": 100 * float(curve.scores[-1]),
        "seconds": float(curve.seconds.sum()),
    }


def _claims(
    letters: LetterRuns,
    spanish: SpanishRuns,
    aims: dict[str, float],
    labels: dict[str, int],
    settings: ActiveSettings,
) -> list[Claim]:
    asked = letters.curves[ASKED].labels_to_reach(aims["letters"]) / labels["letters"]
    tokens = spanish.curves[TOKENS].labels_to_reach(aims["spanish"]) / labels["spanish"]
    return [
        Claim("letters_share_of_labels", asked, at_most=settings.max_letter_share),
        Claim("spanish_share_of_tokens", tokens, at_most=settings.max_token_share),
        Claim("labels_asked_twice", letters.asked_twice + spanish.asked_twice, at_most=0.0),
    ]


def _notes(settings: ActiveSettings) -> list[str]:
    last = settings.random_letter_budgets[-1]
    return [
        f"Letters: the score is the share of right letters on folds {_listed(settings.test_folds)}, the pool "
        f"is folds {_listed(settings.pool_folds)}; means over {settings.letter_repeats} draws. To be reached "
        f"is what single letters at random give after {last} labels. The choice by "
        f"`{settings.letter_strategy}` begins with whole random words of {settings.letter_start} letters, "
        "which count, then asks for single letters, at most one of a word at a time; letters that nobody "
        "told are latent. A linear CRF on the features of a Gaussian kernel.",
        f"Spanish: F1 of entities on {settings.test_part}; to be reached are "
        f"{100 * settings.share_of_full:g} % of what all labels give. All choices begin with the same whole "
        f"sentences of {settings.token_start} tokens, which count. Tokens are asked for by "
        f"`{settings.token_strategy}`, sentences by `{settings.sentence_strategy}`. In sentences with an "
        "answer the tokens that nobody told are filled in by the model before each fit.",
    ]


def _listed(folds: list[int]) -> str:
    return ", ".join(map(str, folds))


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw error, or F1, against the number of labels, with what is to be reached."""
    details = outcome.details
    left, right = figure.subplots(1, 2)
    for name, curve in details["curves"]["letters"].items():
        errors = [100 * (1 - score) for score in curve["scores"]]
        _draw_curve(left, name, curve["labels"], errors)
    aim = 100 * (1 - details["aims"]["letters"])
    _draw_aim(left, aim, f"{details['labels']['letters']} random letters: {aim:.1f} %")
    left.set_xlabel("letters labelled")
    left.set_ylabel("handwritten letters wrong, %")
    left.set_yscale("log")
    left.set_yticks([10, 15, 20, 30, 40], ["10", "15", "20", "30", "40"])
    left.minorticks_off()
    total = details["labels"]["spanish"]
    for name, curve in details["curves"]["spanish"].items():
        shares = [100 * n / total for n in curve["labels"]]
        _draw_curve(right, name, shares, [100 * score for score in curve["scores"]])
    aim = 100 * details["aims"]["spanish"]
    share = 100 * details["aims"]["spanish"] / details["full_f1"]
    _draw_aim(right, aim, f"{share:.0f} % of what all labels give: {aim:.1f} %")
    right.set_xlabel("tokens labelled, % of the training part")
    right.set_ylabel("F1 of Spanish entities, %")
    for panel in (left, right):
        panel.grid(alpha=0.3)
        panel.legend(fontsize="small")


def _draw_curve(panel: Any, name: str, labels: list[float], values: list[float]) -> None:
    colour, style = STYLES[name]
    panel.plot(labels, values, style, color=colour, markersize=4, label=name)


def _draw_aim(panel: Any, value: float, label: str) -> None:
    panel.axhline(value, color="black", linestyle="--", linewidth=1, label=label)


ACTIVE = Experiment(
    "active",
    "labels asked for against labels at random: letters in words, tokens and sentences in Spanish text",
    "conll2002",
    ActiveSettings,
    run,
    draw,
)
