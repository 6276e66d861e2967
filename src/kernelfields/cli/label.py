"""``kf label``: mark sequences in the browser while a model learns from them."""

from __future__ import annotations

import re
import socket
import webbrowser
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ..datasets import load_letters
from ..errors import InputError
from ..files.items import FileData, Item
from ..files.kinds import ending_of
from ..files.reading import Reading, read_items
from ..files.tagged_text import TaggedText
from ..labelling.desk import Desk
from ..labelling.export import fitted, write_labels
from ..labelling.journal import read_journal
from ..labelling.material import Material, material_of
from ..labelling.news import Newsroom
from ..labelling.opening import open_desk, session_of, tags_for
from ..labelling.repair import beside, repaired
from ..labelling.settings import DeskSettings
from ..labelling.tags import Tags
from ._console import plain_console
from ._errors import plain_errors
from ._options import (
    MAX_SIZE,
    MISSING,
    Columns,
    Debug,
    Drop,
    Encoding,
    Format,
    LabelColumn,
    MaxSize,
    Missing,
    SequenceColumn,
    reading_of,
    table_of,
)
from ._token_features import features_of

PORT = 8765


def label(
    data: Annotated[Path, typer.Argument(help="Sequences to label; .txt has one sentence per line.")],
    labels: Annotated[
        str | None,
        typer.Option(help="What to choose from, as in PER,ORG,LOC; those in the data if not given."),
    ] = None,
    each: Annotated[
        bool | None,
        typer.Option("--each/--spans", help="A label for each token, or for spans of tokens (B-, I-, O)."),
    ] = None,
    tokens: Annotated[
        str,
        typer.Option(help="Of plain text: words and punctuation marks, or what stands between blanks."),
    ] = "words",
    image: Annotated[
        str | None, typer.Option(help="Rows of numbers are images: height and width, as in 16x8.")
    ] = None,
    journal: Annotated[Path | None, typer.Option(help="Where labels are kept; DATA.labels.")] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Leave damaged lines out of the journal, keep them beside it.")
    ] = False,
    export: Annotated[
        Path | None,
        typer.Option(help="Write accepted labels as .jsonl, .conll, .csv or .npz, without a page."),
    ] = None,
    auto: Annotated[
        bool, typer.Option("--auto", help="With --export: also the model's labels of all other sequences.")
    ] = False,
    labelled: Annotated[
        bool, typer.Option("--labelled", help="The last of CoNLL columns is the label, not a part of tokens.")
    ] = False,
    features: Annotated[
        str | None, typer.Option(help="Of tokens: ner, pos, chunking or a file of templates.")
    ] = None,
    strategy: Annotated[
        str, typer.Option(help="What to ask next: margin, log-probability, token-entropy, random …")
    ] = "margin",
    check: Annotated[
        float | None,
        typer.Option(help="Share of questions drawn at random, to count errors; 0.2.", min=0.0, max=0.9),
    ] = None,
    error_at_most: Annotated[
        float, typer.Option(help="Share of errors to promise.", min=0.0, max=1.0)
    ] = 0.05,
    confidence: Annotated[float, typer.Option(help="How surely that holds.", min=0.0, max=1.0)] = 0.95,
    penalty: Annotated[float, typer.Option(help="Of the model's weights.", min=0.0)] = 1.0,
    host: Annotated[str, typer.Option(help="Where to listen; others than this machine need a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Which port; any that is free if this one is not.")] = PORT,
    token: Annotated[str | None, typer.Option(help="What requests have to know.", envvar="KF_TOKEN")] = None,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page.")] = True,
    data_format: Format = None,
    encoding: Encoding = "utf-8",
    missing: Missing = MISSING,
    columns: Columns = None,
    sequence_column: SequenceColumn = None,
    label_column: LabelColumn = None,
    drop: Drop = None,
    max_size: MaxSize = MAX_SIZE,
    debug: Debug = False,
) -> None:
    """Label sequences in the browser, while a model learns from them and asks for what it is unsure of.

    A page opens: mark a sequence, press Enter, and the model learns from it, labels the next one, and shows
    how sure it is. Every change is on the disk before the page says so: even kill -9 loses nothing, and the
    same command goes on where it ended. One question in five is drawn at random and never learnt from; errors
    are counted there. Tokens, rows of numbers (csv, npz) and small images can be labelled.

    For example:
        kf label news.txt --labels PER,ORG,LOC
        kf label words.jsonl --labels NOUN,VERB,ADJ --each
        kf label gestures.csv --labels rest,stroke,hold
        kf label letters
        kf label news.txt --export news.jsonl
    """
    with plain_errors(debug):
        table = table_of(sequence_column, label_column, drop)
        reading = reading_of(data_format, encoding, missing, columns, max_size, table=table)
        spans = None if each is None else not each
        if auto and export is None:
            raise InputError("--auto is for --export.")
        place = journal_of(data) if journal is None else journal
        if repair:
            _repair(place)
            return
        material = read_material(data, reading, labelled, image, features, spans, tokens)
        if export is not None:
            _export(material, place, export, auto, penalty)
            return
        names = _split(labels) if labels is not None else default_labels(data)
        settings = DeskSettings(
            strategy=strategy, error_at_most=error_at_most, confidence=confidence, penalty=penalty
        )
        news = Newsroom()
        desk = open_desk(
            material,
            place,
            lambda: _tags(material, place, names, spans),
            settings,
            check=check,
            tell=news.tell,
        )
        try:
            _serve(desk, news, host, port, token, browser)
        finally:
            desk.close()


