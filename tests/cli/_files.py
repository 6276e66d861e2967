"""Small labelled files to train on."""

import json

import numpy as np

WORDS = {"O": ["the", "a", "of", "saw", "went"], "B-PER": ["Ana", "Luis"], "I-PER": ["Diaz", "Lopez"]}


def sentences(n, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        labels = []
        while len(labels) < 5:
            labels += ["B-PER", "I-PER"] if rng.random() < 0.3 else ["O"]
        yield [(str(rng.choice(WORDS[label])), label) for label in labels]


def write_columns(path, n=30, seed=0):
    text = "\n\n".join("\n".join(" ".join(pair) for pair in one) for one in sentences(n, seed))
    path.write_text(text + "\n", encoding="utf-8")
    return path


def write_json(path, n=30, seed=0):
    rows = [{"tokens": [w for w, _ in one], "labels": [y for _, y in one]} for one in sentences(n, seed)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def frames(n, seed=0):
    rng = np.random.default_rng(seed)
    for s in range(n):
        labels = rng.integers(2, size=6)
        yield f"s{s}", np.column_stack([labels * 2.0 - 1, rng.standard_normal(6)]), labels


def write_table(path, n=20, seed=0):
    lines = ["sequence,label,x,noise"]
    for name, numbers, labels in frames(n, seed):
        lines += [f"{name},{'AB'[y]},{a:.4f},{b:.4f}" for (a, b), y in zip(numbers, labels, strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_arrays(path, n=20, seed=0):
    _, numbers, labels = zip(*frames(n, seed), strict=True)
    np.savez(path, X=np.concatenate(numbers), lengths=[6] * n, y=np.concatenate(labels))
    return path
