"""Tries cases one after the other, in a process that may die of any of them.

Reads lines of ``target name index`` and answers each with a line: nothing wrong, or what was.
"""

from __future__ import annotations

import contextlib
import io
import resource
import signal
import sys

MEMORY = 6 * 2**30
SECONDS = 20


def judged(target: str, name: str, index: int) -> str:
    """Say what is wrong with what comes of a value; nothing if it works, or is refused in our words."""
    from kernelfields.errors import InfeasibleError, ScoreError

    from ._uses import tried
    from ._walk import VALUES

    value = VALUES[index]
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            tried(target, {name: value})
    except (ScoreError, InfeasibleError) as error:
        if not isinstance(value, int | float) or not 2**31 <= abs(value) < float("inf"):
            return f"{type(error).__name__}: {error}"  # only what is finite and huge may end like this
    except (ValueError, TypeError, MemoryError) as error:
        text = str(error)
        if "incompatible function arguments" in text or "\n" in text or not text:
            return f"{type(error).__name__}: {text[:100]!r}"
        if name not in text or not text.rstrip().endswith((".", "?")):
            return f"{type(error).__name__} without {name}: {text[:150]}"
    except BaseException as error:  # anything else is foreign
        return f"{type(error).__name__}: {str(error)[:100]}"
    return ""


def main() -> None:
    """Answer until there are no more lines."""
    from . import _uses  # noqa: F401  imports take long: before the clock starts

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for line in sys.stdin:
        target, name, index = line.split()
        signal.alarm(SECONDS)  # ends the process, also inside the core
        answer = judged(target, name, int(index))
        signal.alarm(0)
        print(answer.replace("\n", " "), flush=True)


if __name__ == "__main__":
    main()
