"""What studies share: their command line, grids, results, corpora, tables and pictures."""
