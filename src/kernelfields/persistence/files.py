"""Model files: estimators to containers of arrays and back.

The registry gives every estimator the name it has in files. Reading makes an object of the class that the
registry says, gives it settings and attributes that fit their declarations, and calls nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from ..errors import InputError, ModelFormatError
from ..io.container import Container, write_container
from .decoder import FileDecoder, decode_labels
from .encoder import FileEncoder, encode_labels
from .fields import Sizes
from .objects import Registry
from .savable import Savable
from .table_columns import decoded_columns, encoded_columns, remember_columns
from .upgrades import FORMAT, UPGRADES

SMALL = 2**24
"""Bytes of arrays up to which a file is checked when it is opened, not when it is used."""

ODD = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What goes wrong where a file says what no estimator would have written."""


def save(model: Savable, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file."""
    registry = _registry()
    encoder = FileEncoder(registry, _encode_model)
    header = {"format": FORMAT, "versions": registry.versions(), "model": _encode_model(encoder, model, "")}
    header |= encoded_columns(model)
    write_container(path, encoder.arrays, header)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model that ``save`` of an estimator wrote.

    Loading executes nothing that the file says. The file is read at once; arrays of files
    beyond 16 MB are checked against their checksum, and for NaN, when the model is first used.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    estimator
        Fitted, of the class that was saved.

    Raises
    ------
    ModelFormatError
        If the file is damaged, no model, or written by a later version.
    """
    with _reading(path):
        container = Container(path)
        decoder = FileDecoder(container, _registry(), _decode_model)
        header = header_of(container)
        model = _decode_model(decoder, header["model"])
        remember_columns(model, decoded_columns(header))
        if "classes_" not in vars(model):
            raise ModelFormatError("The file holds the settings of a model, but nothing learnt.")
        return model


def _registry() -> Registry:
    # By name: what files may hold is a table of layers above this one, read when there is a file.
    registry: Registry = import_module("kernelfields.estimators.registry").REGISTRY
    return registry


@contextmanager
def _reading(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say in one sentence, with the name of the file, what is wrong with it."""
    try:
        yield
    except ModelFormatError as error:
        named = str(error).startswith(os.fspath(path))
        raise error if named else ModelFormatError(f"{os.fspath(path)}: {error}") from None
    except ODD as error:
        raise ModelFormatError(f"{os.fspath(path)} describes no model: {error!r}.") from error


def header_of(container: Container) -> dict[str, Any]:
    """Return the header in its present form, whatever version the file has."""
    header = container.header
    version = header.get("format") if isinstance(header, dict) else None
    if type(version) is not int or version < 1 or not isinstance(header.get("model"), dict):
        raise ModelFormatError("The file does not say what model it holds.")
    if version > FORMAT:
        raise ModelFormatError(
            f"The file has format {version}, of a later kernelfields; this one reads up to {FORMAT}."
        )
    for old in range(version, FORMAT):
        header = UPGRADES[old](header)
    return header


def _encode_model(encoder: FileEncoder, model: Savable, where: str) -> dict[str, Any]:
    state = model._state()
    prefix = where and where + "."
    return {
        **_encode_settings(encoder, model, where),
        "labels": encode_labels(encoder, model.classes_),
        "state": {name: encoder.encode(value, f"{prefix}{name}") for name, value in state.items()},
    }


def _encode_settings(encoder: FileEncoder, model: Savable, where: str) -> dict[str, Any]:
    """Say what estimator it is; those among its settings, to be fitted as copies, are settings too."""
    recipe = encoder.registry.recipe_of(model)
    if recipe is None:
        raise InputError(f"{type(model).__name__} is none of the estimators that can be saved.")
    parameters: Any = model.get_params(deep=False)
    try:
        encoder.registry.checked(type(model), parameters)
    except ModelFormatError as error:
        raise InputError(f"{error} Such a model cannot be saved.") from None
    encoded = {}
    for name, value in parameters.items():
        place = f"{where}.{name}" if where else name
        nested = isinstance(value, Savable)
        encoded[name] = (
            {"$model": _encode_settings(encoder, value, place)} if nested else encoder.encode(value, place)
        )
    return {"recipe": recipe, "parameters": encoded}


def _decode_model(decoder: FileDecoder, node: Any) -> Savable:
    cls = decoder.registry.estimator_named(node["recipe"])
    if cls is None:
        raise ModelFormatError(f"There is no estimator {node['recipe']!r}.")
    parameters = {name: decoder.decode(value) for name, value in node["parameters"].items()}
    model = cls(**decoder.registry.checked(cls, parameters))
    if "state" not in node:
        return model
    model.classes_ = decode_labels(decoder, node["labels"])
    stored = node["state"]
    unknown = set(stored) - set(cls._learnt)
    if unknown:
        raise ModelFormatError(f"{cls.__name__} learns no {min(unknown)!r}.")
    large = {name for name in stored if cls._learnt[name].large}
    light = {name: decoder.decode(value) for name, value in stored.items() if name not in large}
    sizes = {"L": len(model.classes_)}
    _check(cls, light, sizes, large=False)
    model._settle(light)

    def complete() -> None:
        with _reading(decoder.container.path):
            _complete(decoder, model, {name: stored[name] for name in large}, dict(sizes))

    if decoder.container.data_size <= SMALL:
        complete()
    else:
        vars(model)["_waiting"] = complete
    return model


def _complete(decoder: FileDecoder, model: Savable, stored: Mapping[str, Any], sizes: Sizes) -> None:
    """Read and check what is large, try it, then let the model have it."""
    decoder.container.check()
    state = {name: decoder.decode(value) for name, value in stored.items()}
    _check(type(model), state, sizes, large=True)
    trial = object.__new__(type(model))
    vars(trial).update({name: value for name, value in vars(model).items() if name != "_waiting"})
    trial._settle(state)
    with np.errstate(all="ignore"):  # numbers beyond all measure are no reason to warn of sums of none
        trial._rehearse()
    vars(model).update(vars(trial))
    vars(model).pop("_waiting", None)


def _check(cls: type[Savable], state: Mapping[str, Any], sizes: Sizes, large: bool) -> None:
    """Compare attributes with their declarations."""
    for name, field in cls._learnt.items():
        if field.large == large:
            field.check(name, state.get(name), sizes)
    if not large and type(state.get("n_features_in_")) is int:
        sizes["D"] = state["n_features_in_"]
