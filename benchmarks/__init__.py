"""Rivals and this project in one run: ``python -m benchmarks NAME``."""
