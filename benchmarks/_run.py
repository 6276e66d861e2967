"""What all benchmarks share: alternating timing, the result and its two forms, rates of the machine.

Machines are noisy and slow down over minutes, so the sides of a comparison take turns inside every
round and medians over the rounds are compared. The ceilings of the machine are timed in the same
rounds, as two more sides.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import ThreadpoolController


@dataclass(frozen=True)
class Side:
    """One of the things that are timed in turn."""

    call: Callable[[], object]
    threads: int = 1


@dataclass(frozen=True)
class Bar:
    """A number and the bound it has to keep: exactly one of the two."""

    name: str
    value: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def met(self) -> bool:
        """Whether the bound holds."""
        return self.value >= self.at_least if self.at_least is not None else self.value <= self.at_most

    def as_json(self) -> dict[str, Any]:
        """``name``, ``value`` and the bound that is given."""
        bound = {"at_least": self.at_least} if self.at_least is not None else {"at_most": self.at_most}
        return {"name": self.name, "value": self.value, **bound}


@dataclass(frozen=True)
class Result:
    """What a benchmark returns."""

    benchmark: str
    bars: list[Bar]
    details: dict[str, Any] = field(default_factory=dict)
    """Numbers and strings by name; lists of flat dictionaries are tables."""

    def as_json(self) -> dict[str, Any]:
        """Give the form that is the same for all benchmarks."""
        bars = [bar.as_json() for bar in self.bars]
        return {"benchmark": self.benchmark, "bars": bars, "details": self.details}


def alternate(sides: Mapping[str, Side], rounds: int) -> dict[str, float]:
    """Median seconds of each side over some rounds, in each of which every side runs once.

    One round more goes ahead and is not counted. Limits on threads are set outside the clock.
    """
    controller = ThreadpoolController()  # after all libraries have been loaded
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds + 1):
        for name, side in sides.items():
            with controller.limit(limits=side.threads):
                start = time.perf_counter()
                side.call()
                seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(values[1:]) for name, values in seconds.items()}


class Ceilings:
    """What this machine can do at best: multiply-adds (a matrix product) and copying memory.

    ``sides`` go into ``alternate`` beside the others, ``rates`` reads their medians.
    """

    def __init__(self, quick: bool) -> None:
        self.size = 64 if quick else 512
        self.products = {t: np.ones((self.size, self.size), dtype=t) for t in ("float64", "float32")}
        self.results = {t: np.empty_like(a) for t, a in self.products.items()}
        self.source = np.ones(2**16 if quick else 2**23)  # 64 MB, more than caches hold
        self.target = np.zeros_like(self.source)

    def sides(self) -> dict[str, Side]:
        """Give the ceilings as sides, on one thread."""
        return {
            "product_float64": Side(lambda: self._product("float64")),
            "product_float32": Side(lambda: self._product("float32")),
            "copy": Side(lambda: np.copyto(self.target, self.source)),
        }

    def rates(self, seconds: Mapping[str, float]) -> dict[str, float]:
        """GFLOP/s in either precision, GB/s read and written, on one thread."""
        flops = 2 * self.size**3
        return {
            "float64_gflops": flops / seconds["product_float64"] / 1e9,
            "float32_gflops": flops / seconds["product_float32"] / 1e9,
            "copy_gbytes": 2 * self.source.nbytes / seconds["copy"] / 1e9,
        }

    def _product(self, dtype: str) -> object:
        return np.matmul(self.products[dtype], self.products[dtype], out=self.results[dtype])


def machine() -> dict[str, Any]:
    """Say where the numbers come from."""
    return {"processor": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}


def show(result: Result) -> None:
    """Print a result for people."""
    console = Console()
    console.print(f"[bold]{result.benchmark}[/bold]")
    for name, value in result.details.items():
        if isinstance(value, list):
            console.print(_table(name, value))
        elif isinstance(value, dict):
            console.print(f"{name}: " + ", ".join(f"{k} {_text(v)}" for k, v in value.items()))
        else:
            console.print(f"{name}: {_text(value)}")
    bars = Table("bar", "value", "bound", "met", title="bars", title_justify="left")
    for bar in result.bars:
        bound = f"≥ {_text(bar.at_least)}" if bar.at_least is not None else f"≤ {_text(bar.at_most)}"
        bars.add_row(bar.name, _text(bar.value), bound, "yes" if bar.met else "[red]no[/red]")
    console.print(bars)


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    table = Table(*(column.replace("_", " ") for column in columns), title=title, title_justify="left")
    for row in rows:
        table.add_row(*(_text(row.get(column, "")) for column in columns))
    return table


def _text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
