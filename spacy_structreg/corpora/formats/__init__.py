"""Formats of corpora, a module each: how files are recognized, read and written."""
