"""Sequence labeling."""
