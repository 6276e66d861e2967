"""Labels that were not observed, in every format: no class of their own, in training and in judging."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import load
from kernelfields.cli._models import COMPLETE, MODELS
from kernelfields.cli.app import app
from kernelfields.errors import InputError
from kernelfields.files.reading import Reading, read_data

from ._files import frames, sentences, write_columns, write_table


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def write_gaps(folder, kind, seed=0):
    """Every seventh label is missing."""
    path = folder / f"a.{kind}"
    if kind in ("conll", "jsonl"):
        n, rows = 0, []
        for one in sentences(30, seed):
            words, labels = zip(*one, strict=True)
            rows.append((words, [None if (n + t) % 7 == 0 else y for t, y in enumerate(labels)]))
            n += len(words)
        if kind == "jsonl":
            path.write_text("".join(json.dumps({"tokens": x, "labels": y}) + "\n" for x, y in rows))
        else:
            text = ["\n".join(f"{a} {b or '_'}" for a, b in zip(x, y, strict=True)) for x, y in rows]
            path.write_text("\n\n".join(text) + "\n")
        return path
    if kind == "csv":
        lines = write_table(path, seed=seed).read_text().splitlines()
        gaps = {"A": ["", "NaN"], "B": ["", "nan"]}
        lines[1:] = [
            line.replace(f",{y},", f",{gaps[y][n % 2]},") if n % 7 == 0 else line
            for n, line in enumerate(lines[1:])
            for y in [line.split(",")[1]]
        ]
        path.write_text("\n".join(lines) + "\n")
        return path
    _, numbers, labels = zip(*frames(20, seed), strict=True)
    y = np.concatenate(labels).astype(float)
    y[::7] = np.nan
    np.savez(path, X=np.concatenate(numbers), lengths=[6] * 20, y=y)
    return path


@pytest.mark.parametrize("kind", ["conll", "jsonl", "csv", "npz"])
def test_every_format_has_missing_labels(tmp_path, kind):
    data, model = write_gaps(tmp_path, kind), tmp_path / "m.kf"
    trained = run("train", data, "-o", model, "--holdout", 0.2)
    assert trained.exit_code == 0, trained.output
    assert "labels were not observed" in trained.output
    classes = {"conll": ["B-PER", "I-PER", "O"], "csv": ["A", "B"], "npz": [0.0, 1.0]}
    assert load(model).classes_.tolist() == classes.get(kind, classes["conll"])
    judged = run("evaluate", model, data, "--json", "--report", tmp_path / "r.html")
    assert judged.exit_code == 0, judged.output
    found = json.loads(judged.stdout.splitlines()[-1])
    assert found["unobserved"] > 10
    assert found["token_error"] < 0.05
    assert run("tag", model, data, "--labelled").exit_code == 0
    compared = run("compare", data, "--models", "crf,hmm", "--folds", 2, "--json")
    rows = json.loads(compared.stdout.splitlines()[-1])["models"]
    assert rows["crf"]["token_error"] < 0.05


@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_from_the_others_or_says_that_it_cannot(tmp_path, name):
    data = write_gaps(tmp_path, "csv")
    result = run("train", data, "--model", name, "-o", tmp_path / "m.kf")
    if name not in COMPLETE:
        assert load(tmp_path / "m.kf").classes_.tolist() == ["A", "B"]
        return
    assert result.exit_code == 2
    others = "crf, kernel-crf, gp, hmm, boosted"
    assert result.output.splitlines()[-1] == (
        f"{name} needs every label, and 18 were not observed; choose one of {others}."
    )


@pytest.mark.parametrize("after", ["jsonl", "conll"])
def test_missing_labels_survive_conversions(tmp_path, after):
    before = {"jsonl": "conll", "conll": "jsonl"}[after]
    first = read_data(write_gaps(tmp_path, before))
    run("convert", tmp_path / f"a.{before}", "-o", tmp_path / f"b.{after}")
    assert read_data(tmp_path / f"b.{after}").labels == first.labels
    table = read_data(write_gaps(tmp_path, "csv"))
    run("convert", tmp_path / "a.csv", "-o", tmp_path / "b.npz")
    run("convert", tmp_path / "b.npz", "-o", tmp_path / "c.csv")
    assert read_data(tmp_path / "c.csv").labels == table.labels == read_data(tmp_path / "b.npz").labels


def test_what_is_missing_can_be_said_otherwise(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text("a X\nb _\nc ?\n")
    assert read_data(path).labels == [["X", None, "?"]]
    assert read_data(path, Reading(missing="?")).labels == [["X", "_", None]]
    assert read_data(path, Reading(missing="")).labels == [["X", "_", "?"]]
    path.write_text("a _\nb _\n")
    with pytest.raises(InputError, match=r"no label was observed, all are missing \(--missing"):
        read_data(path)


def test_measurements_are_no_labels(tmp_path):
    """A table of numbers without a header is no column of tokens with hundreds of labels."""
    numbers = np.random.default_rng(0).standard_normal((100, 3))
    path = tmp_path / "a.tsv"
    path.write_text("\n".join("\t".join(f"{x:.3f}" for x in row) for row in numbers))
    refused = run("train", path, "-o", tmp_path / "m.kf")
    assert refused.exit_code == 2
    assert "different numbers such as" in refused.output
    np.savez(tmp_path / "a.npz", X=numbers, lengths=[100], y=numbers[:, 0])
    assert "not classes" in run("train", tmp_path / "a.npz", "-o", tmp_path / "m.kf").output


def test_tables_with_tabs_are_tables(tmp_path):
    table = write_table(tmp_path / "a.csv")
    (tmp_path / "a.tsv").write_text(table.read_text().replace(",", "\t"))
    (tmp_path / "b.csv").write_text(table.read_text().replace(",", ";"))
    first, tabs, others = (read_data(tmp_path / name) for name in ("a.csv", "a.tsv", "b.csv"))
    np.testing.assert_array_equal(np.concatenate(first.inputs), np.concatenate(tabs.inputs))
    assert first.labels == tabs.labels == others.labels
    columns = write_columns(tmp_path / "plain.conll").read_text()
    (tmp_path / "b.tsv").write_text(columns.replace(" ", "\t"))
    assert read_data(tmp_path / "b.tsv").is_text


def test_records_without_labels_are_told_how_to_say_so(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a"], "labels": ["X"]}\n{"tokens": ["b"]}\n')
    with pytest.raises(InputError, match="sequence 1 has no labels; null for a position says that"):
        read_data(path)
    path.write_text('{"tokens": ["a", "c"], "labels": ["X", "Y"]}\n{"tokens": [], "labels": []}\n')
    assert run("train", path, "-o", tmp_path / "m.kf").exit_code == 0
    assert run("tag", tmp_path / "m.kf", path, "--kbest", 2).exit_code == 0


def test_the_last_column_of_conll_u_is_no_label(tmp_path):
    row = "{}\t{}\t{}\t{}\t_\t_\t0\troot\t_\t{}"
    rows = [
        row.format(t, w, w, y, "SpaceAfter=No") for t, (w, y) in enumerate([("a", "DET"), ("dog", "NOUN")], 1)
    ]
    path = tmp_path / "a.conllu"
    path.write_text("# sent_id = 1\n# text = a dog\n" + "\n".join(rows) + "\n")
    with pytest.raises(
        InputError, match="say which of the ten columns are words and labels, as in --columns 2,4"
    ):
        read_data(path)
    path.write_text(
        path.read_text() + rows[0].replace("1\t", "2-3\t", 1) + "\n" + rows[0].replace("1\t", "3.1\t", 1)
    )
    data = read_data(path, Reading(columns=(2, 4)))
    assert (data.inputs, data.labels) == ([["a", "dog"]], [["DET", "NOUN"]])
