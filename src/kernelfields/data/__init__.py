"""What users hand over, read and checked: observations, labels, weights, rules."""
