"""Annotation and statistics beyond one machine: units of work, carried by Dask."""
