"""Sequences, trees and graphs of a request, as models take them."""

from __future__ import annotations

from typing import Any

from ..errors import InputError, quoted
from ..files.items import LINKS, GraphInput, TreeInput
from ..io.edges import require_edges
from ..io.jsonl import kind_of
from ..io.parents import require_parents
from ..tables import STRUCTURES
from ._base import Form
from .limits import Limits


def take_items(value: Any, structure: str, limits: Limits) -> list[Any]:
    """Return the items of a request without a look at their positions: enough to tell what they will cost.

    Parameters
    ----------
    value : any
        What JSON says under "sequences".
    structure : "chain", "tree" or "graph"
        What items are: lists of positions, or objects with links between them, too.
    limits : Limits
        How many of all there may be.
    """
    if not isinstance(value, list):
        raise InputError(f'"sequences" is {kind_of(value)}, not a list.')
    if len(value) > limits.sequences:
        raise InputError(
            f"There are {len(value)} sequences, at most {limits.sequences} are answered at once."
        )
    _require_few([_tokens(item, structure, s) for s, item in enumerate(value)], limits)
    return [_item(item, structure, s) for s, item in enumerate(value)]


def read_items(items: list[Any], form: Form, structure: str) -> list[Any]:
    """Return items with their positions read, as models take them."""
    return [_read(item, form, structure, s) for s, item in enumerate(items)]


def _require_few(sequences: list[list[Any]], limits: Limits) -> None:
    for s, tokens in enumerate(sequences):
        if len(tokens) > limits.longest:
            raise InputError(
                f"Sequence {s} has {len(tokens)} positions, at most {limits.longest} are answered."
            )
    total = sum(map(len, sequences))
    if total > limits.positions:
        raise InputError(f"There are {total} positions, at most {limits.positions} are answered at once.")


def _tokens(item: Any, structure: str, s: int) -> list[Any]:
    """Return the positions of an item, whatever they are."""
    if structure == "chain" and isinstance(item, list):
        return item
    name = STRUCTURES[structure].words.name(s)
    if structure == "chain":
        raise InputError(f"{name} is {kind_of(item)}, not a list of positions.")
    links = LINKS[structure]
    if not isinstance(item, dict) or item.keys() != {"tokens", links}:
        raise InputError(f'{name} must be an object with "tokens" and "{links}", and nothing else.')
    if not isinstance(item["tokens"], list):
        raise InputError(f'{name}: "tokens" is {kind_of(item["tokens"])}, not a list.')
    tokens: list[Any] = item["tokens"]
    return tokens


def _item(item: Any, structure: str, s: int) -> Any:
    """Return an item as it is, with edges checked, which decide what a graph costs."""
    if structure == "chain":
        return item
    tokens, links = item["tokens"], item[LINKS[structure]]
    if structure == "tree":
        return TreeInput(tokens, links)
    try:
        require_edges(links, len(tokens))
    except InputError as error:
        raise _named(error, structure, s) from None
    return GraphInput(tokens, links)


def _read(item: Any, form: Form, structure: str, s: int) -> Any:
    try:
        if structure == "chain":
            return form.read(item)
        if structure == "tree":
            require_parents(item.parents, len(item.features))
        return item._replace(features=form.read(item.features))
    except InputError as error:
        raise _named(error, structure, s) from None


def _named(error: InputError, structure: str, s: int) -> InputError:
    return InputError(f"{STRUCTURES[structure].words.name(s)}, {error}")


def require_characters(value: Any) -> None:
    """Refuse halves of characters, which JSON can name and no text can hold."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            try:
                one.encode()
            except UnicodeEncodeError:
                raise InputError(f"{quoted(one, 40)} has half of a character, a lone surrogate.") from None
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one


def sequence_schema(form: Form, structure: str, limits: Limits) -> dict[str, Any]:
    """Return the JSON schema of one item."""
    tokens = {"type": "array", "items": form.schema(), "maxItems": limits.longest}
    if structure == "chain":
        return tokens
    number = {"type": "integer", "minimum": -1 if structure == "tree" else 0}
    pair = {"type": "array", "items": number, "minItems": 2, "maxItems": 2}
    links = {"type": "array", "items": number if structure == "tree" else pair}
    return {
        "type": "object",
        "properties": {"tokens": tokens, LINKS[structure]: links},
        "required": ["tokens", LINKS[structure]],
        "additionalProperties": False,
    }
