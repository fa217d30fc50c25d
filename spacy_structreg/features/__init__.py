"""Template tables as data, their compiler, and character classes."""
