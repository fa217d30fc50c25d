"""Weights, updates, averaging and the model file, independent of tasks."""
