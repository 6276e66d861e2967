"""Numbers beside tokens: ``--dense`` in all commands, refused where they do not fit."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import CRF, load
from kernelfields.cli.app import app
from kernelfields.features import TemplateFeatures, TokensAndArrays

from ._files import write_table


def run(*words, **how):
    return CliRunner().invoke(app, [str(word) for word in words], **how)


def write(folder, name, n, seed, kind="npy"):
    """Words that say nothing of their labels, and numbers that do."""
    rng = np.random.default_rng(seed)
    lengths, lines, rows = rng.integers(1, 8, size=n), [], []
    for length in lengths:
        labels = rng.integers(3, size=length)
        lines += [f"w{rng.integers(1000)} {'DNV'[k]}" for k in labels] + [""]
        rows += [100 + 5 * np.eye(3)[k] + rng.normal(size=3) for k in labels]
    (folder / f"{name}.conll").write_text("\n".join(lines) + "\n")
    if kind == "npy":
        np.save(folder / f"{name}.npy", np.array(rows, dtype=np.float32))
    else:
        np.savez(folder / f"{name}.npz", X=np.array(rows), lengths=lengths)
    return folder / f"{name}.conll"


def error_of(model, data, *more):
    result = run("evaluate", model, data, "--json", *more)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout.splitlines()[-1])["token_error"]


@pytest.mark.parametrize(("model", "kind"), [("crf", "npy"), ("kernel-crf", "npz"), ("perceptron", "npy")])
def test_embeddings_help(model, kind, tmp_path):
    data, test = write(tmp_path, "a", 60, 0, kind), write(tmp_path, "b", 20, 1, kind)
    saved = tmp_path / "m.kf"
    result = run("train", data, "--dev", test, "--dense", f".{kind}", "--model", model, "-o", saved)
    assert result.exit_code == 0, result.output
    assert isinstance(load(saved).features_, TokensAndArrays)
    assert error_of(saved, test, "--dense", tmp_path / f"b.{kind}") < 0.1
    assert run("train", data, "--model", model, "-o", tmp_path / "plain.kf").exit_code == 0
    assert error_of(tmp_path / "plain.kf", test) > 0.3


def test_answers_are_those_of_python(tmp_path):
    data, test = write(tmp_path, "a", 40, 0), write(tmp_path, "b", 6, 1)
    saved = tmp_path / "m.kf"
    assert run("train", data, "--dense", ".npy", "-o", saved).exit_code == 0
    result = run("tag", saved, test, "--labelled", "--dense", ".npy", "--to", "jsonl")
    assert result.exit_code == 0, result.output
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    sentences = [
        [line.split() for line in part.split("\n")] for part in test.read_text().strip().split("\n\n")
    ]
    rows, ends = np.load(tmp_path / "b.npy"), np.cumsum([0, *map(len, sentences)])
    X = [([w for w, _ in one], rows[a:b]) for one, a, b in zip(sentences, ends[:-1], ends[1:], strict=True)]
    assert [one["predicted"] for one in answers] == load(saved).predict(X)
    bare = "\n\n".join("\n".join(w for w, _ in one) for one in sentences) + "\n"
    streamed = run("tag", saved, "--dense", tmp_path / "b.npy", "--to", "jsonl", input=bare)
    assert [json.loads(line)["predicted"] for line in streamed.stdout.splitlines()] == load(saved).predict(X)


def test_calibration(tmp_path):
    data, test = write(tmp_path, "a", 40, 0), write(tmp_path, "b", 60, 1)
    saved = tmp_path / "m.kf"
    assert run("train", data, "--dense", ".npy", "-o", saved).exit_code == 0
    result = run("calibrate", saved, test, "--dense", ".npy")
    assert result.exit_code == 0, result.output
    assert load(saved).calibration_ is not None


def test_refusals(tmp_path):
    data, test = write(tmp_path, "a", 40, 0), write(tmp_path, "b", 6, 1)
    saved, plain = tmp_path / "m.kf", tmp_path / "plain.kf"
    CRF(features=TemplateFeatures("columns: w\nw[0]")).fit([["a"], ["b"]], [["x"], ["y"]]).save(plain)
    assert run("train", data, "--dense", ".npy", "-o", saved).exit_code == 0
    (tmp_path / "text.npy").write_text("none")
    np.save(tmp_path / "flat.npy", np.zeros(7))
    hole = np.load(tmp_path / "a.npy")
    hole[3, 1] = np.nan
    np.save(tmp_path / "hole.npy", hole)
    np.savez(tmp_path / "odd.npz", X=hole * 0, lengths=[len(hole)])
    table = write_table(tmp_path / "t.csv")
    for words, command in {
        "the model needs --dense": ["tag", saved, test, "--labelled"],
        "which the model does not take": ["tag", plain, test, "--labelled", "--dense", ".npy"],
        "too few for the tokens of sequence": ["train", data, "--dense", tmp_path / "b.npy"],
        "but the 6 sequences have": ["train", test, "--dense", tmp_path / "a.npy"],
        "there is no such file": ["train", data, "--dense", "nothing.npy"],
        "no array of numbers in NumPy's format": ["train", data, "--dense", tmp_path / "text.npy"],
        "no (N, D) array": ["train", data, "--dense", tmp_path / "flat.npy"],
        "row 3 holds NaN": ["train", data, "--dense", tmp_path / "hole.npy"],
        "sequence 0 has other lengths": ["train", data, "--dense", tmp_path / "odd.npz"],
        "not for hmm": ["train", data, "--dense", ".npy", "--model", "hmm"],
        "--memory-limit": ["train", data, "--dense", ".npy", "--memory-limit", "1G"],
        "numbers already": ["train", table, "--dense", tmp_path / "a.npy"],
        "needs a file to be beside": ["tag", saved, "--dense", ".npy"],
    }.items():
        result = (
            run(*command, "-o", tmp_path / "out.kf") if command[0] == "train" else run(*command, input="a\n")
        )
        assert result.exit_code == 2, (words, result.output)
        assert words in " ".join(result.output.split()), result.output
    assert not (tmp_path / "out.kf").exists()
