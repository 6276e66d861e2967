"""Sentences with entities, chunks and accents."""

from pathlib import Path

import numpy as np

from ._files import write_text

FIRST = ["Ana", "Luis", "Juan", "Eva", "Marta", "Pedro", "Rosa", "Iker", "Nuria", "Mateo"]
LAST = ["Villalonga", "Roldán", "Ibarra", "Quintana", "Solís", "Vidal", "Montes", "Haro"]
PLACES = ["Madrid", "París", "Roma", "Lugo", "Cádiz", "Oviedo", "Lima", "Bogotá", "Quito"]
FIRMS = ["Telefónica", "Banco Azul", "Grupo Norte", "Radio Sur", "Unión Minera", "Aceros Haro"]
OTHERS = ["Copa Real", "Premio Faro", "Ley Azul"]
SPANISH = (
    "PER vive en LOC .",
    "El presidente de ORG , PER , viajó ayer a LOC .",
    "La empresa ORG compró una fábrica en LOC por 300 millones .",
    "LOC , 12 may .",
    "PER ganó la MISC con su equipo .",
    "Nadie sabe cuándo llegará el tren de la tarde .",
    "Según ORG , los precios subieron mucho en el año 1998 .",
    "PER y PER hablaron de la MISC durante la cena .",
)
TAGS = {".": "Fp", ",": "Fc", "de": "SP", "en": "SP", "a": "SP", "el": "DA", "la": "DA", "y": "CC"}

CHUNKS = {
    "NP": ["DT NN", "DT JJ NN", "NNP NNP", "PRP", "NNS", "CD NNS"],
    "VP": ["VBD", "MD VB", "VBZ VBN", "TO VB"],
    "PP": ["IN"],
    "ADVP": ["RB"],
    "SBAR": ["WDT"],
}
ENGLISH = {
    "DT": "the a this every",
    "NN": "river house market engine letter garden price window company village",
    "JJ": "old green quiet large new bitter",
    "NNP": "Harlow Winter Bellamy North Keane Ashby",
    "PRP": "she he they it we",
    "NNS": "birds shares people roads workers stones",
    "CD": "two 40 seven 1,200",
    "VBD": "saw sold built crossed left painted",
    "VBZ": "has is",
    "VBN": "fallen grown taken known",
    "VB": "walk wait rise sleep buy",
    "MD": "will may could",
    "TO": "to",
    "IN": "in of with under near",
    "RB": "slowly often yesterday",
    "WDT": "that which",
}
PLANS = ("NP VP NP", "NP VP PP NP", "NP ADVP VP NP PP NP", "PP NP NP VP", "NP VP SBAR NP VP", "NP VP")


def write_conll(folder: Path, rng: np.random.Generator) -> None:
    """CoNLL-2002 in two languages, which are one here, and CoNLL-2000."""
    for part, count in (("train", 700), ("testa", 450), ("testb", 350)):
        for language in ("esp", "ned"):
            text = "".join(entities(rng) for _ in range(count))
            write_text(folder / "conll2002" / f"{language}.{part}.gz", text)
    for part, count in (("train", 500), ("test", 200)):
        write_text(folder / "conll2000" / f"{part}.txt.gz", "".join(chunks(rng) for _ in range(count)))


def name_of(kind: str, rng: np.random.Generator) -> list[str]:
    """The words of a name."""
    if kind == "PER":
        return [str(rng.choice(FIRST)), *([str(rng.choice(LAST))] if rng.random() < 0.7 else [])]
    return str(rng.choice({"LOC": PLACES, "ORG": FIRMS, "MISC": OTHERS}[kind])).split()


def entities(rng: np.random.Generator) -> str:
    """A sentence, a token per line: word, part of speech and label."""
    lines = []
    for word in str(rng.choice(SPANISH)).split():
        if word in ("PER", "LOC", "ORG", "MISC"):
            name = name_of(word, rng)
            lines += [f"{part} NP {'I' if n else 'B'}-{word}" for n, part in enumerate(name)]
        else:
            lines.append(f"{word} {TAGS.get(word.lower(), 'NC')} O")
    return "\n".join(lines) + "\n\n"


def english(rng: np.random.Generator) -> list[tuple[str, str, str]]:
    """A sentence: words, parts of speech and chunks."""
    tokens = []
    for kind in str(rng.choice(PLANS)).split():
        for n, tag in enumerate(str(rng.choice(CHUNKS[kind])).split()):
            tokens.append((str(rng.choice(ENGLISH[tag].split())), tag, f"{'I' if n else 'B'}-{kind}"))
    return [*tokens, (".", ".", "O")]


def chunks(rng: np.random.Generator) -> str:
    """The same, a token per line."""
    return "".join(" ".join(token) + "\n" for token in english(rng)) + "\n"


def write_prosody(folder: Path, rng: np.random.Generator) -> None:
    """Words with their prominence and the boundaries after them; punctuation has neither."""
    for part, count in (("dev", 400), ("test", 300)):
        lines = []
        for n in range(count):
            lines.append(f"<file>\t{n:06}.txt")
            for word, tag, _ in english(rng):
                if tag == ".":
                    lines.append(f"{word}\tNA\tNA\tNA\tNA")
                    continue
                strong = tag[0] in "NJR" and rng.random() < 0.8
                level = int(rng.integers(1, 3)) if strong else 0
                boundary = "NA" if rng.random() < 0.05 else f"{rng.gamma(1.0):.3f}"
                lines.append(f"{word}\t{level}\t0\t{boundary}\t{level + rng.random():.3f}")
        write_text(folder / "helsinki_prosody" / f"{part}.txt.gz", "\n".join(lines) + "\n")
