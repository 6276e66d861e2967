"""A trainer that prints one line per iteration."""

from __future__ import annotations

from typing import Any

from ..pycrfsuite import Trainer


class LinePerIterationTrainer(Trainer):
    """A `Trainer` that prints iterations in one line each, and scores by label at the end."""

    def on_iteration(self, log: str, info: dict[str, Any]) -> None:
        """Print a line."""
        parts = [f"Iter {info['num']:<3}", f"time={info['time']:<5.2f}", f"loss={info['loss']:<8.2f}"]
        if "active_features" in info:
            parts.append(f"active={info['active_features']:<5}")
        if "avg_precision" in info:
            parts.append(
                f"precision={info['avg_precision']:0.3f}  recall={info['avg_recall']:0.3f}  "
                f"F1={info['avg_f1']:0.3f}  Acc(item/seq)={info['item_accuracy_float']:0.3f} "
                f"{info['instance_accuracy_float']:0.3f} "
            )
        if "feature_norm" in info:
            parts.append(f"feature_norm={info['feature_norm']:<8.2f}")
        print(" ".join(parts).strip())

    def on_optimization_end(self, log: str) -> None:
        """Print scores by label, if there are some."""
        last = self.logparser.last_iteration if self.logparser else None
        if last and last["scores"]:
            width = max(map(len, last["scores"]))
            print(f"{'Label':<{width}}  Precision  Recall     F1  Support")
            for label, score in sorted(last["scores"].items()):
                values = (score.precision or 0, score.recall or 0, score.f1 or 0)
                numbers = "{:9.3f}  {:6.3f}  {:5.3f}".format(*values)
                print(f"{label:<{width}}  {numbers}  {score.ref:7d}")
        super().on_optimization_end(log)
