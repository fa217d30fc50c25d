"""Segmentation: characters to words, by labels of characters or as a transition system."""
