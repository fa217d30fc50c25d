"""Readers and writers of corpora, and the one sentence splitter."""
