"""Parts of speech on dependency trees, against chains: python examples/trees.py [trees-report.html]

Needs the English Web Treebank in the folder of KERNELFIELDS_DATA.
"""

import sys
import time

import numpy as np

from kernelfields import CRF
from kernelfields.datasets import load_ud_trees
from kernelfields.report import evaluate, write_report

EVERY = 25  # of so many sentences, one is learnt from
WORD_ALONE = "columns: w\nw[0]\nlower(w[0])\nsuffix2(w[0])\nsuffix3(w[0])\nshape(w[0])"
FEATURES = {"the word alone": WORD_ALONE, "words around it": "pos"}
HEAD = "features         structure  wrong labels  against chain   −log p a word  seconds"


def inputs(sentences, parents, structure):
    """Items of X: words, with the parent of each if the structure is a tree."""
    return list(zip(sentences, parents, strict=True)) if structure == "tree" else sentences


def wrong_labels(model, X, y):
    """Number of wrong labels of every sentence."""
    pairs = zip(model.predict(X), y, strict=True)
    return np.array([sum(a != b for a, b in zip(one, truth, strict=True)) for one, truth in pairs])


def fit(features, structure, train):
    """Fit a model to one of EVERY sentences."""
    words, labels, parents, *_ = (column[::EVERY] for column in train)
    every = sorted({label for one in train.labels for label in one})
    model = CRF(features=features, structure=structure, observed_only=True, classes=every)
    return model.fit(inputs(words, parents, structure), labels)


def compare(name, features, train, test):
    """Print a line for every structure; return the last model, that of trees."""
    total, of_chain = sum(map(len, test.labels)), None
    for structure in ("chain", "chain2", "tree"):
        begun = time.perf_counter()
        model = fit(features, structure, train)
        seconds = time.perf_counter() - begun
        X = inputs(test.sentences, test.parents, structure)
        wrong = wrong_labels(model, X, test.labels)
        of_chain = wrong if of_chain is None else of_chain
        more = wrong - of_chain
        spread = np.sqrt(len(more)) * more.std() / total
        loss = -model.sequence_log_proba(X, test.labels).sum() / total
        print(
            f"{name:17}{structure:11}{wrong.sum() / total:11.2%}"
            f"{100 * more.sum() / total:+10.2f} ± {100 * spread:.2f}{loss:15.4f}{seconds:9.1f}"
        )
    return model


def main() -> None:
    """Train six models on the same sentences, test them, write a report of the last one."""
    path = sys.argv[1] if len(sys.argv) > 1 else "trees-report.html"
    train, test = (load_ud_trees(part) for part in ("train", "test"))
    words = train.sentences[::EVERY]
    print(f"{len(words)} sentences, {sum(map(len, words)):,} words to learn from")
    print(HEAD)
    for name, features in FEATURES.items():
        model = compare(name, features, train, test)
    X = inputs(test.sentences, test.parents, "tree")
    found = evaluate(model, X, test.labels)
    write_report(found, path, title="Parts of speech on dependency trees")
    print(f"{found.token_error:.1%} of {found.n_tokens} tags wrong; see {path}")


if __name__ == "__main__":
    main()
