"""Dependency parsing: the transition systems."""
