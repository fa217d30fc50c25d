"""Sequence labelers trained, scored and timed on the same data in one run."""
