"""Training sets larger than memory: text streamed through a limit, and a million residues in a kernel CRF.

Of the 50 GB of text that the rate is for, a slice is measured, at two sizes: that the rate is flat is what
lets the rest be extrapolated.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from . import _million_side, _run, _streamed_side

LIMIT = 2 * 2**30
WHOLE = 50 * 10**9
"""Bytes of text that the extrapolation is for."""


def run(quick: bool) -> _run.Result:
    sizes, columns = ((1, 1), 2**10) if quick else ((1_000_000, 4_000_000), 2**18)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for tokens in sizes:
            path = Path(folder, "text.conll")
            _streamed_side.write_corpus(path, tokens)
            row = _streamed_side.measured(path, LIMIT, columns, 2 if quick else 5)
            rows.append(row | {"bytes_per_token": path.stat().st_size / row["tokens"]})
    million = _million_side.measured(2_000 if quick else 1_000_000, 50 if quick else 2_000)
    rates = [row["tokens"] / row["seconds_per_iteration"] for row in rows]
    tokens = WHOLE / rows[-1]["bytes_per_token"]
    details: dict[str, Any] = {"machine": _run.machine(), "quick": quick, "streams": rows, "million": million}
    details["rate_of_the_large_over_the_small"] = rates[-1] / rates[0]
    details["extrapolated"] = {
        "tokens": tokens,
        "hours_per_iteration": tokens / rates[-1] / 3600,
        "hours_reading": tokens * rows[-1]["seconds_reading"] / rows[-1]["tokens"] / 3600,
    }
    bars = [
        _run.Bar("rss_over_limit", max(row["peak_bytes"] for row in rows) / LIMIT, at_most=1.1),
        _run.Bar("million_vertices_gap", million["relative_gap"], at_most=1e-2),
    ]
    return _run.Result("out_of_core", bars, details)
