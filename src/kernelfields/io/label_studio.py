"""The JSON export of Label Studio: a list of tasks, each with a text and the regions that were marked.

[{"id": 1, "data": {"text": "Ana saw Rome"}, "annotations": [{"result": [
    {"id": "a1", "from_name": "label", "to_name": "text", "type": "labels",
     "value": {"start": 0, "end": 3, "text": "Ana", "labels": ["PER"]}}]}]}]

Of several annotations of a task, that marked as ground truth counts, else the first that was not cancelled.
A task without any was not looked at. Offsets count characters in newer versions and units of UTF-16 in older
ones; the text of a region tells which. JSON_MIN, a list of objects with ``text`` and ``label``, is read, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from json import JSONDecodeError
from typing import Any

from ..errors import InputError, quoted
from .json_documents import document_of, json_text, list_of, object_of
from .jsonl import parse_value, unique_keys
from .lines import Source, error_at, name_of, read_lines, write_lines
from .text_documents import (
    OFFSETS,
    TextDocument,
    TextSpan,
    converter,
    probability_of,
    require_document,
    require_whole_spans,
    text_of,
    whole_offset,
)

TOOL = "labelstudio"
MODEL = "kernelfields"
"""What predictions say about their origin."""


def read_label_studio(source: Source) -> Iterator[TextDocument]:
    """Read documents; malformed input raises an `InputError` that names file, line or task, and reason.

    Parameters
    ----------
    source : path, or file opened for reading
        JSON in UTF-8; a path that ends with .gz is decompressed.
    """
    file = name_of(source)
    tasks = _parsed(file, "\n".join(line.text for line in read_lines(source, "utf-8")))
    for n, task in enumerate(tasks if isinstance(tasks, list) else [tasks]):
        where = f"{file}, task {n}"
        try:
            yield document_of(task, _document, where)
        except InputError as error:
            raise InputError(f"{where}: {error}") from error


def write_label_studio(
    documents: Iterable[TextDocument], target: Source, *, predictions: bool = False
) -> None:
    """Write tasks; all that they had when they were read is kept.

    Parameters
    ----------
    documents : iterable of TextDocument
        Spans with gaps are refused.
    target : path, or file opened for writing
        A path that ends with .gz is compressed.
    predictions : bool
        Whether spans are what a model says, beside the annotations of people, instead of annotations.
        Their probabilities are the scores of regions.
    """
    tasks = ((n, label_studio_task(require_document(one, n), predictions)) for n, one in enumerate(documents))
    write_lines(listed(json_text(task, n) for n, task in tasks), target, "utf-8")


def listed(texts: Iterable[str]) -> Iterator[str]:
    """Return the lines of a JSON list, with an entry each."""
    before = None
    yield "["
    for text in texts:
        if before is not None:
            yield f"{before},"
        before = text
    if before is not None:
        yield before
    yield "]"


def label_studio_task(document: TextDocument, predictions: bool = False) -> dict[str, Any]:
    """Return the task of a document."""
    kept = document.kept_of(TOOL)
    task: dict[str, Any] = {**kept} if kept else {"data": {"text": document.text}}
    regions = _regions(document, _names(kept))
    if document.spans is None:
        return task | ({} if predictions else {"annotations": []})
    if predictions:
        scores = [span.probability for span in document.spans if span.probability is not None]
        said = {"model_version": MODEL, "result": regions} | (
            {"score": round(min(scores), 6)} if scores else {}
        )
        others = [
            p
            for p in kept.get("predictions") or []
            if not (isinstance(p, dict) and p.get("model_version") == MODEL)
        ]
        return task | {"predictions": [*others, said]}
    annotations = list(kept.get("annotations") or [])
    chosen = _chosen(annotations)
    if chosen is None:
        return task | {"annotations": [*annotations, {"result": regions}]}
    other = [one for one in annotations[chosen].get("result") or [] if not _is_region(one)]
    annotations[chosen] = {**annotations[chosen], "result": [*regions, *other]}
    return task | {"annotations": annotations}


def _parsed(file: str, text: str) -> Any:
    try:
        return parse_value(text, unique_keys)
    except InputError as error:
        cause = error.__cause__
        if isinstance(cause, JSONDecodeError):
            raise error_at(file, cause.lineno, f"not JSON: {cause.msg} at column {cause.colno}.") from None
        raise InputError(f"{file}: {error}") from None


def _document(task: dict[str, Any]) -> TextDocument:
    if "data" not in task:
        return _smallest(task)
    text = _text(object_of(task["data"], '"data"'))
    annotations = [object_of(one, f"annotation {n}") for n, one in enumerate(list_of(task, "annotations"))]
    chosen = _chosen(annotations)
    spans = None if chosen is None else tuple(_spans(text, list_of(annotations[chosen], "result")))
    return TextDocument(text, spans, name=str(task.get("id", "")), kept=task, tool=TOOL)


def _text(data: dict[str, Any]) -> str:
    """Return the text of a task: ``text``, or the only one that there is."""
    if "text" in data:
        return text_of(data["text"], '"text"')
    texts = [value for value in data.values() if isinstance(value, str)]
    if len(texts) != 1:
        raise InputError(f'"data" has no "text"; its keys are {quoted(", ".join(data))}.')
    return texts[0]


def _smallest(task: dict[str, Any]) -> TextDocument:
    """Return a document of JSON_MIN; regions are in the only list of objects with offsets."""
    text = _text(task)
    lists = [value for value in task.values() if isinstance(value, list)]
    regions = next((one for one in lists if one and isinstance(one[0], dict) and "start" in one[0]), None)
    if regions is None:
        return TextDocument(text, None if task.get("label") is None else (), name=str(task.get("id", "")))
    entries = [{"type": "labels", "value": object_of(one, f"region {n}")} for n, one in enumerate(regions)]
    return TextDocument(text, tuple(_spans(text, entries)), name=str(task.get("id", "")))


def _chosen(annotations: list[Any]) -> int | None:
    """Return the annotation that counts."""
    kept = [n for n, one in enumerate(annotations) if isinstance(one, dict) and not one.get("was_cancelled")]
    return next((n for n in kept if annotations[n].get("ground_truth")), kept[0] if kept else None)


def _is_region(one: Any) -> bool:
    """Return whether a result is a span of text with labels, not a choice or a relation."""
    return (
        isinstance(one, dict)
        and isinstance(one.get("value"), dict)
        and "start" in one["value"]
        and "labels" in one["value"]
    )


def _other_marks(one: dict[str, Any]) -> str | None:
    """Return the kind of labels of a region of HTML, a dialogue or anything else that is no plain text."""
    value = one.get("value")
    keys = value if isinstance(value, dict) and "start" in value else ()
    return next((key for key in keys if isinstance(key, str) and key.endswith("labels")), None)


def _spans(text: str, result: list[Any]) -> Iterator[TextSpan]:
    for n, one in enumerate(result):
        if _is_region(object_of(one, f"region {n}")):
            yield from _labelled(text, one, f"region {n}")
        elif marked := _other_marks(one):
            raise InputError(
                f"region {n} has {marked}, whose places are not those of a text; "
                "label plain texts (the tag Text with Labels) and export them again."
            )


def _labelled(text: str, region: dict[str, Any], what: str) -> Iterator[TextSpan]:
    """Return a span for every label of a region."""
    value = region["value"]
    start, end = (whole_offset(value.get(side), f'"{side}" of {what}') for side in ("start", "end"))
    start, end = _placed(text, start, end, value.get("text"), what)
    for label in list_of(value, "labels"):
        name = region.get("id")
        found = TextSpan(
            start, end, text_of(label, f"a label of {what}"), probability_of(region.get("score"))
        )
        yield found._replace(name=name if isinstance(name, str) else "")


def _placed(text: str, start: int, end: int, words: Any, what: str) -> tuple[int, int]:
    """Return offsets in characters: those that lead to the words of the region."""
    if not isinstance(words, str):
        return start, end
    for offsets in OFFSETS:
        placed = converter(text, offsets)
        try:
            found = placed(start), placed(end)
        except InputError:
            continue
        if _plain(text[slice(*found)]) == _plain(words):
            return found
    raise InputError(
        f"{what} has the offsets {start} and {end}, where the text is {quoted(text[start:end], 40)}, "
        f"but says {quoted(words, 40)}."
    )


def _plain(text: str) -> str:
    """Return a text without what the browser changes: ends of lines."""
    return text.replace("\r\n", "\n")


def _names(task: dict[str, Any]) -> dict[str, str]:
    """Return names of the controls that regions of the task refer to."""
    every = [*(task.get("annotations") or []), *(task.get("predictions") or [])]
    regions = [one for given in every if isinstance(given, dict) for one in given.get("result") or []]
    known: dict[str, Any] = next(
        (one for one in regions if _is_region(one) and "from_name" in one and "to_name" in one), {}
    )
    return {"from_name": known.get("from_name", "label"), "to_name": known.get("to_name", "text")}


def _regions(document: TextDocument, names: dict[str, str]) -> list[dict[str, Any]]:
    """Return the regions of spans; those of one name and place are one region with several labels."""
    require_whole_spans(document, "Label Studio")
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for n, span in enumerate(document.spans or ()):
        key = (span.name or f"s{n}", span.start, span.end)
        value = {
            "start": span.start,
            "end": span.end,
            "text": document.text[span.start : span.end],
            "labels": [],
        }
        region = found.setdefault(key, {"id": key[0], **names, "type": "labels", "value": value})
        region["value"]["labels"].append(span.label)
        if span.probability is not None:
            region["score"] = round(span.probability, 6)
    return list(found.values())
