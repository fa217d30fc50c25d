"""The official figures of each task."""