def _split(labels: str) -> list[str]:
    return [name.strip() for name in labels.split(",")]


def _tags(material: Material, place: Path, names: list[str] | None, spans: bool | None) -> Tags:
    """Return the labels of the journal, if there is one and no others are named; else those of a new one."""
    if place.exists() and place.stat().st_size:
        found = read_journal(place)
        known = session_of(material, found.header, found.entries, str(place)).tags
        if names is None:
            return known if spans is None else Tags(known.names, spans)
        return tags_for(material, names, known.spans if spans is None else spans)
    return tags_for(material, names, spans)


def _repair(place: Path) -> None:
    found = repaired(place)
    said = f"{place} has no damaged lines; nothing was changed."
    if found:
        lines = ", ".join(map(str, found))
        said = f"{place}: damaged lines that were left out: {lines}. They are kept in {beside(place)}."
    plain_console(stderr=True).print(said)


def _export(material: Material, place: Path, out: Path, auto: bool, penalty: float) -> None:
    if not place.exists():
        raise InputError(f"There are no labels yet: no journal {place}.")
    found = read_journal(place)
    session = session_of(material, found.header, found.entries, str(place))
    model = fitted(material, session, penalty) if auto else (None, None)
    count = write_labels(out, out.suffix.removeprefix("."), material, session, *model)
    plain_console(stderr=True).print(f"{count:,} sequences written to {out}.")


