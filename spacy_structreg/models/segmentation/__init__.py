"""Segmenters: words from text."""
