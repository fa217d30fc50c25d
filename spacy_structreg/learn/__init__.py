"""Weights, updates, averaging and the model file; no task is known here."""
