"""Constituency parsers."""
