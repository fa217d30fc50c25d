"""spaCy's binary format of Docs, which `pipeline.gold_docs` reads and writes."""

from __future__ import annotations

from typing import Final

from spacy_structreg.corpora.corpus_format import Format

FORMAT: Final = Format("spacy", "Docs", rank=0, suffixes=(".spacy",))
"""Name, recognition, reader and writer of the format."""
