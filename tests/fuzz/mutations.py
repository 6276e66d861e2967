"""Model files that are wrong in one place, their checksums nevertheless right: what an enemy would write."""

from __future__ import annotations

import json
import random
import zlib
from typing import Any

from kernelfields.io.container import CHECK_OF_DATA, CHECK_OF_HEADER, HEADER, _check_of_header

WORDS = ["", "a", "$array", "$object", "RBF", "coef_", "crf", "\ud800", "x" * 100]
NUMBERS = [0, 1, -1, 2, 3, 64, 2**31, 2**53, 2**63, 10**40, 0.5, 1e308, -0.0]
LITERALS: list[Any] = [None, True, False, [], {}, *WORDS, *NUMBERS, {"$float": "nan"}, {"$tuple": []}]


def mutate(content: bytes, seed: int) -> bytes:
    """Change something in a file, header or arrays, and make its checksums fit; junk stays junk."""
    choice = random.Random(seed)
    try:
        table, data = _apart(content)
        header = json.loads(table["__metadata__"][HEADER])
    except (ValueError, KeyError, TypeError, RecursionError):
        return content
    kind = choice.randrange(4)
    if kind == 0:
        data = _flip(data, choice)
    elif kind == 1:
        tensors = _changed({name: entry for name, entry in table.items() if name != "__metadata__"}, choice)
        table = tensors if isinstance(tensors, dict) else {}
    else:
        for _ in range(choice.randint(1, 3)):
            header = _changed(header, choice)
    return _together(table, header, data)


def repair(content: bytes) -> bytes:
    """Make the checksums of a file fit, if it has any."""
    try:
        table, data = _apart(content)
        return _together(table, json.loads(table["__metadata__"][HEADER]), data)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return content


def _apart(content: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def _together(table: dict[str, Any], header: Any, data: bytes) -> bytes:
    tensors = {name: entry for name, entry in table.items() if name != "__metadata__"}
    texts = {HEADER: json.dumps(header), CHECK_OF_DATA: f"{zlib.crc32(data):08x}"}
    texts[CHECK_OF_HEADER] = _check_of_header(tensors, texts)
    text = json.dumps({"__metadata__": texts, **tensors}).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + data


def _flip(data: bytes, choice: random.Random) -> bytes:
    if not data:
        return data
    result = bytearray(data)
    start = choice.randrange(len(data))
    for place in range(start, min(start + choice.choice([1, 4, 8]), len(data))):
        result[place] = choice.choice([0, 1, 127, 255, result[place] ^ 1 << choice.randrange(8)])
    return bytes(result)


def _changed(node: Any, choice: random.Random) -> Any:
    """A copy of some JSON with one place changed: cut out, replaced, or taken from elsewhere."""
    places = list(_places(node, ()))
    path = choice.choice(places)
    kind = choice.randrange(4)
    if kind == 0:
        value = choice.choice(LITERALS)
    elif kind == 1:
        value = _at(node, choice.choice(places))
    elif kind == 2 and isinstance(_at(node, path), int | float):
        value = _at(node, path) + choice.choice([-1, 1, 2**32])
    else:
        return _replaced(node, path, None, cut=True) if path else node
    return _replaced(node, path, value)


def _places(node: Any, path: tuple[Any, ...]) -> Any:
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield from _places(value, (*path, key))


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


def _replaced(node: Any, path: tuple[Any, ...], value: Any, cut: bool = False) -> Any:
    if not path:
        return value
    result = node.copy()
    if cut and len(path) == 1:
        del result[path[0]]
    else:
        result[path[0]] = _replaced(node[path[0]], path[1:], value, cut)
    return result
