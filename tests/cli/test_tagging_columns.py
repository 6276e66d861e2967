"""What ``kf tag`` makes of tokens in all their forms, with a model of words and tags."""

import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Timer

import pytest
from typer.testing import CliRunner

from kernelfields.cli._loaded import load_labeller
from kernelfields.cli._structures import structure_named
from kernelfields.cli.app import app

from ._files import sentences, write_columns, write_table

TAGS = {"O": "X", "B-PER": "N", "I-PER": "N"}


def run(*words, text=None):
    return CliRunner().invoke(app, [str(word) for word in words], input=text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of one and of two columns, and sentences without labels."""
    path = tmp_path_factory.mktemp("columns")
    rows = ["\n".join(f"{w} {TAGS[y]} {y}" for w, y in one) for one in sentences(30)]
    (path / "two.conll").write_text("\n\n".join(rows) + "\n")
    assert run("train", path / "two.conll", "-o", path / "two.kf", "--features", "ner").exit_code == 0
    assert run("train", write_columns(path / "one.conll"), "-o", path / "one.kf").exit_code == 0
    assert run("train", path / "two.conll", "--features", "pos", "-o", path / "wide.kf").exit_code == 0
    return path


def tokens(form):
    rows = [[(w, TAGS[y]) for w, y in one] for one in sentences(5, seed=3)]
    forms = {
        "lists": list,
        "objects": lambda token: {"w": token[0], "pos": token[1]},
        "converted": lambda token: {"word": token[0], "column1": token[1], "more": 3},
        "words": lambda token: token[0],
    }
    return "".join(
        json.dumps({"tokens": [forms[form](token) for token in one], "id": n}) + "\n"
        for n, one in enumerate(rows)
    )


def predicted(folder, form):
    result = run("tag", folder / "two.kf", "--format", "jsonl", text=tokens(form))
    assert result.exit_code == 0, result.output
    return [json.loads(line)["predicted"] for line in result.stdout.splitlines()], result.stderr


def test_lists_and_objects_are_columns(folder):
    expected, said = predicted(folder, "lists")
    assert [len(one) for one in expected] == [len(one) for one in sentences(5, seed=3)]
    assert said == ""
    assert predicted(folder, "objects") == (expected, "")
    assert predicted(folder, "converted") == (expected, "")
    columns = "\n\n".join("\n".join(f"{w} {TAGS[y]}" for w, y in one) for one in sentences(5, seed=3))
    lines = run("tag", folder / "two.kf", text=columns + "\n").stdout.splitlines()
    assert [line.split()[2] for line in lines if line] == [y for one in expected for y in one]


def test_words_alone_are_labelled_with_a_warning(folder):
    answers, said = predicted(folder, "words")
    assert said.count("trained with pos beside the words") == 1
    assert [len(one) for one in answers] == [len(one) for one in sentences(5, seed=3)]


def test_other_objects_are_refused_by_name(folder):
    result = run("tag", folder / "two.kf", "--format", "jsonl", text='{"tokens": [{"text": "Ana"}]}\n')
    assert result.exit_code == 2
    assert result.stderr == "Sequence 0 has an object without a text 'w' or 'word', the token itself.\n"


@pytest.mark.parametrize("to", ["jsonl", "csv", "conll"])
def test_all_columns_are_kept_in_all_formats(folder, to):
    text = "# sent_id = 1\nAna N\nDiaz N\n"
    out = run("tag", folder / "two.kf", "--to", to, text=text).stdout.splitlines()
    if to == "jsonl":
        assert json.loads(out[0])["tokens"] == [["Ana", "N"], ["Diaz", "N"]]
        assert json.loads(out[0])["comments"] == ["# sent_id = 1"]
    elif to == "csv":
        assert out[0] == "sequence,token,column1,predicted,probability"
        assert out[1].startswith("0,Ana,N,B-PER,0.")
    else:
        assert out[0] == "# sent_id = 1"
        assert out[1].startswith("Ana N B-PER 0.")


@pytest.mark.parametrize("model", ["one", "two"])
def test_a_sentence_on_a_line_is_no_token(folder, model):
    result = run("tag", folder / f"{model}.kf", text="Ana Diaz saw the dog\n")
    assert result.exit_code == 2
    assert (
        "Sequence 0 has tokens of 5 columns, 'Ana Diaz saw the dog', but the model was trained on"
        in result.stderr
    )
    assert result.stdout == ""


def test_a_sentence_in_a_string_is_warned_of(folder):
    result = run("tag", folder / "one.kf", "--format", "jsonl", text='{"tokens": ["Ana saw the dog"]}\n')
    assert "Sequence 0 is one token with spaces, 'Ana saw the dog'" in result.stderr


def test_models_know_how_wide_their_tokens_are(folder):
    """Also where their templates look at the first column only."""
    assert run("tag", folder / "wide.kf", text="Ana N\n").exit_code == 0
    assert "tokens of 3 columns" in run("tag", folder / "wide.kf", text="Ana N B-PER\n").stderr
    assert run("tag", folder / "wide.kf", "--labelled", text="Ana N B-PER\n").exit_code == 0


def test_numbers_and_tokens_are_told_apart(folder, tmp_path):
    table = write_table(tmp_path / "a.csv")
    run("train", table, "-o", tmp_path / "n.kf")
    assert (
        "Sequence 0 has numbers, but the model labels tokens." in run("tag", folder / "one.kf", table).stderr
    )
    assert (
        "Sequence 0 has tokens, but the model labels numbers."
        in run("tag", tmp_path / "n.kf", text="a\n").stderr
    )
    assert "but the model labels tokens" in run("evaluate", folder / "one.kf", table).output


def test_errors_count_sequences_from_the_first_of_all(folder, tmp_path):
    """Behind the first batch, too."""
    table = tmp_path / "a.csv"
    run("train", write_table(table), "-o", tmp_path / "n.kf")
    rows = [f"s{s},{s % 2},0.5" for s in range(300)]
    rows[280] = "s280,,0.5"
    (tmp_path / "b.csv").write_text("\n".join(["sequence,x,noise", *rows]) + "\n")
    assert "Sequence 280 of X holds NaN" in run("tag", tmp_path / "n.kf", tmp_path / "b.csv").stderr


def test_a_stream_is_answered_sentence_by_sentence(folder):
    """The answer to the first sentence comes while the input is still open."""
    command = [
        sys.executable,
        "-c",
        "from kernelfields.cli import main; main()",
        "tag",
        str(folder / "one.kf"),
    ]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": ""}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, bufsize=1
    ) as process:
        patience = Timer(60, process.kill)  # an answer that does not come would be waited for
        patience.start()
        answers = []
        for words in (["Ana", "Diaz"], ["the"]):
            process.stdin.write("\n".join(words) + "\n\n")
            process.stdin.flush()
            lines = [process.stdout.readline() for _ in [*words, ""]]
            answers.append([line.split()[:2] for line in lines[:-1]])
        process.stdin.close()
        assert process.wait(60) == 0
        patience.cancel()
    assert answers == [[["Ana", "B-PER"], ["Diaz", "I-PER"]], [["the", "O"]]]


def test_labels_may_look_like_markup(tmp_path):
    data = tmp_path / "a.conll"
    data.write_text("a [/foo]\nb [bold]\n:+1: :+1:\n\nb [bold]\na [/foo]\n")
    run("train", data, "-o", tmp_path / "m.kf")
    judged = run("evaluate", tmp_path / "m.kf", data)
    assert judged.exit_code == 0, judged.exception
    assert all(label in judged.stdout for label in ("[/foo]", "[bold]", ":+1:"))


def test_comments_are_skipped(tmp_path):
    data = tmp_path / "a.conll"
    rows = ["\n".join(f"{w}\t{y}" for w, y in one) for one in sentences(30)]
    data.write_text("\n\n".join(f"# sent_id = {n}\n# text = #\n{row}" for n, row in enumerate(rows)) + "\n")
    result = run("train", data, "-o", tmp_path / "m.kf", "--json")
    assert json.loads(result.stdout.splitlines()[-1])["labels"] == 3
    out = run("tag", tmp_path / "m.kf", data, "--labelled", "-o", tmp_path / "out.conll")
    assert out.exit_code == 0, out.output
    first = (tmp_path / "out.conll").read_text().splitlines()[:3]
    assert first[:2] == ["# sent_id = 0", "# text = #"]
    assert len(first[2].split("\t")) == 4


ROWS = (
    *("label-propagation", "label-spreading", "poisson-learning", "sequence-clustering"),
    "transductive-svm",
)
"""Models that do not label positions of sequences."""
STORED = sorted((Path(__file__).parents[1] / "regression").rglob("*.kf"))
FORMS = {
    "words": ("conll", "a\nb\n"),
    "columns": ("conll", "a x\nb y\n"),
    "objects": ("jsonl", '{"tokens": [{"w": "a"}, {"w": "b"}]}\n'),
    "two numbers": ("csv", "sequence,x,y\ns,1,0\ns,0,1\n"),
    "three numbers": ("csv", "sequence,x,y,z\ns,1,0,1\ns,0,1,1\n"),
}


@pytest.mark.parametrize("path", [p for p in STORED if p.stem in ROWS], ids=lambda path: path.stem)
def test_classifiers_of_rows_are_refused(path):
    result = run("tag", path, "--format", "csv", text="a,b,c\n1,2,3\n")
    assert result.exit_code == 2
    assert "which is no model of sequences" in " ".join(result.stderr.split())


@pytest.mark.parametrize("path", [p for p in STORED if p.stem not in ROWS], ids=lambda path: path.stem)
def test_every_model_labels_some_form_and_refuses_others_in_one_sentence(path):
    answered = []
    for form, (kind, text) in FORMS.items():
        result = run("tag", path, "--format", kind, text=text)
        assert result.exit_code in (0, 2), (form, result.exception)
        if result.exit_code == 0:
            answered.append(form)
        else:
            assert "Sequence 0" in result.stderr.splitlines()[-1]
    of_numbers = structure_named(load_labeller(path)) != "chain"  # trees and graphs that no file holds
    assert bool(answered) != of_numbers
