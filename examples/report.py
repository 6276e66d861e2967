"""Train on handwritten words and write a report: python examples/report.py [letters-report.html]"""

import sys

from kernelfields import KernelCRF, Parts, Run
from kernelfields.datasets import draw_letter, load_letters
from kernelfields.kernels import RBF
from kernelfields.report import evaluate, write_report

EVERY = 3  # words are sorted: neighbours are alike


def main() -> None:
    """Train, test, write."""
    path = sys.argv[1] if len(sys.argv) > 1 else "letters-report.html"
    letters = load_letters()
    X, y = letters.split(0)
    progress = []
    model = KernelCRF(
        RBF(gamma=0.03),
        penalty=0.05,
        run=Run(callback=progress.append),
        parts=Parts(bias=None),
        decoder="posterior",
    )
    model.fit(X[::EVERY], y[::EVERY])
    X_test, y_test = letters.split(1)
    pictures = [[draw_letter(image) for image in word] for word in X_test]
    found = evaluate(model, X_test, y_test, pictures, path=progress)
    write_report(found, path, title=f"Letters, learned from {len(X[::EVERY])} words")
    print(f"{found.token_error:.1%} of {found.n_tokens} letters wrong; see {path}")


if __name__ == "__main__":
    main()
