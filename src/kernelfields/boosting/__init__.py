"""Gradient boosting of clique scores by regression trees."""
