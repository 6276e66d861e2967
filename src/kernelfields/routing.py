"""Metadata routing: which arguments scikit-learn's pipelines and searches pass on.

scikit-learn's estimators inherit this from its base class, which costs its import; see ``parameters``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

METHODS = ("fit", "partial_fit", "predict", "predict_proba", "predict_log_proba", "score", "transform")
DATA = ("self", "X", "y")


class MetadataRequests:
    """Says which arguments of its methods besides X and y it wants to be given.

    Every method with such arguments has a ``set_fit_request``, ``set_score_request`` and so on, which say
    whether ``sample_weight=`` (True, False, or another name) is to be passed on.
    """

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        for method in METHODS:
            if _arguments(cls, method):
                setattr(cls, f"set_{method}_request", _request_setter(method))

    def get_metadata_routing(self) -> Any:
        """Return which arguments are requested, as a ``MetadataRequest`` of scikit-learn."""
        from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

        if "_metadata_request" in vars(self):
            return get_routing_for_object(vars(self)["_metadata_request"])
        routing = MetadataRequest(owner=type(self).__name__)
        for method in METHODS:
            for name in _arguments(type(self), method):
                getattr(routing, method).add_request(param=name, alias=None)
        return routing


def _arguments(cls: type, method: str) -> list[str]:
    """Names of the arguments of a method besides the data; none if there is no such method."""
    function = getattr(cls, method, None)
    if not inspect.isfunction(function):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind in kinds and p.name not in DATA]


def _request_setter(method: str) -> Callable[..., Any]:
    def set_request(self: MetadataRequests, **requests: bool | str | None) -> MetadataRequests:
        from sklearn import get_config
        from sklearn.utils.metadata_routing import UNCHANGED

        if not get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                f"set_{method}_request needs sklearn.set_config(enable_metadata_routing=True) beforehand."
            )
        known = _arguments(type(self), method)
        for name in requests:
            if name not in known:
                raise TypeError(
                    f"{type(self).__name__}.{method} has no argument {name!r}; it has {', '.join(known)}."
                )
        routing = self.get_metadata_routing()
        for name, alias in requests.items():
            if alias != UNCHANGED:
                getattr(routing, method).add_request(param=name, alias=alias)
        vars(self)["_metadata_request"] = routing
        return self

    set_request.__name__ = set_request.__qualname__ = f"set_{method}_request"
    set_request.__doc__ = (
        f"Say which arguments of ``{method}`` pipelines and searches pass on: True, False, None (refuse) or "
        "the name under which they are given. Returns the estimator."
    )
    return set_request
