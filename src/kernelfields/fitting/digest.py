"""Texts that are the same where settings and data are the same, in every process."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import chain
from types import CodeType, FunctionType, MethodType
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..parameters import Parameterised


def digest(parts: Iterable[Any]) -> str:
    """Return a short text that differs where the contents of the parts differ.

    Neither addresses nor the order of sets have a say in it; functions are known by their code.
    """
    total = hashlib.sha256()
    try:
        for piece in chain.from_iterable(map(_pieces, parts)):
            total.update(len(piece).to_bytes(8, "little"))
            total.update(piece)
    except RecursionError:
        raise InputError(
            "A setting that contains itself cannot be compared with that of a checkpoint."
        ) from None
    return total.hexdigest()[:32]


def _pieces(value: Any) -> Iterator[bytes | memoryview]:
    """Cut something into bytes that say what kind of thing it is, and what it holds."""
    yield type(value).__qualname__.encode()
    if isinstance(value, np.ndarray):
        yield from _array(value)
    elif sparse.issparse(value):
        yield repr(value.shape).encode()
        for part in (value.data, value.indices, value.indptr):
            yield from _array(part)
    elif isinstance(value, Mapping):
        yield from sorted(digest(item).encode() for item in value.items())
    elif isinstance(value, set | frozenset):
        yield from sorted(digest([item]).encode() for item in value)
    elif isinstance(value, list | tuple):
        yield str(len(value)).encode()
        for item in value:
            yield from _pieces(item)
    elif value is None or isinstance(value, bool | int | float | complex | str | bytes | np.generic | range):
        yield repr(value).encode("utf-8", "surrogatepass")
    else:
        yield from _pieces(_contents(value))


def _array(array: Any) -> Iterator[bytes | memoryview]:
    yield f"{array.dtype.str}{array.shape}".encode()
    if array.dtype == object:
        yield from _pieces(array.tolist())
    else:
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _contents(value: Any) -> Any:
    """Return what an object is made of, as things that are easier to compare."""
    if isinstance(value, Parameterised):
        return value.get_params(deep=False)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, np.random.RandomState):
        return value.get_state(legacy=True)
    if isinstance(value, np.random.Generator):
        return value.bit_generator.state
    if isinstance(value, FunctionType):
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [value.__module__, value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_varnames, value.co_consts]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, type) or type(value).__name__ in ("builtin_function_or_method", "ufunc"):
        return [getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__)]
    if hasattr(value, "__dict__"):
        return vars(value)
    raise InputError(f"{value!r} among the settings cannot be compared with that of a checkpoint.")
