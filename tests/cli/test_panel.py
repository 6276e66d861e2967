"""``--model auto`` and ``kf compare``: they end, they tell what is done, and Ctrl-C keeps it."""

import json

import pytest
from typer.testing import CliRunner

from kernelfields import CRF, KernelCRF, load
from kernelfields.cli._console import plain_console
from kernelfields.cli._panel import _show
from kernelfields.cli._tool_answers import _Tasks
from kernelfields.cli.app import app
from kernelfields.cli.compare import _table
from kernelfields.files.reading import read_data
from kernelfields.trials.bounded import End, fit_within
from kernelfields.trials.comparing import BestModel, Comparison
from kernelfields.trials.model_race import ComparedModel
from kernelfields.trials.text_tables import comparison_rows

from ._files import write_columns, write_json, write_table


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def interrupt(*args, **settings):
    raise KeyboardInterrupt


def test_fits_end_in_time(tmp_path):
    data = read_data(write_table(tmp_path / "a.csv"))
    model = CRF(penalty=1e-6, tol=1e-12)
    done = fit_within(model, data.inputs, data.labels, 0.0)
    assert done.end is End.OUT_OF_TIME
    assert model.n_iter_ == 1
    assert model.run.callback is None
    assert fit_within(CRF(), data.inputs, data.labels, None).end is End.DONE


@pytest.mark.parametrize("writer", [write_columns, write_json])
def test_text_is_compared_model_by_model(tmp_path, writer):
    data = writer(tmp_path / ("a.conll" if writer is write_columns else "a.jsonl"), 80)
    result = run("compare", data, "--json", "--folds", 2)
    assert result.exit_code == 0, result.output
    rows = json.loads(result.stdout.splitlines()[-1])["models"]
    assert set(rows) == {"crf", "perceptron", "hmm"}
    assert all(row["folds"] == 2 for row in rows.values())


