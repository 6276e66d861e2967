"""Labelling: people mark a few sequences, a model learns after each, and asks for what it is unsure of."""
