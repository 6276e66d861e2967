"""Files of annotation tools and of biology in every command."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from kernelfields import load, read
from kernelfields.cli.app import app
from kernelfields.datasets.dependencies import load_ud_trees
from kernelfields.datasets.genome import load_genome
from kernelfields.io import (
    LetterSequence,
    ParsedSentence,
    read_brat,
    read_conllu,
    read_doccano,
    read_gff3,
    read_label_studio,
    read_prodigy,
    write_conllu,
    write_fasta,
)
from kernelfields.metrics import entity_spans
from tests.files._documents import TOOLS, places, real_documents
from tests.io.test_profiles import pssm_text


def run(*arguments: Any, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any, sample_dir: Path) -> Path:
    """A model of Spanish entities, trained on marked texts, and such texts of all tools."""
    here: Path = tmp_path_factory.mktemp("formats")
    every = real_documents(sample_dir, 400)
    TOOLS["doccano"][1](every[:300], here / "train.jsonl")
    for tool, (_, write, name) in TOOLS.items():
        write(every[300:340], here / (tool if name == "folder" else f"{tool}{Path(name).suffix}"))
    done = run("train", here / "train.jsonl", "-o", here / "ner.kf", "--max-iter", 30, "--tol", 0.1)
    assert "CRF with" in done.output
    return here


FILES = {
    "brat": "brat",
    "doccano": "doccano.jsonl",
    "labelstudio": "labelstudio.json",
    "prodigy": "prodigy.jsonl",
}


def test_all_tools_are_judged_alike(folder: Path) -> None:
    """The same texts; Prodigy has the words of the corpus, so its tokens differ."""
    said = [
        json.loads(run("evaluate", folder / "ner.kf", folder / name, "--json").stdout.splitlines()[-1])
        for tool, name in FILES.items()
        if tool != "prodigy"
    ]
    assert said[0]["token_error"] == said[1]["token_error"] == said[2]["token_error"]
    assert said[0]["token_error"] < 0.15


@pytest.mark.parametrize("tool", FILES)
def test_tags_are_spans_with_probabilities(tool: str, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / FILES[tool]
    run(
        "tag",
        folder / "ner.kf",
        folder / FILES[tool],
        "-o",
        out,
        *(["--to", "brat"] if tool == "brat" else []),
    )
    model, (X, _) = load(folder / "ner.kf"), read(folder / FILES[tool], labelled=False)
    labels = model.predict(X)
    sure = np.concatenate(model.entity_probabilities(X, labels))
    if tool == "labelstudio":
        tasks = json.loads(out.read_text())
        assert [one["annotations"] for one in tasks] == [
            one["annotations"] for one in json.loads((folder / FILES[tool]).read_text())
        ]
        regions = [one for task in tasks for one in task["predictions"][0]["result"]]
        assert [one["score"] for one in regions] == pytest.approx(sure, abs=1e-5)
        texts = [task["data"]["text"] for task in tasks for _ in task["predictions"][0]["result"]]
        for region, text in zip(regions, texts, strict=True):
            value = region["value"]
            assert text[value["start"] : value["end"]] == value["text"]
        return
    found = list(TOOLS[tool][0](out))
    spans = [span for one in found for span in one.spans or ()]
    assert [one.text for one in found] == [one.text for one in TOOLS[tool][0](folder / FILES[tool])]
    assert len(spans) == len(sure) == sum(map(len, entity_spans(labels)))
    if tool != "doccano":
        assert [span.probability for span in spans] == pytest.approx(sure, abs=1e-5)
    words = [(one.text[s.start : s.end], s.label) for one in found for s in one.spans or ()]
    expected = [
        (" ".join(x[a:b]), kind)
        for x, y in zip(X, labels, strict=True)
        for a, b, kind in entity_spans([y])[0]
    ]
    assert [("".join(text.split()), kind) for text, kind in words] == [
        ("".join(text.split()), kind) for text, kind in expected
    ]


def test_plain_texts_are_tagged(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Juan vive en Madrid.\n\nEFE 👩‍🚀\n")
    done = run("tag", folder / "ner.kf", tmp_path / "a.txt", "--format", "text")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["text"] for line in lines] == ["Juan vive en Madrid.", "EFE 👩‍🚀"]
    assert lines[1]["tokens"][1]["text"] == "👩‍🚀"
    done = run("tag", folder / "ner.kf", tmp_path / "a.txt", "--format", "text", "--to", "jsonl")
    assert json.loads(done.stdout.splitlines()[1])["offsets"] == [[0, 3], [4, 7]]


@pytest.mark.parametrize("tool", FILES)
@pytest.mark.parametrize("to", FILES)
def test_every_tool_into_every_other(tool: str, to: str, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / FILES[to]
    run("convert", folder / FILES[tool], "-o", out, "--to", to)
    read_one = {
        "brat": read_brat,
        "doccano": read_doccano,
        "labelstudio": read_label_studio,
        "prodigy": read_prodigy,
    }
    found, given = list(read_one[to](out)), list(read_one[tool](folder / FILES[tool]))
    assert [(one.text, places(one)) for one in found] == [(one.text, places(one)) for one in given]


def test_texts_into_columns_and_back(folder: Path, tmp_path: Path) -> None:
    run("convert", folder / "brat", "-o", tmp_path / "a.jsonl")
    assert read(tmp_path / "a.jsonl") == read(folder / "brat")
    run("convert", tmp_path / "a.jsonl", "-o", tmp_path / "b.json", "--to", "labelstudio")
    found, given = list(read_label_studio(tmp_path / "b.json")), list(read_brat(folder / "brat"))
    assert [(one.text, places(one)) for one in found] == [(one.text, places(one)) for one in given]
    run("convert", folder / "brat", "-o", tmp_path / "a.conll")
    assert read(tmp_path / "a.conll") == read(folder / "brat")


def test_spans_that_cut_words_are_named(folder: Path, tmp_path: Path) -> None:
    lines = [{"text": "Ana ran", "label": [[0, 3, "PER"]]}, {"text": "Ana ran", "label": [[1, 3, "PER"]]}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines * 3))
    done = run("train", tmp_path / "a.jsonl", "-o", tmp_path / "a.kf", code=2)
    assert "a.jsonl, line 2: the span 'na' of 'PER', offsets 1 to 3" in done.output.replace("\n", " ")
    done = run("train", tmp_path / "a.jsonl", "-o", tmp_path / "a.kf", "--spans", "drop")
    said = " ".join(done.output.split())
    assert "line 2: the span 'na' of 'PER'" in said
    assert run("train", tmp_path / "a.jsonl", "-o", tmp_path / "a.kf", "--spans", "x", code=2)


def test_texts_without_marks_are_left_out(tmp_path: Path) -> None:
    lines = [{"text": "Ana ran", "spans": [{"start": 0, "end": 3, "label": "PER"}]}, {"text": "who?"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines * 3))
    done = run("train", tmp_path / "a.jsonl", "-o", tmp_path / "a.kf")
    assert "3 of 6 texts have no marks and are left out" in " ".join(done.output.split())


def test_parts_of_speech_of_conllu(tmp_path: Path, sample_dir: Path) -> None:
    """Labels go into their column, probabilities into MISC; all else stays, lines that are no words too."""
    trees = load_ud_trees("dev", folder=sample_dir)
    sentences = []
    for words, tags, parents in zip(trees.sentences[:150], trees.labels, trees.parents, strict=False):
        rows = [
            (str(t), word, "_", tag, "_", "_", str(parent + 1), "dep", "_", "SpaceAfter=No")
            for t, (word, tag, parent) in enumerate(zip(words, tags, parents, strict=True), 1)
        ]
        several = [("1-2", "x", *["_"] * 8)] if len(rows) > 1 else []
        sentences.append(ParsedSentence((*several, *rows), ("# text = x",)))
    write_conllu(sentences, tmp_path / "a.conllu")
    run(
        "train",
        tmp_path / "a.conllu",
        "--columns",
        "form,upos",
        "-o",
        tmp_path / "pos.kf",
        "--max-iter",
        20,
        "--tol",
        0.5,
    )
    run(
        "tag",
        tmp_path / "pos.kf",
        tmp_path / "a.conllu",
        "--columns",
        "form",
        "--to",
        "conllu",
        "-o",
        tmp_path / "b.conllu",
    )
    found = list(read_conllu(tmp_path / "b.conllu"))
    assert [len(one.rows) for one in found] == [len(one.rows) for one in sentences]
    assert any(len(one.rows) > len(one.words) for one in sentences)
    right = [
        a == b
        for one, other in zip(found, sentences, strict=True)
        for a, b in zip(one.tags, other.tags, strict=True)
    ]
    assert np.mean(right) > 0.95
    assert [one.heads for one in found] == [one.heads for one in sentences]
    assert "Probability=0." in found[0].words[0][9] or "Probability=1." in found[0].words[0][9]


@pytest.fixture(scope="module")
def genes(tmp_path_factory: Any) -> Path:
    """Three pieces of a genome, their labels as letters and as features."""
    here: Path = tmp_path_factory.mktemp("genes")
    pieces = load_genome().cut(3000)[:3]
    letters = [LetterSequence(f"p{n}", "".join("ACGT"[b] for b in one.bases)) for n, one in enumerate(pieces)]
    write_fasta(letters, here / "genome.fa")
    write_fasta([LetterSequence(f"p{n}", "".join(one.labels)) for n, one in enumerate(pieces)], here / "y.fa")
    lines = ["##gff-version 3"]
    for n, one in enumerate(pieces):
        cuts = [0, *(np.flatnonzero(one.labels[1:] != one.labels[:-1]) + 1).tolist(), len(one.labels)]
        lines += [
            f"p{n}\tx\tCDS\t{a + 1}\t{b}\t.\t{'+' if one.labels[a] == 'C' else '-'}\t0\tID=g{n}.{a}"
            for a, b in pairwise(cuts)
            if one.labels[a] != "N"
        ]
    (here / "genes.gff3").write_text("\n".join(lines) + "\n")
    return here


def test_both_kinds_of_labels_of_a_genome_are_the_same(genes: Path) -> None:
    by_letters = read(genes / "genome.fa", labels=genes / "y.fa")[1]
    by_features = read(genes / "genome.fa", labels=genes / "genes.gff3")[1]
    names = {"N": "O", "C": "CDS+", "R": "CDS-"}
    assert by_letters is not None
    assert by_features == [[names[label] for label in one] for one in by_letters]


def test_genes_are_found(genes: Path, tmp_path: Path) -> None:
    """Features are the runs of predicted labels; scores are the means of their probabilities."""
    model = tmp_path / "genes.kf"
    run(
        "train",
        genes / "genome.fa",
        "--labels",
        genes / "genes.gff3",
        "-o",
        model,
        "--max-iter",
        15,
        "--tol",
        0.9,
    )
    run("tag", model, genes / "genome.fa", "-o", tmp_path / "found.gff3")
    run("tag", model, genes / "genome.fa", "-o", tmp_path / "found.bed")
    X, _ = read(genes / "genome.fa")
    estimator = load(model)
    labels, marginals = estimator.predict(X), estimator.predict_marginals(X)
    found = list(read_gff3(tmp_path / "found.gff3"))
    assert found
    again = [["O"] * len(x) for x in X]
    names = estimator.classes_.tolist()
    for one in found:
        n, label = int(one.sequence[1:]), f"{one.type}{one.strand}"
        again[n][one.start : one.end] = [label] * (one.end - one.start)
        p = marginals[n][one.start : one.end, names.index(label)]
        assert one.score == pytest.approx(p.mean(), abs=1e-5)
        assert float(one.attributes["least_probability"]) == pytest.approx(p.min(), abs=1e-5)
    assert again == labels
    bed = [line.split("\t") for line in (tmp_path / "found.bed").read_text().splitlines()]
    assert [(row[0], int(row[1]), int(row[2]), row[3], row[5]) for row in bed] == [
        (one.sequence, one.start, one.end, one.type, one.strand) for one in found
    ]
    assert [int(row[4]) for row in bed] == [round(1000 * (one.score or 0)) for one in found]


def test_answers_do_not_overwrite_what_is_read(folder: Path) -> None:
    done = run("tag", folder / "ner.kf", folder / "brat", "-o", folder / "brat", "--to", "brat", code=2)
    assert "would overwrite" in done.output
    before = (folder / "doccano.jsonl").read_bytes()
    run("tag", folder / "ner.kf", folder / "doccano.jsonl", "-o", folder / "doccano.jsonl", code=2)
    assert (folder / "doccano.jsonl").read_bytes() == before


def test_several_files_go_to_a_folder(folder: Path, tmp_path: Path) -> None:
    run(
        "tag",
        folder / "ner.kf",
        folder / "doccano.jsonl",
        folder / "labelstudio.json",
        "-o",
        tmp_path / "out",
    )
    assert len(list(read_doccano(tmp_path / "out" / "doccano.jsonl"))) == 40
    assert len(json.loads((tmp_path / "out" / "labelstudio.json").read_text())) == 40


def test_nobody_has_accepted_predictions(folder: Path, tmp_path: Path) -> None:
    line = {"text": "Ana", "spans": [], "answer": "reject", "meta": {"source": "x"}}
    (tmp_path / "a.jsonl").write_text(json.dumps(line))
    found = json.loads(run("tag", folder / "ner.kf", tmp_path / "a.jsonl").stdout)
    assert "answer" not in found
    assert found["meta"] == line["meta"]


def test_streams(folder: Path) -> None:
    text = (folder / "prodigy.jsonl").read_text()
    done = CliRunner().invoke(app, ["tag", str(folder / "ner.kf"), "--format", "prodigy"], input=text)
    assert done.exit_code == 0, done.output
    assert len(done.stdout.splitlines()) == 40


def test_letters_without_labels_cannot_be_learnt(genes: Path, tmp_path: Path) -> None:
    done = run("train", genes / "genome.fa", "-o", tmp_path / "x.kf", code=2)
    assert "sequence 0 has no labels; --labels names a file with them" in " ".join(done.output.split())


def test_background(genes: Path, tmp_path: Path) -> None:
    model = tmp_path / "genes.kf"
    run("train", genes / "genome.fa", "--labels", genes / "y.fa", "-o", model, "--max-iter", 15, "--tol", 0.9)
    done = run("tag", model, genes / "genome.fa", "--background", "N")
    (tmp_path / "a.gff3").write_text(done.stdout)
    kinds = {one.type for one in read_gff3(tmp_path / "a.gff3")}
    assert kinds
    assert kinds <= {"C", "R"}
    done = run("tag", model, genes / "genome.fa", "--background", "N", "--to", "jsonl", code=2)
    assert "--background is for gff3 and bed, not for jsonl" in done.output


def test_structures_of_proteins_from_matrices(tmp_path: Path, sample_dir: Path) -> None:
    """Files of PSI-BLAST with labels in FASTA, from training to a table."""
    with np.load(sample_dir / "jpred4" / "jpred4_pssm.npz") as file:
        ends, scores = file["offsets"][:13].tolist(), file["pssm"]
        seq, ss = file["seq"].tobytes().decode(), "".join("HEC"[code] for code in file["ss3"][: ends[-1]])
    labels = []
    for n, (a, b) in enumerate(pairwise(ends)):
        (tmp_path / f"p{n}.pssm").write_text(pssm_text(scores[a:b], seq[a:b]))
        labels.append(LetterSequence(f"p{n}", ss[a:b]))
    write_fasta(labels, tmp_path / "ss.fa")
    files = [tmp_path / f"p{n}.pssm" for n in range(12)]
    run(
        "train",
        *files[:11],
        "--labels",
        tmp_path / "ss.fa",
        "-o",
        tmp_path / "ss.kf",
        "--max-iter",
        50,
        "--tol",
        0.1,
    )
    done = run("evaluate", tmp_path / "ss.kf", files[0], "--labels", tmp_path / "ss.fa", "--json")
    assert json.loads(done.stdout.splitlines()[-1])["token_error"] < 0.6
    done = run("tag", tmp_path / "ss.kf", files[11])
    rows = done.stdout.splitlines()
    assert rows[0].startswith("sequence,A,R,N,D")
    assert len(rows) == 1 + ends[12] - ends[11]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "train.jsonl", "--labels", "y.fa"], "--labels is for FASTA files and profiles"),
        (["train", "train.jsonl", "--offsets", "bytes"], "--offsets is 'bytes'; it must be one of"),
        (["tag", "ner.kf", "brat", "--to", "brat"], "name a folder, or a file .ann, by -o"),
        (["tag", "ner.kf", "doccano.jsonl", "--marginals"], "doccano has no place for --marginals"),
        (["tag", "ner.kf", "doccano.jsonl", "--kbest", "2"], "--kbest has a place in conll and jsonl only"),
        (["tag", "ner.kf", "doccano.jsonl", "--to", "conllu"], "--to conllu is for files of CoNLL-U"),
        (["tag", "ner.kf", "doccano.jsonl", "--to", "xml"], "There is no output format 'xml'"),
        (["convert", "brat", "-o", "x.npz"], "Sequence 0 has tokens, which npz has no place for"),
        (["convert", "doccano.jsonl", "-o", "x"], "x does not say the format to write"),
        (["convert", "doccano.jsonl", "-o", "x.fa"], "Files of fasta are only read"),
    ],
)  # fmt: skip
def test_refusals(arguments: list[str], message: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = run(*arguments, code=2)
    assert message in " ".join(done.output.split())
