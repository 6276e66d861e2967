"""Run the code of the gallery's pages, check the numbers they show, and draw their pictures.

``python docs/gallery/make.py [NAME ...]`` from the repository; pages whose data are missing are left as they
are, and said so. Pictures have no background, and a grey that is readable on light and dark pages.
"""

from __future__ import annotations

import ast
import re
import sys
import time
from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot as plt

from kernelfields.errors import MissingDataError
from kernelfields.plot import STYLE

FOLDER = Path(__file__).parent
DOTS = 110
"""Per inch."""
SLACK = 0.5
"""How far a number may be from the one that a page shows: processors round differently."""
_BLOCK = re.compile(r"^```python\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.?\d*")


def run(page: Path) -> list[tuple[str, str]]:
    """Run the code of a page; return the values that it has and those that the page shows."""
    names: dict[str, object] = {"__name__": "__main__"}
    seen = []
    for code in _BLOCK.findall(page.read_text(encoding="utf-8")):
        lines = code.splitlines()
        for statement in ast.parse(code).body:
            _, _, shown = lines[(statement.end_lineno or 1) - 1].partition("  # → ")
            if shown and isinstance(statement, ast.Expr):
                value = eval(compile(ast.Expression(statement.value), page.name, "eval"), names)
                seen.append((repr(value), shown))
            else:
                exec(compile(ast.Module([statement], []), page.name, "exec"), names)
    return seen


def agrees(value: str, shown: str) -> bool:
    """Return whether two values are the same but for the last digits of numbers."""
    if _NUMBER.sub("#", value) != _NUMBER.sub("#", shown):
        return False
    pairs = zip(_NUMBER.findall(value), _NUMBER.findall(shown), strict=True)
    return all(abs(float(a) - float(b)) <= SLACK for a, b in pairs)


def draw(page: Path, folder: Path = FOLDER) -> str:
    """Run a page and keep its last figure; return what became of it."""
    started = time.perf_counter()
    plt.close("all")
    with mpl.rc_context(STYLE):
        try:
            seen = run(page)
        except MissingDataError as error:
            return f"left as it is. {error}"
        picture = folder / f"gallery-{page.stem}.png"
        # without the version of matplotlib, which would change the file
        plt.gcf().savefig(picture, dpi=DOTS, metadata={"Software": None})
    plt.close("all")
    wrong = [f"; IT SAYS {shown}, NOT {value}" for value, shown in seen if not agrees(value, shown)]
    size = picture.stat().st_size / 1024
    return f"{time.perf_counter() - started:.1f} s, {size:.0f} kB{''.join(wrong)}"


def main(names: list[str]) -> None:
    """Draw the pages named, or all."""
    for page in sorted(FOLDER.glob("*.md")):
        if page.stem != "index" and (not names or page.stem in names):
            print(f"{page.stem}: {draw(page)}", flush=True)


if __name__ == "__main__":
    mpl.use("agg")
    main(sys.argv[1:])
