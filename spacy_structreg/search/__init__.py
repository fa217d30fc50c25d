"""Decoders: they work on states, masks and scores, and know no task."""
