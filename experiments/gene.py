"""Genes of a bacterium: a hidden Markov model and a conditional random field, accuracy and speed."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from kernelfields.arrays import Array
from kernelfields.constraints import Rule
from kernelfields.datasets import Genome, load_genome
from kernelfields.emissions import Categorical
from kernelfields.estimators import CRF, HMM

from .lib.claims import Claim
from .lib.experiment import Experiment, Report
from .lib.genes import LABELS, STATES, STRANDS, genes, grammar, states_of, word_features
from .lib.results import Outcome, Row


@dataclass(frozen=True)
class GeneSettings:
    """How the genome is cut into pieces, and the settings of the models."""

    piece: int
    """Bases in a piece, about; every fifth piece is for testing."""
    n_pieces: int
    """Pieces that are used; all if there are fewer."""
    orders: list[int]
    """Numbers of bases before it that a base depends on in the HMM."""
    pseudocount: float
    """Of bases in a state."""
    penalties: list[float]
    """Of the CRF, to choose from."""
    n_tuning: int
    """Training pieces for that choice, a shorter stretch of the genome; every fourth is judged on."""
    tuning_tol: float
    tol: float
    """Relative gap of the CRF."""


def run(settings: GeneSettings, report: Report) -> Outcome:
    """Train on four fifths of the pieces, test on the others."""
    pieces = load_genome().cut(settings.piece)[: settings.n_pieces]
    train = [piece for n, piece in enumerate(pieces) if n % 5 != 4]
    test = [piece for n, piece in enumerate(pieces) if n % 5 == 4]
    rows: list[Row] = []
    report("HMM of three states")
    rows.append(_row("HMM, 3 states", _Three(settings), train, test))
    for order in settings.orders:
        report(f"HMM of codons, bases depend on {order} before them")
        rows.append(_row(f"HMM of codons, order {order}", _Codons(order, settings), train, test))
    penalty = _chosen(settings, train[: settings.n_tuning], report)
    report(f"CRF, penalty {penalty:g}")
    field = _Field(penalty, settings.tol)
    rows.append({**_row("CRF of codons", field, train, test), "gap": field.gap})
    best = max(row["base accuracy %"] for row in rows[1:-1])
    claims = [
        Claim("genes_of_viterbi_in_frame_percent", rows[-1]["in frame %"], at_least=100.0),
        Claim("crf_minus_best_hmm_points", rows[-1]["base accuracy %"] - best, at_least=0.0),
        Claim("codons_minus_three_states_points", best - rows[0]["base accuracy %"], at_least=0.0),
        Claim("hmm_training_bases_per_second", rows[1]["training, bases/s"], at_least=2e5),
        Claim("crf_relative_gap", field.gap, at_most=settings.tol),
    ]
    bases = {
        name: sum(len(piece.bases) for piece in part) for name, part in (("train", train), ("test", test))
    }
    details = {"bases": bases, "penalty": penalty}
    return Outcome("gene", claims, rows, details, _notes(bases, penalty, settings))


def _chosen(settings: GeneSettings, pieces: list[Genome], report: Report) -> float:
    """Return the penalty with the most bases right on other pieces than it was fitted to."""
    learnt = [piece for n, piece in enumerate(pieces) if n % 4 != 3]
    held = [piece for n, piece in enumerate(pieces) if n % 4 == 3]

    def right(penalty: float) -> int:
        report(f"CRF of a shorter stretch, penalty {penalty:g}")
        field = _Field(penalty, settings.tuning_tol)
        field.fit(learnt)
        found = zip(field.strands(held), held, strict=True)
        return sum(int((LABELS[mine] == piece.labels).sum()) for mine, piece in found)

    return max(settings.penalties, key=right)


class _Codons:
    """An HMM whose states are codon positions; a base may depend on the preceding ones."""

    def __init__(self, order: int, settings: GeneSettings) -> None:
        family = Categorical(settings.pseudocount, symbols=4, order=order)
        rule: Rule = grammar()
        self.model = HMM(family, constraints=rule, pseudocount=0.0)

    def fit(self, pieces: list[Genome]) -> None:
        self.model.fit([piece.bases for piece in pieces], [states_of(piece.labels) for piece in pieces])

    def strands(self, pieces: list[Genome]) -> list[Array]:
        marginals = self.model.predict_marginals([piece.bases for piece in pieces])
        return [_by_strand(m).argmax(axis=1) for m in marginals]

    def paths(self, pieces: list[Genome]) -> list[Array]:
        return [STRANDS[np.array(path)] for path in self.model.predict([piece.bases for piece in pieces])]


class _Field:
    """A CRF over the same states, whose features are the words around each base."""

    def __init__(self, penalty: float, tol: float) -> None:
        # Short stretches may lack some states.
        self.model = CRF(
            penalty, constraints=grammar(), classes=list(range(len(STATES))), tol=tol, max_iter=3000
        )

    @property
    def gap(self) -> float:
        """The certified relative gap."""
        assert self.model.certificate_ is not None
        return float(self.model.certificate_.relative_gap)

    def fit(self, pieces: list[Genome]) -> None:
        y = [states_of(piece.labels) for piece in pieces]
        # In double: sums over a million bases in single precision are too coarse for a gap of 1e-3.
        features = _features(pieces).astype(np.float64)
        self.model.fit(features, y, lengths=[len(s) for s in y])

    def strands(self, pieces: list[Genome]) -> list[Array]:
        lengths = [len(piece.bases) for piece in pieces]
        marginals = self.model.predict_marginals(_features(pieces), lengths=lengths)
        return [_by_strand(m).argmax(axis=1) for m in marginals]

    def paths(self, pieces: list[Genome]) -> list[Array]:
        lengths = [len(piece.bases) for piece in pieces]
        return [STRANDS[np.array(path)] for path in self.model.predict(_features(pieces), lengths=lengths)]


class _Three:
    """An HMM whose states are the labels."""

    def __init__(self, settings: GeneSettings) -> None:
        self.model = HMM(Categorical(settings.pseudocount, symbols=4))

    def fit(self, pieces: list[Genome]) -> None:
        numbers = [np.searchsorted(["C", "N", "R"], piece.labels) for piece in pieces]
        self.model.fit([piece.bases for piece in pieces], [np.array([1, 0, 2])[k] for k in numbers])

    def strands(self, pieces: list[Genome]) -> list[Array]:
        return [m.argmax(axis=1) for m in self.model.predict_marginals([piece.bases for piece in pieces])]

    def paths(self, pieces: list[Genome]) -> list[Array]:
        return [np.array(path) for path in self.model.predict([piece.bases for piece in pieces])]


def _features(pieces: list[Genome]) -> Any:
    return word_features([piece.bases for piece in pieces])


def _by_strand(marginals: Array) -> Array:
    """Return probabilities of N, C and R."""
    return np.stack([marginals[:, k == STRANDS].sum(axis=1) for k in range(3)], axis=1)


def _row(name: str, model: Any, train: list[Genome], test: list[Genome]) -> Row:
    started = perf_counter()
    model.fit(train)
    trained = perf_counter()
    strands = model.strands(test)
    tested = perf_counter()
    paths = [LABELS[path] for path in model.paths(test)]
    right = np.concatenate([LABELS[mine] == piece.labels for mine, piece in zip(strands, test, strict=True)])
    found, exact, framed, there, whole = 0, 0, 0, 0, 0
    for path, piece in zip(paths, test, strict=True):
        mine, true = genes(path), genes(piece.labels)
        complete = [(a, b) for a, b, _ in mine if b < len(path)]  # a piece may end inside a gene
        found, there, exact = found + len(mine), there + len(true), exact + len(mine & true)
        framed, whole = framed + sum((b - a) % 3 == 0 for a, b in complete), whole + len(complete)
    return {
        "model": name,
        "base accuracy %": 100 * float(right.mean()),
        "genes found exactly %": 100 * exact / max(there, 1),
        "of genes predicted %": 100 * exact / max(found, 1),
        "in frame %": 100 * framed / max(whole, 1),
        "training s": trained - started,
        "training, bases/s": sum(len(piece.bases) for piece in train) / (trained - started),
        "testing, bases/s": len(right) / (tested - trained),
    }


def _notes(bases: dict[str, int], penalty: float, settings: GeneSettings) -> list[str]:
    return [
        f"{bases['train']:,} bases for training, {bases['test']:,} for testing. The penalty of the CRF, "
        f"{penalty:g}, is the one of {settings.penalties} with the most bases right in a quarter of "
        f"the first {settings.n_tuning} training pieces, fitted to the others of them. Base accuracy is that "
        "of the most probable of N, C and R at every base; genes are those of the best path, exact if begin, "
        "end and strand are right. The data come without published figures."
    ]


def draw(outcome: Outcome, figure: Any) -> None:
    """Draw accuracies of bases and genes for every model."""
    panel = figure.subplots()
    places = np.arange(len(outcome.rows))
    for shift, column in ((-0.2, "base accuracy %"), (0.2, "genes found exactly %")):
        panel.bar(places + shift, [row[column] for row in outcome.rows], 0.38, label=column)
    panel.set_xticks(places, [row["model"].replace(", ", ",\n") for row in outcome.rows])
    panel.set_ylabel("percent")
    panel.grid(axis="y", alpha=0.3)
    panel.legend()


GENE = Experiment(
    "gene",
    "Genes of Streptococcus pyogenes with an HMM and a CRF: accuracy and speed",
    "strep_genome",
    GeneSettings,
    run,
    draw,
)
