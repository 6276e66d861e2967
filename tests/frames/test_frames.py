"""One frame in, one frame out: pandas, polars and pyarrow agree with lists and with each other."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.preprocessing import StandardScaler

from kernelfields import CRF, HMM, InputError, KernelCRF, SequencePipeline, frames, load
from kernelfields.features import TokensAndArrays, Windows, each
from kernelfields.kernels import Spectrum
from kernelfields.testing.estimators import labelled_sequences

KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
WORDS = ["the", "dog", "runs", "a", "cat", "sleeps"]
TAGS = dict(zip(WORDS, "DNVDNV", strict=True))


@pytest.fixture(params=KINDS)
def make(request):
    return KINDS[request.param]


def columns_of(frame):
    return {
        name: list(frame[name].to_pylist() if isinstance(frame, pa.Table) else frame[name])
        for name in names(frame)
    }


def names(frame):
    return frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)


def probabilities(model, X):
    """What a model thinks of the labels that it gives."""
    place = {label: k for k, label in enumerate(model.classes_.tolist())}
    pairs = zip(model.predict(X), model.predict_marginals(X), strict=True)
    return [[m[t, place[label]] for t, label in enumerate(labels)] for labels, m in pairs]


def flat(X, y, rng, shuffled=True):
    """A row per position, sequences interleaved."""
    rows = [(s, t) for s, x in enumerate(X) for t in range(len(x))]
    if shuffled:
        rng.shuffle(rows)
    result = {"run": [f"r{s}" for s, _ in rows], "time": [t for _, t in rows]}
    for d in range(X[0].shape[1]):
        result[f"x{d}"] = [float(X[s][t, d]) for s, t in rows]
    return {**result, "y": [y[s][t] for s, t in rows]}, rows


def test_rows_are_positions(make, rng):
    X, y = labelled_sequences(rng)
    table, rows = flat(X, y, rng)
    model = frames.fit(CRF(), make(table), features=["x0", "x1", "x2"], label="y", group="run", order="time")
    seen = sorted({s for s, _ in rows}, key=[s for s, _ in rows].index)
    plain = CRF().fit([X[s] for s in seen], [y[s] for s in seen])
    given = make({name: one for name, one in table.items() if name != "y"})
    result = frames.label(model, given, group="run", order="time", every=True)
    assert type(result) is type(given)
    assert names(result) == [
        "run",
        "time",
        "x0",
        "x1",
        "x2",
        "label",
        "probability",
        "p(blue)",
        "p(green)",
        "p(red)",
    ]
    found, labels, marginals = columns_of(result), plain.predict(X), plain.predict_marginals(X)
    assert [found[one] for one in ("run", "x1")] == [table["run"], table["x1"]]  # as they were
    assert found["label"] == [labels[s][t] for s, t in rows]
    expected = np.array([marginals[s][t] for s, t in rows])
    np.testing.assert_allclose(
        np.column_stack([found[f"p({c})"] for c in plain.classes_]), expected, atol=1e-12
    )
    chosen = probabilities(plain, X)
    np.testing.assert_allclose(found["probability"], [chosen[s][t] for s, t in rows], atol=1e-12)


def test_rows_are_sequences(make, rng):
    X, y = labelled_sequences(rng)
    lists = {f"x{d}": [x[:, d].tolist() for x in X] for d in range(3)}
    model = frames.fit(CRF(), make({**lists, "y": y}), features=list(lists), label="y")
    result = columns_of(frames.label(model, make(lists)))
    plain = CRF().fit(X, y)
    assert [list(one) for one in result["label"]] == plain.predict(X)
    for mine, theirs in zip(result["probability"], probabilities(plain, X), strict=True):
        np.testing.assert_allclose(list(mine), theirs, atol=1e-12)


def test_columns_count_by_name(make, rng):
    X, y = labelled_sequences(rng)
    table, _ = flat(X, y, rng)
    model = frames.fit(KernelCRF(), make(table), features=["x2", "x0"], label="y", group="run")
    assert model.feature_names_in_.tolist() == ["x2", "x0"]
    other = make({name: table[name] for name in ("x0", "x1", "run", "x2")})
    assert (
        columns_of(frames.label(model, other, group="run"))["label"]
        == columns_of(frames.label(model, make(table), features=["x0", "x2"], group="run"))["label"]
    )


def words_of(rng, count=30):
    return [[WORDS[k] for k in rng.integers(0, 6, size=n)] for n in rng.integers(1, 8, size=count)]


def test_tokens_and_embeddings(make, rng, tmp_path):
    sentences = words_of(rng)
    vectors = {word: rng.normal(size=3) for word in WORDS}
    rows = [(s, word) for s, sentence in enumerate(sentences) for word in sentence]
    table = {
        "s": [s for s, _ in rows],
        "w": [w for _, w in rows],
        "e": [vectors[w].tolist() for _, w in rows],
    }
    tags = {"y": [TAGS[w] for _, w in rows]}
    features = TokensAndArrays("columns: w\nsuffix1(w[0])", arrays=each(StandardScaler()))
    given = {"features": ["w", "e"], "group": "s"}
    model = frames.fit(CRF(features=features), make({**table, **tags}), label="y", **given)
    X = [(sentence, np.array([vectors[w] for w in sentence])) for sentence in sentences]
    plain = CRF(features=features).fit(X, [[TAGS[w] for w in one] for one in sentences])
    model.save(tmp_path / "m.kf")
    result = columns_of(frames.label(load(tmp_path / "m.kf"), make(table), **given))
    assert result["label"] == [label for one in plain.predict(X) for label in one]
    np.testing.assert_allclose(result["probability"], np.concatenate(probabilities(plain, X)), atol=1e-9)
    nested = {"w": sentences, "e": [x.tolist() for _, x in X]}
    again = columns_of(frames.label(model, make(nested), features=["w", "e"]))
    assert [label for one in again["label"] for label in one] == result["label"]


def test_models_of_text(make, rng):
    """Templates take strings, hidden Markov models symbols, others dictionaries; kernels on text strings."""
    sentences = words_of(rng)
    table = make(
        {
            "w": sentences,
            "n": [[float(len(w)) for w in s] for s in sentences],
            "y": [[TAGS[w] for w in s] for s in sentences],
        }
    )
    plain = make({"w": sentences, "n": [[float(len(w)) for w in s] for s in sentences]})
    for model, columns in (
        (CRF(features="columns: w\nw[0]"), ["w"]),
        (CRF(), ["w", "n"]),
        (HMM("categorical"), ["w"]),
        (KernelCRF(Spectrum(1)), ["w"]),
    ):
        frames.fit(model, table, features=columns, label="y")
        found = columns_of(frames.label(model, plain, features=columns))["label"]
        assert (
            np.mean(
                [
                    a == TAGS[w]
                    for s, one in zip(sentences, found, strict=True)
                    for w, a in zip(s, one, strict=True)
                ]
            )
            > 0.9
        )
    dictionaries = [[{"w": w, "n": float(len(w))} for w in s] for s in sentences]
    assert dictionaries == frames.sequences(table, ["w", "n"], model=CRF()).X


def test_pipelines_know_their_columns(make, rng):
    X, y = labelled_sequences(rng)
    table, _ = flat(X, y, rng)
    model = SequencePipeline([each(StandardScaler()), Windows(3)], CRF())
    frames.fit(model, make(table), features=["x1", "x0"], label="y", group="run", order="time")
    found = columns_of(frames.label(model, make(table), group="run", order="time", probability=None))
    assert np.mean(np.array(found["label"]) == np.array(table["y"])) > 0.5


def test_missing_labels_and_abstention(make, rng):
    X, y = labelled_sequences(rng)
    some = [[None if t == 1 else one for t, one in enumerate(labels)] for labels in y]
    table, _ = flat(X, some, rng, shuffled=False)
    model = frames.fit(CRF(), make(table), features=["x0", "x1", "x2"], label="y", group="run")
    plain = CRF().fit(X, some)
    found = columns_of(frames.label(model, make(table), group="run", abstain=0.9))
    expected = [label for one in plain.predict(X, abstain=0.9) for label in one]
    assert [None if pd.isna(one) else one for one in found["label"]] == expected
    assert None in expected
    assert [pd.isna(p) for p in found["probability"]] == [label is None for label in expected]


def test_pandas_keeps_its_index(rng):
    X, y = labelled_sequences(rng)
    table, _ = flat(X, y, rng)
    frame = pd.DataFrame(table)
    frame.index = pd.Index(rng.permutation(len(frame)) + 100, name="row")
    model = frames.fit(CRF(), frame, features=["x0", "x1", "x2"], label="y", group="run")
    result = frames.label(model, frame, group="run")
    assert result.index.equals(frame.index)
    assert (
        result["label"].tolist()
        == frames.label(model, frame.reset_index(drop=True), group="run")["label"].tolist()
    )


def test_empty_frames(make, rng):
    X, y = labelled_sequences(rng)
    table, _ = flat(X, y, rng)
    model = frames.fit(CRF(), make(table), features=["x0", "x1", "x2"], label="y", group="run")
    empty = make({name: np.zeros(0) for name in ("run", "x0", "x1", "x2")})
    result = columns_of(frames.label(model, empty, group="run"))
    assert result["label"] == result["probability"] == []


def test_refusals(make, rng):
    X, y = labelled_sequences(rng)
    table, _ = flat(X, y, rng)
    frame = make(table)
    model = frames.fit(CRF(), frame, features=["x0"], label="y", group="run")
    for words, attempt in {
        "no column 'z'": lambda: frames.label(model, frame, features=["z"], group="run"),
        "already": lambda: frames.label(model, frame, group="run", name="y"),
        "expected a list": lambda: frames.label(model, frame),
        "give group, too": lambda: frames.label(model, frame, order="time"),
        "must be a list of names": lambda: frames.label(model, frame, features="x0", group="run"),
        "must be a pandas or polars frame": lambda: frames.label(model, table, group="run"),
        "TokensAndArrays": lambda: frames.sequences(frame, ["x0", "y"], group="run"),
        "'g' has no value in row 1": lambda: frames.sequences(
            make({"g": ["a", None], "x": [1.0, 2.0]}), ["x"], group="g"
        ),
        "'w' has no value in row 1": lambda: frames.sequences(
            make({"g": [1, 1], "w": ["a", None]}), ["w"], group="g"
        ),
        "Row 1 has 2 values in 'a', but 1 in 'b'": lambda: frames.sequences(
            make({"a": [[1.0], [1.0, 2.0]], "b": [[1.0], [1.0]]}), ["a", "b"]
        ),
        "knows no names": lambda: frames.label(CRF().fit(X, y), frame, group="run"),
        "holds NaN": lambda: frames.label(model, make({"x0": [1.0, None], "g": [1, 1]}), group="g"),
    }.items():
        with pytest.raises(InputError) as error:
            attempt()
        assert words in str(error.value)
    with pytest.raises(InputError, match="Collect it first"):
        frames.label(model, pl.LazyFrame(table), group="run")
