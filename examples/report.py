"""Train on handwritten words and write a report: python examples/report.py [letters-report.html]"""

import sys

import numpy as np

from kernelfields import KernelCRF
from kernelfields.datasets import load_letters
from kernelfields.kernels import RBF
from kernelfields.report import evaluate, write_report

EVERY = 3  # words are sorted: neighbours are alike

# Dots of a Braille character, row by row, as bits of its number: two columns, four rows.
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def as_text(image: np.ndarray) -> str:
    """Draw 16 x 8 pixels with four lines of four Braille characters."""
    blocks = image.reshape(4, 4, 4, 2).transpose(0, 2, 1, 3).astype(int)
    numbers = 0x2800 + (blocks * BRAILLE).sum(axis=(2, 3))
    return "\n".join("".join(map(chr, row)) for row in numbers)


def main() -> None:
    """Train, test, write."""
    path = sys.argv[1] if len(sys.argv) > 1 else "letters-report.html"
    letters = load_letters()
    X, y = letters.split(0)
    progress = []
    model = KernelCRF(RBF(gamma=0.03), penalty=0.05, callback=progress.append)
    model.fit(X[::EVERY], y[::EVERY])
    X_test, y_test = letters.split(1)
    pictures = [[as_text(image) for image in word] for word in X_test]
    found = evaluate(model, X_test, y_test, pictures, path=progress)
    write_report(found, path, title=f"Letters, learned from {len(X[::EVERY])} words")
    print(f"{found.token_error:.1%} of {found.n_tokens} letters wrong; see {path}")


if __name__ == "__main__":
    main()
