"""Labelers of sequences."""
