"""What experiments share: claims and results, folds and nested validation, methods and data."""
