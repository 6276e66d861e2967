"""Plots as inline SVG; colours come from the style sheet, which knows light and dark."""

from .answered import plot_answered
from .confusion import plot_confusion
from .path import plot_gap, plot_values
from .reliability import plot_reliability

__all__ = ["plot_answered", "plot_confusion", "plot_gap", "plot_reliability", "plot_values"]
