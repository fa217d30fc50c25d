"""A worker as `structreg serve` starts it, but what it remembers of words is full sooner."""

import sys

from spacy_structreg.pipeline import documents
from spacy_structreg.serve import annotator, worker

annotator.MOST_WORDS = 1_000
documents._MOST_STRINGS = 500
worker.main(sys.argv[1])
