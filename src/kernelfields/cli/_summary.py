"""What ``kf train`` says at the end."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from rich.console import Console

from ..report import Evaluation, ParseEvaluation
from ..trials.preparing import inner
from ._loaded import warning_of
from ._token_features import unused_columns


def summary_of(fitted: Any, out: Path, seconds: float, notes: list[str]) -> dict[str, Any]:
    """Return a summary of a fit that can be written as JSON."""
    fitted = inner(fitted)
    certificate = getattr(fitted, "certificate_", None)
    return {
        "model": str(out),
        "kind": type(fitted).__name__,
        "labels": len(fitted.classes_),
        "iterations": getattr(fitted, "n_iter_", None),
        "objective": None if certificate is None else _finite(certificate.value),
        "relative_gap": None if certificate is None else _finite(certificate.relative_gap),
        "stop_reason": getattr(fitted, "stop_reason_", None),
        "seconds": seconds,
        "bytes": out.stat().st_size,
        "warnings": [*notes, *filter(None, [unused_columns(fitted), warning_of(fitted)])],
    }


def _finite(value: float) -> float | None:
    """Return a number that JSON can represent, or None."""
    return value if math.isfinite(value) else None


def held_out_summary(found: Evaluation) -> dict[str, Any]:
    """Return the scores on held-out data."""
    every = found.as_dict()
    return {f"held_out_{name}": every[name] for name in ("token_error", "entity_f1", "nll", "ece")}


def held_out_parses(found: ParseEvaluation) -> dict[str, Any]:
    """Return the scores of trees or links on held-out data."""
    scores = {found.words.scores[name][0]: value for name, value in found.known_scores.items()}
    numbers = {f"held_out_{name}": value for name, value in found.scores.items()}
    return {**numbers, "held_out_ece": found.ece, "held_out_scores": scores}


def show_summary(console: Console, summary: dict[str, Any]) -> None:
    """Print it in sentences."""
    console.print(f"{summary['kind']} with {summary['labels']} labels in {summary['seconds']:.1f} s.")
    if summary["relative_gap"] is not None:
        console.print(
            f"Objective {summary['objective']:.4f}, "
            f"certified within {summary['relative_gap']:.1e} of the best."
        )
    for note in summary["warnings"]:
        console.print(note, style="yellow")
    if "held_out_token_error" in summary:
        f1 = summary["held_out_entity_f1"]
        words = [f"token error {summary['held_out_token_error']:.2%}"]
        words += [] if f1 is None else [f"entity F1 {f1:.2%}"]
        words += [f"calibration error {summary['held_out_ece']:.2%}"]
        console.print("Held out: " + ", ".join(words) + ".")
    if "held_out_scores" in summary:
        words = [f"{name} {value:.2%}" for name, value in summary["held_out_scores"].items()]
        words += (
            [] if summary["held_out_ece"] is None else [f"calibration error {summary['held_out_ece']:.2%}"]
        )
        console.print("Held out: " + ", ".join(words) + ".")
    console.print(f"Written to {summary['model']} ({size_of(summary['bytes'])}).")


def size_of(count: int) -> str:
    """Return a number of bytes in words: 812 bytes, 13 kB, 0.4 MB, 2.1 GB."""
    if count < 1000:
        return f"{count} bytes"
    if count < 100_000:
        return f"{count / 1e3:.0f} kB"
    return f"{count / 1e6:.1f} MB" if count < 1e9 else f"{count / 1e9:.1f} GB"
