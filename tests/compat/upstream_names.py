"""A pytest plugin: the names of python-crfsuite and sklearn-crfsuite mean the packages of compat.

For a process that runs nothing but the originals' own tests (``-p upstream_names``, see upstream.py).
"""

import importlib
import pkgutil
import sys


def pytest_configure(config):
    for name in ("pycrfsuite", "sklearn_crfsuite"):
        if name in sys.modules:
            raise RuntimeError(f"{name} itself was imported first.")
        package = importlib.import_module(f"kernelfields.compat.{name}")
        sys.modules[name] = package
        for module in pkgutil.iter_modules(package.__path__):
            inner = importlib.import_module(f"{package.__name__}.{module.name}")
            sys.modules[f"{name}.{module.name}"] = inner
