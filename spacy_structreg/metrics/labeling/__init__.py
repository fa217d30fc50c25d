"""Figures of labels and of spans."""
