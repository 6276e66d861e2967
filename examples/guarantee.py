"""Answer only where errors are guaranteed to be rare: python examples/guarantee.py [guarantee-report.html]"""

import sys

from kernelfields import CRF
from kernelfields.datasets import load_letters
from kernelfields.report import evaluate, write_report

EVERY = 1  # words are sorted: neighbours are alike


def main() -> None:
    """Train, recalibrate, calibrate, and test, each on words of its own."""
    path = sys.argv[1] if len(sys.argv) > 1 else "guarantee-report.html"
    letters = load_letters()
    X, y = letters.split(0)
    model = CRF(penalty=2.0, decoder="posterior").fit(X[::EVERY], y[::EVERY])
    X, y = letters.split(1)
    model.recalibrate(X[::EVERY], y[::EVERY])
    print(f"temperature {model.scaling_.temperature:.3f}")
    X, y = letters.split(2, 3, 4)
    model.calibrate(X, y)
    X, y = letters.split(5, 6, 7, 8, 9)
    found = evaluate(model, X[::EVERY], y[::EVERY], error_at_most=0.1, confidence=0.9)
    assert found.guaranteed is not None
    print(found.guaranteed.sentence)
    write_report(found, path, title="Letters, errors on at most 10 % of the answers")
    print(f"{found.guaranteed.error:.1%} of the answered letters wrong; see {path}")


if __name__ == "__main__":
    main()
