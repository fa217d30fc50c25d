"""Evaluation metrics of each task."""
