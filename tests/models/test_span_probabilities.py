"""Probabilities of entities, against sums over all labellings that are read by another routine."""

import itertools

import numpy as np
import pytest

from kernelfields import CRF, InputError
from kernelfields.metrics import entity_scores, entity_spans
from kernelfields.metrics.spans import EntityRules
from kernelfields.models.answer_units import span_probabilities

SCHEMES = [
    ["B-A", "I-A", "O"],
    ["B-A", "B-B", "I-A", "I-B", "O"],
    ["I-A", "B-A", "O"],
    ["B-A", "I-A", "E-A", "S-A", "O"],
]


def fitted(classes, rng, **settings):
    X = [rng.normal(size=(5, 3)) for _ in range(40)]
    y = [rng.choice(classes, size=5).tolist() for _ in X]
    return CRF(penalty=0.5, classes=classes, **settings).fit(X, y)


@pytest.mark.parametrize("classes", SCHEMES)
def test_all_labellings_with_the_labels_and_the_entity_add_up_to_its_probability(classes, rng):
    model = fitted(classes, rng)
    X = [rng.normal(size=(n, 3)) for n in (4, 1, 3, 2)]
    scored = model._batch(X, None, None)
    labels = model._decoder("posterior").decode(scored.batch, scored.scores)
    rules, ends = EntityRules.of(classes), scored.batch.offsets
    spans = [rules.spans(labels[a:b]) for a, b in itertools.pairwise(ends)]
    found = iter(span_probabilities(scored.batch, scored.scores, labels, spans, rules))
    for s, x in enumerate(X):
        mine = [classes[k] for k in labels[ends[s] : ends[s + 1]]]
        every = [list(one) for one in itertools.product(classes, repeat=len(x))]
        chances = np.exp(model.sequence_log_proba([x] * len(every), every))
        read = entity_spans(every)
        for span in spans[s]:
            here = slice(span.start, span.stop)
            exact = sum(
                p
                for p, one, entities in zip(chances, every, read, strict=True)
                if span in entities and one[here] == mine[here]
            )
            assert next(found) == pytest.approx(exact, rel=1e-5)


def test_spans_are_those_that_conlleval_counts(rng):
    classes = ["B-A", "I-A", "E-A", "S-B", "O", "I-B", "[-A", "X-B", "."]
    for _ in range(60):
        true, other = (
            [rng.choice(classes, size=rng.integers(0, 6)).tolist() for _ in range(1)] for _ in range(2)
        )
        other = [rng.choice(classes, size=len(true[0])).tolist()]
        if not true[0]:
            continue
        overall = entity_scores(true, other).overall
        a, b = entity_spans(true)[0], entity_spans(other)[0]
        assert (overall.n_true, overall.n_predicted) == (len(a), len(b))
        assert overall.n_correct == len(set(a) & set(b))


def test_none_is_outside():
    assert [len(spans) for spans in entity_spans([["B-A", None, "I-A"], []])] == [2, 0]


def test_labels_that_are_no_text_are_refused():
    with pytest.raises(InputError, match="entities need strings"):
        entity_spans([[1, 2]])
