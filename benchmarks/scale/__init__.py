"""Annotation on several workers: what it costs, and what that means for large collections."""