def test_numbers_are_whole_on_80_columns(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = {
        "crf": ComparedModel(0.4015, 0.0123, 0.0, 1.0, 12.3, 2, "1 of 2 fits out of time"),
        "perceptron": ComparedModel(0.4515, 0.0123, 0.1234, 0.012, 1234.5, 1, "left out after 1 of 2 folds"),
        "kernel-crf": ComparedModel(0.4615, 0.0123, 0.1034, 0.012, 13.4, 0, "1 of 1 fits out of time"),
    }
    plain_console().print(_table(Comparison(rows, {}, [], False)))
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    for row in comparison_rows(rows):
        [line] = [line for line in lines if f" {row[0]} " in line]
        assert all(number in line for number in (*row[1:5], row[6]))


def test_an_interrupted_comparison_shows_what_is_done(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelfields.StructuredPerceptron.fit", interrupt)
    result = run("compare", write_columns(tmp_path / "a.conll"), "--json", "--folds", 2)
    assert result.exit_code == 130
    assert list(json.loads(result.stdout.splitlines()[-1])["models"]) == ["crf"]
    assert "Interrupted; without perceptron, hmm." in result.stderr


def test_an_interrupted_fit_ends_the_comparison(tmp_path, monkeypatch):
    """Searches survive Ctrl-C with what they have; a comparison must not go on to the next."""

    def stopped(model, *args, **settings):
        fit(model, *args, **settings).stop_reason_ = "Interrupted; the best point so far was kept."

    fit = CRF.fit
    monkeypatch.setattr(CRF, "fit", stopped)
    data = write_columns(tmp_path / "a.conll")
    result = run("compare", data, "--models", "perceptron,crf,hmm", "--folds", 2)
    assert result.exit_code == 130
    assert "Interrupted; without crf, hmm." in result.output


def test_an_interrupted_panel_writes_the_best_so_far(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelfields.StructuredPerceptron.fit", interrupt)
    data, model = write_columns(tmp_path / "a.conll"), tmp_path / "m.kf"
    result = run("train", data, "--model", "auto", "-o", model)
    assert result.exit_code == 0, result.output
    assert "Interrupted. Chosen of those tried so far" in result.output
    assert type(load(model)) is CRF
    assert load(model).provenance_.sequences == 24


def test_a_choice_for_its_probabilities_is_explained(tmp_path, capsys):
    data = read_data(write_columns(tmp_path / "a.conll"))
    _show(plain_console(), BestModel("crf", None, "perceptron", {}, {}, [], False), data)
    said = " ".join(capsys.readouterr().out.split())
    assert "Chosen: crf, within chance of perceptron, which made the fewest errors on 30 held-out" in said
    assert said.endswith("sequences but learns no probabilities.")


def test_interrupted_tagging_says_how_far_it_came(tmp_path, monkeypatch):
    data, model = write_columns(tmp_path / "a.conll", 300), tmp_path / "m.kf"
    run("train", data, "-o", model)
    predict = CRF.predict

    def impatient(model, X, **settings):
        return interrupt() if len(X) == 44 else predict(model, X, **settings)  # behind the first batch

    monkeypatch.setattr(CRF, "predict", impatient)
    result = run("tag", model, data, "--labelled")
    assert (result.exit_code, result.stderr) == (130, "Interrupted; 256 sequences are done.\n")
    assert len(result.stdout.split("\n\n")) == 257
    out, kept = tmp_path / "out.conll", tmp_path / "out.conll.part"
    out.write_text("precious")
    answers = run("tag", model, data, "--labelled", "-o", out)
    said = f"Interrupted; 256 sequences are done, in {kept}; {out} is as it was.\n"
    assert (answers.exit_code, answers.stderr) == (130, said)
    assert out.read_text() == "precious"
    assert kept.read_text() == result.stdout
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.conll", "m.kf", "out.conll", kept.name]


def test_an_interrupted_file_ends_with_a_whole_answer(tmp_path, monkeypatch):
    """Ctrl-C in the middle of an answer: what is kept of a JSON array is an array."""
    data, model = tmp_path / "a.jsonl", tmp_path / "m.kf"
    spans = [{"text": "Ana went", "label": [[0, 3, "PER"]]}] * 300
    data.write_text("".join(json.dumps(one) + "\n" for one in spans))
    run("train", data, "-o", model, "--max-iter", 2)
    out = tmp_path / "tasks.json"
    write = _Tasks._write

    def impatient(writer, item, answer):
        if writer.count == 280:
            writer.file.write("half")
            interrupt()
        write(writer, item, answer)

    monkeypatch.setattr(_Tasks, "_write", impatient)
    result = run("tag", model, data, "--to", "labelstudio", "-o", out)
    assert (result.exit_code, out.exists()) == (130, False)
    assert len(json.loads(out.with_name("tasks.json.part").read_text())) == 256


def test_nothing_done_is_nothing_written(tmp_path, monkeypatch):
    monkeypatch.setattr("kernelfields.CRF.fit", interrupt)
    data, model = write_columns(tmp_path / "a.conll"), tmp_path / "m.kf"
    for words in (["compare", data], ["train", data, "--model", "auto", "-o", model]):
        result = run(*words)
        assert result.exit_code == 130
        assert result.stderr.endswith("Interrupted; nothing was written.\n")
    assert not model.exists()


def test_an_interrupted_tuning_takes_the_folds_that_are_done(tmp_path, monkeypatch):
    calls = []

    def count(model, *args, **settings):
        calls.append(model)
        if len(calls) == 8:  # the second of six penalties on the second fold
            raise KeyboardInterrupt
        return fit(model, *args, **settings)

    fit = CRF.fit
    monkeypatch.setattr(CRF, "fit", count)
    result = run("train", write_columns(tmp_path / "a.conll"), "--tune", "-o", tmp_path / "m.kf")
    assert result.exit_code == 0, result.output
    assert "Interrupted: settings are chosen by 1 of 5 folds." in " ".join(result.output.split())
    assert load(tmp_path / "m.kf").penalty in (10.0, 3.0, 1.0, 0.3, 0.1, 0.03)


def test_several_fits_at_a_time_are_the_same(tmp_path):
    data = write_table(tmp_path / "a.csv")
    words = ["compare", data, "--models", "crf,hmm", "--folds", 2, "--json"]
    one, two = (json.loads(run(*words, "--jobs", n).stdout.splitlines()[-1])["models"] for n in (1, 2))
    for name, row in one.items():
        assert row["token_error"] == two[name]["token_error"]
    chosen = run("train", data, "--model", "auto", "--jobs", 2, "-o", tmp_path / "m.kf")
    assert chosen.exit_code == 0, chosen.output


def test_ctrl_c_before_the_last_fit_leaves_a_model_with_landmarks(tmp_path, monkeypatch):
    """A search has found settings; the Gram matrix of all rows was not ready."""
    lines = ["sequence,label,x"] + [f"{t // 300},{'AB'[t % 2]},{t % 2 + t % 7}" for t in range(1500)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    fit = KernelCRF.fit

    def slow(model, X, *args, **settings):
        if sum(map(len, X)) == 1500 and model.basis is None:
            raise KeyboardInterrupt
        return fit(model, X, *args, **settings)

    monkeypatch.setattr(KernelCRF, "fit", slow)
    words = ["--model", "kernel-crf", "--tune", "--budget", "5s", "-o", tmp_path / "m.kf"]
    result = run("train", tmp_path / "a.csv", *words)
    assert result.exit_code == 0, result.output
    assert "fitted with landmarks" in " ".join(result.stderr.split())
    assert load(tmp_path / "m.kf").classes_.tolist() == ["A", "B"]
