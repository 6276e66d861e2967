"""One side of the named-entity part of ``kernel_dense``, alone in a process.

python -m benchmarks._kernel_side ours|svc SENTENCES
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from kernelfields.datasets import load_conll2002, spelling_templates
from kernelfields.features import TemplateFeatures

from ._train_side import peak_megabytes

PENALTY = 0.1


def main() -> None:
    side, sentences = sys.argv[1], int(sys.argv[2])
    corpus = load_conll2002("train", sentences)
    X, _ = TemplateFeatures(spelling_templates(), dtype=np.float32).fit_transform(corpus.sentences)
    labels = np.array([label for sequence in corpus.labels for label in sequence])
    gram_mb = X.shape[0] ** 2 * 4 / 2**20
    scale = 1.0 / float(np.median(np.diff(X.indptr)))  # about one on the diagonal before squaring
    started = time.perf_counter()
    if side == "ours":
        from kernelfields import KernelCRF, Parts
        from kernelfields.kernels import Polynomial

        lengths = [len(sequence) for sequence in corpus.labels]
        model = KernelCRF(
            kernel=Polynomial(2, gamma=scale, offset=1.0),
            penalty=PENALTY,
            parts=Parts(bias=None),
            decoder="posterior",
        )
        model.fit(X, labels, lengths=lengths)
        more = {"gap": model.certificate_.relative_gap, "iterations": model.n_iter_}
    else:
        from sklearn.svm import SVC

        SVC(kernel="poly", degree=2, gamma=scale, coef0=1.0, C=1 / PENALTY, cache_size=1000).fit(X, labels)
        more = {}
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "peak_mb": peak_megabytes(), "gram_mb": gram_mb, **more}))


if __name__ == "__main__":
    main()
