"""Measurements side by side with other systems; run by hand, not by the tests."""
