"""The component of spaCy."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kernelfields import CRF, load
from kernelfields.datasets.conll2002 import load_conll2002
from kernelfields.errors import InputError
from kernelfields.features.sets import ner

spacy = pytest.importorskip("spacy")
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.training import Example  # noqa: E402

from kernelfields.compat.spacy import SpacyLabeller, make_component  # noqa: E402
from tests.conftest import ROOT  # noqa: E402

TEXT = "Juan Villalonga viajó a Madrid.\n\n EFE lo dijo en Sao Paulo 👩‍🚀."


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: Any, sample_dir: Path) -> Path:
    found = load_conll2002("train", 300, folder=sample_dir)
    model = CRF(features=ner(pos=False), max_iter=40, tol=0.5).fit(found.sentences, found.labels)
    path: Path = tmp_path_factory.mktemp("spacy") / "ner.kf"
    model.save(path)
    return path


def pipeline(model_file: Path | None, **config: Any) -> Any:
    nlp = spacy.blank("es")
    nlp.add_pipe("kernelfields", config={"model": None if model_file is None else str(model_file), **config})
    return nlp


def entities(doc: Any) -> list[tuple[Any, ...]]:
    return [(one.start, one.end, one.label_, one._.probability) for one in doc.ents]


def test_entities_are_those_of_the_model(model_file: Path) -> None:
    """Words of a document without sentences are one sequence; tokens of space are no words."""
    doc = pipeline(model_file)(TEXT)
    words = [token.text for token in doc if not token.is_space]
    assert len(words) < len(doc)
    model = load(model_file)
    [labels] = model.predict([words])
    [sure] = model.entity_probabilities([words], [labels])
    assert [round(one._.probability, 9) for one in doc.ents] == [round(p, 9) for p in sure.tolist()]
    assert [one.text for one in doc.ents][:2] == ["Juan Villalonga", "Madrid"]
    assert [one.label_ for one in doc.ents][:2] == ["PER", "LOC"]
    np.testing.assert_allclose(doc.spans["kernelfields"].attrs["probabilities"], sure)
    np.testing.assert_allclose(
        doc._.label_marginals[[not token.is_space for token in doc]],
        model.predict_marginals([words])[0],
        atol=1e-6,
    )
    first = doc[0]._.label_probabilities
    assert max(first, key=first.get) == labels[0]
    assert sum(first.values()) == pytest.approx(1, abs=1e-5)


def test_sentences_are_labelled_by_themselves(model_file: Path) -> None:
    nlp = spacy.blank("es")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("kernelfields", config={"model": str(model_file)})
    doc = nlp("Ana vive en Roma. Luis vive en Madrid.")
    alone = [
        one
        for part in ("Ana vive en Roma.", "Luis vive en Madrid.")
        for one in pipeline(model_file)(part).ents
    ]
    assert [one.text for one in doc.ents] == [one.text for one in alone]
    assert [one._.probability for one in doc.ents] == pytest.approx([one._.probability for one in alone])


def test_batches_are_documents_one_by_one(model_file: Path) -> None:
    nlp = pipeline(model_file)
    texts = [TEXT, "", " ", "Madrid", TEXT * 3] * 4
    found = [entities(doc) for doc in nlp.pipe(texts, batch_size=7)]
    expected = [entities(nlp(text)) for text in texts]
    assert [[one[:3] for one in each] for each in found] == [[one[:3] for one in each] for each in expected]
    np.testing.assert_allclose(
        [one[3] for each in found for one in each], [one[3] for each in expected for one in each]
    )


def test_it_is_saved_with_the_pipeline(model_file: Path, tmp_path: Path) -> None:
    nlp = pipeline(model_file, least_probability=0.3, marginals=False)
    before = entities(nlp(TEXT))
    nlp.to_disk(tmp_path / "nlp")
    moved = tmp_path / "elsewhere.kf"
    model_file.rename(moved)  # the folder has all that is needed
    try:
        again = spacy.load(tmp_path / "nlp")
        assert entities(again(TEXT)) == before
        assert again.get_pipe("kernelfields").least_probability == 0.3
    finally:
        moved.rename(model_file)
    other = pipeline(None)
    other.from_bytes(nlp.to_bytes())
    assert entities(other(TEXT)) == before
    assert other.get_pipe("kernelfields").labels == ("LOC", "MISC", "ORG", "PER")
    assert entities(pickle.loads(pickle.dumps(nlp))(TEXT)) == before


def test_probabilities_are_saved_with_documents(model_file: Path) -> None:
    nlp = pipeline(model_file)
    doc = nlp(TEXT)
    [again] = (
        DocBin(docs=[doc], store_user_data=True)
        .from_bytes(DocBin(docs=[doc], store_user_data=True).to_bytes())
        .get_docs(nlp.vocab)
    )
    assert entities(again) == entities(doc)
    assert entities(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == entities(doc)


def test_unlikely_entities_stay_out_of_ents_only(model_file: Path) -> None:
    every = pipeline(model_file)(TEXT)
    limit = sorted(one._.probability for one in every.ents)[1]
    some = pipeline(model_file, least_probability=limit)(TEXT)
    assert len(some.ents) == len(every.ents) - 1
    assert len(some.spans["kernelfields"]) == len(every.ents)


def test_entities_that_are_there_can_stay(model_file: Path) -> None:
    nlp = spacy.blank("es")
    ruler = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "MINE", "pattern": "Villalonga"}])
    nlp.add_pipe("kernelfields", config={"model": str(model_file), "overwrite": False})
    found = [(one.text, one.label_) for one in nlp(TEXT).ents]
    assert ("Villalonga", "MINE") in found
    assert "Juan Villalonga" not in [text for text, _ in found]
    assert ("Madrid", "LOC") in found


def examples(nlp: Any) -> list[Any]:
    given = [
        ("Ana vive en París", [(0, 3, "PER"), (12, 17, "LOC")]),
        ("Luis vive en Roma", [(0, 4, "PER"), (13, 17, "LOC")]),
    ]
    return [Example.from_dict(nlp.make_doc(text), {"entities": found}) for text, found in given * 4]


def test_it_is_trained_by_the_pipeline() -> None:
    nlp = pipeline(None)
    nlp.initialize(lambda: examples(nlp))
    assert [(one.text, one.label_) for one in nlp("Eva vive en Roma").ents] == [
        ("Eva", "PER"),
        ("Roma", "LOC"),
    ]
    assert nlp.evaluate(examples(nlp))["ents_f"] == 1.0


def test_other_labels_are_tags() -> None:
    model = CRF(penalty=0.1, features="pos").fit([["the", "dog"], ["a", "cat"]] * 3, [["D", "N"]] * 6)
    doc = SpacyLabeller(model)(spacy.blank("en")("the  cat"))
    assert [token.tag_ for token in doc] == ["D", "", "N"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"model": None}, "The component 'kernelfields' has no model: name a file"),
        ({"columns": ["text", "tag_"]}, "was trained on the columns w, but columns has 2: text, tag_"),
        ({"columns": ["txt"]}, "what tokens of spaCy do not have: .*txt"),
        ({"columns": []}, "columns is empty"),
        ({"least_probability": 1.5}, "least_probability"),
    ],
)
def test_refusals(config: dict[str, Any], message: str, model_file: Path) -> None:
    with pytest.raises(InputError, match=message):
        pipeline(model_file, **config)("Ana") if config.get("model", 1) else pipeline(None)("Ana")


@pytest.mark.parametrize("given", [None, "missing.kf"])
def test_attributes_of_a_component_without_a_model_can_be_looked_at(given: str | None) -> None:
    """spaCy does so when a component is added, in an order that depends on the seed of hashes."""
    component = SpacyLabeller(given)
    assert component.model is None
    assert component.labels == ()
    for name in dir(component):
        getattr(component, name)


def python(code: str, path: Path) -> str:
    """Run code in a process of its own, with a folder on its path."""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(ROOT / "src")])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr


def test_installed_it_is_found_by_its_name(tmp_path: Path) -> None:
    """What an installation of the package puts into its metadata is all that spaCy needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    [(name, factory)] = project["entry-points"]["spacy_factories"].items()
    info = tmp_path / "planted-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[spacy_factories]\n{name} = {factory}\n")
    code = "import spacy; print(spacy.blank('en').add_pipe('kernelfields').name)"
    assert python(code, tmp_path).strip() == "kernelfields"


def test_without_spacy_one_sentence_says_what_is_missing(tmp_path: Path) -> None:
    code = "import sys; sys.modules['spacy'] = None; import kernelfields.compat.spacy"
    said = python(code, tmp_path).strip().splitlines()[-1]
    assert said.endswith("The component of spaCy needs spaCy: pip install 'kernelfields[spacy]'.")


def test_the_factory_is_an_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (
        project["entry-points"]["spacy_factories"]["kernelfields"]
        == "kernelfields.compat.spacy:make_component"
    )
    assert spacy.Language.has_factory("kernelfields")
    assert callable(make_component)
