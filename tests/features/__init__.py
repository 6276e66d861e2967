"""Tests of feature extraction; a package, because they share a slow implementation."""
