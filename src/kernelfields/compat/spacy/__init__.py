"""A component of spaCy: ``nlp.add_pipe("kernelfields", config={"model": "ner.kf"})``.

Entities of a fitted model become ``doc.ents``, each with its exact probability, ``span._.probability``. All
of them, unlikely ones too, are in ``doc.spans["kernelfields"]``; ``doc._.label_marginals`` has the
probability of every label of every token. Installed, the factory is found by its name; otherwise this module
is imported first.
"""

from __future__ import annotations

from typing import Any

from ...errors import InputError

try:
    from spacy.language import Language
except ImportError as error:
    raise InputError("The component of spaCy needs spaCy: pip install 'kernelfields[spacy]'.") from error

from .component import SPANS_KEY, SpacyLabeller

__all__ = ["SpacyLabeller", "make_component"]


@Language.factory(
    "kernelfields",
    assigns=["doc.ents", "doc.spans", "span._.probability", "doc._.label_marginals"],
    default_config={
        "model": None,
        "columns": ["text"],
        "least_probability": 0.0,
        "overwrite": True,
        "marginals": True,
        "spans_key": SPANS_KEY,
    },
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0},
)
def make_component(
    nlp: Any,
    name: str,
    model: str | None,
    columns: list[str],
    least_probability: float,
    overwrite: bool,
    marginals: bool,
    spans_key: str,
) -> SpacyLabeller:
    """Return the component that a pipeline asks for; the model file is read when it is first needed."""
    return SpacyLabeller(
        model,
        columns=columns,
        least_probability=least_probability,
        overwrite=overwrite,
        marginals=marginals,
        spans_key=spans_key,
        name=name,
    )
