"""Tests of kernels; a package, because they share tables."""
