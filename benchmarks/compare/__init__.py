"""Two commits of this repository, timed in turns."""