def _serve(desk: Desk, news: Newsroom, host: str, port: int, token: str | None, browser: bool) -> None:
    from ..labelling.app import application
    from ..labelling.page import policy
    from ..web import Guards, address_of, choose_token, guarded, require_web, run_server

    require_web("kf label")
    secret = choose_token(host, token)
    guards = Guards(host=host, token=secret, policy=policy(), page=True, private="/api/")
    app = guarded(application(desk, news), guards)
    listening = _listen(host, port)
    address = f"{address_of(listening)}/" + ("" if secret is None else f"?token={secret}")

    def started() -> None:
        _greet(desk, address)
        if browser:
            webbrowser.open(address)

    run_server(app, listening, started, news.end)
    trouble = desk.journal.trouble
    if trouble is not None:
        raise InputError(f"{trouble[:-1]}: {desk.session.n_done:,} labelled sequences may not be there.")
    plain_console(stderr=True).print(
        f"{desk.session.n_done:,} sequences are labelled in {desk.journal.path}."
    )


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket; where the usual port is taken, on another one."""
    from ..web import listen

    try:
        return listen(host, port)
    except InputError:
        if port != PORT:
            raise
        return listen(host, 0)


def _greet(desk: Desk, address: str) -> None:
    console: Any = plain_console(stderr=True)
    tags = desk.session.tags
    what = "spans (B-, I-, O); --each for one per token" if tags.spans else "single positions"
    shown = ", ".join(tags.names[:12]) + (" …" if len(tags.names) > 12 else "")
    if desk.journal.mended:
        console.print("The last line of the journal was cut short by a crash, and was removed.")
    console.print(f"{len(desk.material):,} sequences, {desk.session.n_done:,} of them labelled.")
    console.print(f"Labels of {what}: {shown}.")
    console.print(f"Everything is kept in {desk.journal.path}; Ctrl-C ends.")
    console.print(f"Open {address}", soft_wrap=True)


LETTERS = "letters"
"""The name of the letters of the package, unless a file has it."""
TOKENS = ("words", "blanks")
"""What plain text is cut into: words and marks, or all that stands between blanks."""
SIDES = re.compile(r"(\d{1,4})[x×](\d{1,4})")


def read_material(
    name: Path,
    reading: Reading,
    labelled: bool,
    image: str | None,
    features: str | None,
    spans: bool | None,
    tokens: str = "words",
) -> Material:
    """Read sequences, with features of all of them."""
    if tokens not in TOKENS:
        raise InputError(f"--tokens is {tokens!r}; it must be one of {', '.join(TOKENS)}.")
    if str(name) == LETTERS and not name.exists():
        if image is not None or features is not None:
            raise InputError("The letters of the package need neither --image nor --features.")
        return material_of(_letters(), shape=(16, 8))
    shape = None if image is None else _shape(image)
    data = _read(name, reading, labelled, tokens)
    if data.is_text and features is None and not data.known:
        features = "pos" if spans is False else "ner"
    return material_of(data, features_of(data, features), shape)


def default_labels(name: Path) -> list[str] | None:
    """Return the labels of the letters of the package; None for other data."""
    is_letters = str(name) == LETTERS and not name.exists()
    return list("abcdefghijklmnopqrstuvwxyz") if is_letters else None


def journal_of(name: Path) -> Path:
    """Return where labels go unless somebody says it: beside the data."""
    place = name.resolve() if name.name in ("", "..") else name
    return place.with_name(place.name + ".labels")


def _letters() -> FileData:
    words = load_letters().images
    return FileData([Item(x, None, [str(t) for t in range(len(x))], None) for x in words], "npz")


def _read(name: Path, reading: Reading, labelled: bool, tokens: str) -> FileData:
    if not name.exists():
        raise InputError(f"There is no file {name}.")
    plain = ending_of(name.name) == "txt" and reading.format is None
    kind = "text" if plain else reading.kind(name)
    items = list(read_items(name, kind, reading, labelled=labelled or kind != "conll"))
    if not items:
        raise InputError(f"{name} has no sequences.")
    return FileData([_at_blanks(item) for item in items] if tokens == "blanks" else items, kind)


def _at_blanks(item: Item) -> Item:
    """Return a text whose tokens are all that stands between blanks."""
    if not isinstance(item.source, TaggedText):
        raise InputError("--tokens blanks is for plain text, a sentence per line; other files have tokens.")
    text = item.source.document.text
    places = [found.span() for found in re.finditer(r"\S+", text)]
    words = [text[start:end] for start, end in places]
    return Item(words, None, words, replace(item.source, places=places))


def _shape(image: str) -> tuple[int, int]:
    found = SIDES.fullmatch(image)
    if found is None or not int(found[1]) * int(found[2]):
        raise InputError(f"--image is {image!r}; it must be height and width, as in 16x8.")
    return int(found[1]), int(found[2])
