"""What experiments share: claims and results, folds and intervals, methods and data."""
