"""Parts of speech from more and more sentences: HMM, CRF, perceptron, SVM, kernel CRF [nguyen2007]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kernelfields.features.sets import pos
from kernelfields.solvers import BlockFrankWolfe, CuttingPlane, MarginSolver

from .lib.claims import Claim
from .lib.contest import FittedModel, Method, chosen
from .lib.experiment import Experiment, Report
from .lib.methods import crf, hmm, kernel_crf, perceptron, svm
from .lib.results import Outcome, Row
from .lib.tasks import LearningTask, Texts, first, text_task, treebank_texts, web_texts

TREEBANK, WEB, PAPER = "Penn Treebank sample", "English Web Treebank", "paper"
HMM_WORDS, HMM_SPELLING = "HMM words", "HMM spelling"
CRF, PERCEPTRON, SVM, KERNEL_CRF = "CRF", "perceptron", "SVM", "kernel CRF degree 2"
GENERATIVE, DISCRIMINATIVE = (HMM_WORDS, HMM_SPELLING), (CRF, PERCEPTRON, SVM)
PUBLISHED = {
    HMM_WORDS: (23.46, 19.95, 17.96, 17.58, 15.87),
    CRF: (16.53, 12.51, 9.84, 7.76, 6.38),
    PERCEPTRON: (10.16, 7.79, 6.38, 5.39, 4.49),
    SVM: (8.37, 6.58, 5.75, 4.71, 4.08),
}
"""Percentage of wrong tags for 500, 1000, 2000, 4000 and 8000 sentences of the Penn Treebank."""
PUBLISHED_SIZES = (500, 1000, 2000, 4000, 8000)
MARKS = (4, 5, 7, 10, 15, 20, 25)
"""On the axis of errors."""


@dataclass(frozen=True)
class POSTableSettings:
    """Training sizes, and the values to choose from."""

    seed: int
    treebank_sizes: list[int]
    web_sizes: list[int]
    kernel_sizes: list[int]
    """Those for which there is a kernel CRF."""
    n_test: int
    validation: float
    """Share of the training part that settings are chosen on."""
    tuned_up_to: int
    """Larger training parts take what was chosen for this size."""
    pseudocounts: list[float]
    crf_penalties: list[float]
    epochs: list[float]
    svm_penalties: list[float]
    kernel_penalties: list[float]
    tol: float
    svm_tol: float
    svm_planes_up_to: int
    """Larger training parts are solved without cutting planes, each of which is as large as all weights."""
    svm_rounds: int
    """Of cutting planes, at most."""
    svm_visits: int
    """Of sentences without them, at most, so that large parts do not take hours."""
    min_hmm_excess: float
    """Points that "clearly worse" stands for."""
    max_spread: float
    """Points between the discriminative methods that "close" stands for."""


Errors = Mapping[tuple[str, str, int], float]
"""By corpus, method and size."""


def run(settings: POSTableSettings, report: Report) -> Outcome:
    """Run all methods on both corpora, from the smallest training part to the largest."""
    found: list[Row] = []
    for name, texts, sizes in (
        (TREEBANK, treebank_texts(settings.n_test, settings.seed), settings.treebank_sizes),
        (WEB, web_texts(settings.n_test, settings.seed), settings.web_sizes),
    ):
        found += curves(name, texts, sizes, settings, report)
    return outcome_of(found, settings)


def outcome_of(found: list[Row], settings: POSTableSettings) -> Outcome:
    """Return the table and the claims of all fits."""
    errors = {(row["corpus"], row["model"], row["size"]): row["error %"] for row in found}
    gaps: dict[int, float] = {}
    for row in (row for row in found if row["model"] == SVM):
        gaps[row["size"]] = max(gaps.get(row["size"], 0.0), row["gap"])
    notes = _notes(gaps, settings)
    return Outcome("pos-table", _claims(found, errors, settings), _rows(errors), {"fits": found}, notes)


def curves(
    name: str, texts: Texts, sizes: list[int], settings: POSTableSettings, report: Report
) -> list[Row]:
    """Return the rows of all methods on one corpus, size by size."""
    found: list[Row] = []
    known: dict[str, float] = {}
    for size in sizes:
        task = text_task(Texts(first(texts.learn, size), texts.test), pos(), settings.validation)
        for method in _methods(task, size, settings):
            report(f"{name}, {size} sentences: {method.name}")
            if size > settings.tuned_up_to and method.name in known:
                method = replace(method, choices=[known[method.name]])
            model = chosen(method, task.train, task.validation)
            known[method.name] = model.choice
            found.append(_detail(name, size, model, task))
            report(str(found[-1]))
    return found


def _methods(task: LearningTask, size: int, settings: POSTableSettings) -> list[Method]:
    some = settings
    solver, rounds = _svm_solver(size, some)
    methods = [
        hmm(HMM_WORDS, some.pseudocounts, spelling=False),
        hmm(HMM_SPELLING, some.pseudocounts, spelling=True),
        crf(CRF, some.crf_penalties, some.tol, observed_only=True),
        perceptron(PERCEPTRON, some.epochs),
        svm(SVM, some.svm_penalties, some.svm_tol, solver=solver, max_iter=rounds),
    ]
    if size in some.kernel_sizes:
        methods.append(kernel_crf(KERNEL_CRF, task.kernel, some.kernel_penalties, some.tol))
    return methods


def _svm_solver(size: int, settings: POSTableSettings) -> tuple[MarginSolver | CuttingPlane, int]:
    """Return what solves SVMs of this many sentences soonest, and the limit of its rounds or passes."""
    if size <= settings.svm_planes_up_to:
        return CuttingPlane(), settings.svm_rounds
    return BlockFrankWolfe(memory=0), settings.svm_visits // size


def _detail(name: str, size: int, model: FittedModel, task: LearningTask) -> Row:
    return {
        "corpus": name,
        "model": model.method.name,
        "size": size,
        "error %": model.error(task.test),
        "chosen": model.choice,
        "gap": model.gap,
        "seconds": model.seconds,
    }


def _rows(errors: Errors) -> list[Row]:
    """Return a row per corpus and method with a column per size, followed by the rows of the paper."""
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for (corpus, model, size), error in errors.items():
        lines.setdefault((corpus, model), {"corpus": corpus, "model": model})[str(size)] = error
    for model, values in PUBLISHED.items():
        sizes = map(str, PUBLISHED_SIZES)
        lines[PAPER, model] = {"corpus": PAPER, "model": model, **dict(zip(sizes, values, strict=True))}
    return list(lines.values())


def _claims(found: list[Row], errors: Errors, settings: POSTableSettings) -> list[Claim]:
    cases = list(dict.fromkeys((corpus, size) for corpus, _, size in errors))

    def of(case: tuple[str, int], models: tuple[str, ...]) -> list[float]:
        return [errors[case[0], model, case[1]] for model in models]

    excess = [min(of(case, GENERATIVE)) - max(of(case, DISCRIMINATIVE)) for case in cases]
    spread = [max(of(case, DISCRIMINATIVE)) - min(of(case, DISCRIMINATIVE)) for case in cases]
    published = [
        dict(zip(PUBLISHED, column, strict=True)) for column in zip(*PUBLISHED.values(), strict=True)
    ]
    paper_excess = min(column[HMM_WORDS] - column[CRF] for column in published)
    paper_spread = max(column[CRF] - column[SVM] for column in published)
    bound, close = settings.min_hmm_excess, settings.max_spread
    crf_excess = max(of(case, (CRF,))[0] - of(case, (SVM,))[0] for case in cases)
    gap = max(row["gap"] for row in found if row["model"] in (CRF, KERNEL_CRF))
    svm_gap = max(row["gap"] for row in found if row["model"] == SVM)
    return [
        Claim("best_hmm_above_worst_discriminative_points", min(excess), paper_excess, at_least=bound),
        Claim("largest_spread_of_discriminative_points", max(spread), paper_spread, at_most=close),
        Claim("largest_crf_above_svm_points", crf_excess, paper_spread, at_most=close),
        Claim("largest_crf_gap", gap, at_most=settings.tol),
        Claim("largest_svm_gap", svm_gap, at_most=settings.svm_tol),
    ]


def _notes(gaps: Mapping[int, float], settings: POSTableSettings) -> list[str]:
    by_size = ", ".join(f"{gap:.2g} ({size})" for size, gap in gaps.items())
    return [
        f"Percentage of wrong tags by number of training sentences, of which {100 * settings.validation:g} % "
        f"are not learnt from but used to choose a penalty, a number of epochs or a pseudocount; beyond "
        f"{settings.tuned_up_to} sentences the choice for {settings.tuned_up_to} is kept. Tested on "
        f"{settings.n_test} sentences: the last ones of the Penn Treebank sample, and drawn from the test "
        "part of the English Web Treebank (XPOS). The paper's corpus is all of the Penn Treebank.",
        "`HMM words` takes all unknown words to be alike, as that of the paper seems to do; `HMM spelling` "
        "goes by their shape and ending. All others have the same lexical features. Margin rescaling with "
        f"the Hamming cost: cutting planes up to {settings.svm_planes_up_to} sentences, block-coordinate "
        f"Frank-Wolfe with at most {settings.svm_visits} visits of sentences beyond that; largest relative "
        f"gaps by size: {by_size}. All decode with Viterbi's algorithm.",
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw the curves of both corpora and of the paper."""
    panels = figure.subplots(1, 3, sharey=True)
    colours: dict[str, str] = {}
    for panel, corpus in zip(panels, (TREEBANK, WEB, PAPER), strict=True):
        sizes: set[int] = set()
        for row in (row for row in outcome.rows if row["corpus"] == corpus):
            points = {int(size): error for size, error in row.items() if size.isdigit()}
            colour = colours.setdefault(row["model"], f"C{len(colours)}")
            panel.plot(list(points), list(points.values()), "o-", color=colour, label=row["model"])
            sizes |= points.keys()
        panel.set(xscale="log", yscale="log", title=corpus, xlabel="training sentences")
        panel.set_xticks(sorted(sizes), [str(size) for size in sorted(sizes)])
        panel.set_yticks(MARKS, [str(mark) for mark in MARKS])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("tags wrong, %")
    figure.legend(*panels[1].get_legend_handles_labels(), loc="outside lower center", ncols=3)


POS_TABLE = Experiment(
    "pos-table",
    "Parts of speech, 500 to 8,000 sentences: HMM, CRF, perceptron, SVM, kernel CRF [nguyen2007]",
    "ptb_sample and ud_english_ewt",
    POSTableSettings,
    run,
    draw,
)
