"""Sentences with parts of speech, phrases and heads."""

from pathlib import Path

import numpy as np

from ._files import write_text
from .sentences import ENGLISH, english

UNIVERSAL = dict(
    pair.split(":")
    for pair in [
        "DT:DET",
        "NN:NOUN",
        "NNS:NOUN",
        "NNP:PROPN",
        "JJ:ADJ",
        "PRP:PRON",
        "CD:NUM",
        "IN:ADP",
        "RB:ADV",
        "MD:AUX",
        "TO:PART",
        "WDT:PRON",
        ".:PUNCT",
    ]
)


def write_treebanks(folder: Path, rng: np.random.Generator) -> None:
    """The English Web Treebank, with tags and with trees, and the sample of the Penn Treebank."""
    for part, count in (("train", 700), ("dev", 250), ("test", 200)):
        sentences = [english(rng) for _ in range(count)]
        if part == "dev":
            sentences[0] = [("#", "NN", "B-NP"), *sentences[0]]  # a word, not a comment
        trees = "".join(parsed(n, one, rng) for n, one in enumerate(sentences))
        write_text(folder / "ud_english_ewt" / f"{part}.trees.tsv.gz", trees)
        lines = [[line.split("\t")[:3] for line in block.split("\n")] for block in trees.split("\n\n")]
        tags = "\n\n".join("\n".join("\t".join(line) for line in block) for block in lines)
        write_text(folder / "ud_english_ewt" / f"{part}.tsv.gz", tags)
    write_penn(folder, rng)


def parsed(number: int, sentence: list[tuple[str, str, str]], rng: np.random.Generator) -> str:
    """The first verb is the root; all others hang from it or from the next noun, so that no arcs cross."""
    tags = [tag for _, tag, _ in sentence]
    root = next((t for t, tag in enumerate(tags) if tag.startswith("VB")), 0)
    lines = [f"# sent_id = sample-{number:04}"]
    for t, (word, tag, _) in enumerate(sentence):
        head, relation = root + 1, "dep"
        if t == root:
            head, relation = 0, "root"
        elif tag in ("DT", "JJ", "CD"):
            after = next((s for s in range(t + 1, len(tags)) if tags[s].startswith("NN")), root)
            head, relation = after + 1, {"DT": "det", "JJ": "amod", "CD": "nummod"}[tag]
        elif tag.startswith("NN") or tag == "PRP":
            relation = "nsubj" if t < root else "obl:tmod" if rng.random() < 0.2 else "obj"
        upos = UNIVERSAL.get(tag, "VERB")
        lines.append(f"{word}\t{upos}\t{tag}\t{head}\t{relation}")
    return "\n".join(lines) + "\n\n"


def write_penn(folder: Path, rng: np.random.Generator) -> None:
    """Trees with function tags and traces, and the words with their tags."""
    trees, tagged = [], []
    for n in range(398):
        document = f"wsj_{1 + n // 2:04}"
        subject, object_ = phrase(rng), phrase(rng)
        verb, place = leaf("VBD", rng), f"(PP-LOC {leaf('IN', rng)} {phrase(rng)})"
        trace = " (NP (-NONE- *T*-1))" if n % 5 == 0 else ""
        rest = place if n % 2 else ""
        tree = f"((S (NP-SBJ-1 {subject[4:-1]}) (VP {verb} {object_}{trace} {rest}) (. .)))".replace(
            " )", ")"
        )
        trees.append(f"{document}\t{tree}")
        words = [part.split(" ") for part in leaves(tree) if not part.startswith("-NONE-")]
        tagged.append(f"# doc = {document}\n" + "".join(f"{word}\t{tag}\n" for tag, word in words))
    write_text(folder / "ptb_sample" / "trees.tsv.gz", "\n".join(trees) + "\n")
    write_text(folder / "ptb_sample" / "pos.tsv.gz", "\n".join(tagged) + "\n")


def leaf(tag: str, rng: np.random.Generator) -> str:
    """A word and its tag."""
    return f"({tag} {rng.choice(ENGLISH[tag].split())})"


def phrase(rng: np.random.Generator) -> str:
    """A noun phrase."""
    tags = str(rng.choice(["DT NN", "DT JJ NN", "NNP NNP", "NNS"])).split()
    return f"(NP {' '.join(leaf(tag, rng) for tag in tags)})"


def leaves(tree: str) -> list[str]:
    """Tag and word of every leaf."""
    return [part.split(")")[0] for part in tree.split("(") if " " in part.strip() and ")" in part]
