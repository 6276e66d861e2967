"""Settings and models tried on held-out data, within a time budget."""
