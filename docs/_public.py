"""What is public: the names in ``__all__`` of packages that have a page."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parent / "api"
_MODULE = re.compile(r"(?:automodule|py:module):: (kernelfields\S*)")
ESTIMATORS = "kernelfields.estimators"
"""Each of these has a page with all that it has, inherited or not."""


def documented_modules() -> list[str]:
    """Return the modules that pages are made of."""
    texts = (page.read_text(encoding="utf-8") for page in sorted(PAGES.glob("*.md")))
    return [name for text in texts for name in _MODULE.findall(text)]


def public_names(module: str) -> list[str]:
    """Return the names that a module exports, or defines where it has no list of them."""
    found = importlib.import_module(module)
    defined = [name for name, one in vars(found).items() if getattr(one, "__module__", "") == module]
    return list(getattr(found, "__all__", [name for name in defined if not name.startswith("_")]))


def public_classes() -> list[Any]:
    """Return all classes that pages describe."""
    return [
        one
        for module in documented_modules()
        for name in public_names(module)
        if inspect.isclass(one := getattr(importlib.import_module(module), name, None))
    ]


def public_bases() -> list[str]:
    """Return names of classes whose members are described with them, and not with their heirs."""
    builtin = [
        "object",
        "tuple",
        "dict",
        "list",
        "str",
        "int",
        "Enum",
        "Exception",
        "ValueError",
        "TypeError",
        "ABC",
    ]
    bases = {base.__name__ for one in public_classes() for base in one.__mro__[1:]}
    return [*builtin, *sorted(bases & {one.__name__ for one in public_classes()})]
