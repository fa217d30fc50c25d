"""Text classifiers."""
