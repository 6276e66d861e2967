"""Sentences made up, with features of every form that python-crfsuite takes."""

import numpy as np

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
FOLLOWERS = {"O": "O B-PER B-LOC", "B-PER": "I-PER O", "I-PER": "O I-PER", "B-LOC": "I-LOC O", "I-LOC": "O"}


def sentences(rng, count, longest=9, vocabulary=40):
    """Lists of (word, tag, label): every label prefers some words, and follows others."""
    result = []
    for _ in range(count):
        label, sentence = "O", []
        for _ in range(rng.integers(1, longest + 1)):
            label = str(rng.choice(FOLLOWERS[label].split()))
            preferred = LABELS.index(label) * 7 + rng.integers(12)
            number = preferred if rng.random() < 0.8 else rng.integers(vocabulary)
            word = f"w{number % vocabulary}"
            sentence.append((word.title() if label.startswith("B") else word, f"T{number % 3}", label))
        result.append(sentence)
    return result


def features(sentence, i):
    """Strings, numbers, booleans, lists, sets and nested dictionaries."""
    word, tag, _ = sentence[i]
    item = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-2:]": word[-2:],
        "word.istitle()": word.istitle(),
        "postag": tag,
        "length": len(word) / 4 - 0.6,
        "parts": [word[:1], word[1:2]],
        "set": {tag},
        "nested": {"tag": tag, "deep": {"even": int(word[-1]) % 2 == 0}},
    }
    if i > 0:
        item["-1"] = {"word": sentence[i - 1][0].lower(), "tag": sentence[i - 1][1]}
    else:
        item["BOS"] = True
    if i + 1 < len(sentence):
        item["+1:word"] = sentence[i + 1][0].lower()
    else:
        item["EOS"] = True
    return item


def split(given):
    """X and y."""
    X = [[features(sentence, i) for i in range(len(sentence))] for sentence in given]
    return X, [[label for _, _, label in sentence] for sentence in given]


def training_set(count, seed=0, **settings):
    """Give X and y of some sentences."""
    return split(sentences(np.random.default_rng(seed), count, **settings))
