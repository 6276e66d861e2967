"""Modules with a single client: most were split off because of a length limit, not for a second reader."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from .imports import Name, imported_module, imports
from .sources import Module


def single_client_modules(everything: Sequence[Module]) -> list[str]:
    """Return the modules that exactly one other module of the package imports, each with that client.

    Imports count wherever they are: at the top, inside functions, under ``TYPE_CHECKING``. A module whose
    names an ``__init__.py`` passes on has readers outside its folder and does not count. Neither do
    packages themselves, nor modules without a client, for example commands, which are found by name.
    """
    known = {module.name for module in everything}
    packages = {module.name for module in everything if module.path.stem == "__init__"}
    clients: dict[Name, set[Name]] = defaultdict(set)
    for module in everything:
        for found in imports(module):
            clients[imported_module(found, known)].add(module.name)
    return [
        f"{'/'.join(name[1:])} < {'/'.join(*(client[1:] for client in clients[name]))}"
        for name in sorted(known - packages)
        if len(clients[name]) == 1 and not clients[name] & packages
    ]
