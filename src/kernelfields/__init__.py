"""Structured prediction with calibrated probabilities."""
