"""Meanings of our tags, phrases, relations and figures, for ``spacy.explain``."""

from __future__ import annotations

from functools import cache

from spacy.glossary import GLOSSARY

from spacy_structreg.corpora.tag_glossary import PHRASE_GLOSSARY, RELATION_GLOSSARY, TAG_GLOSSARY
from spacy_structreg.metrics.glossary import SCORE_GLOSSARY


@cache
def extend_glossary() -> None:
    """Let ``spacy.explain`` know tags, phrases and relations of treebanks, and keys of figures.

    What spaCy explains stays, as it was, at the beginning; behind it stand the meanings that the
    tag has in treebanks (`corpora.tag_glossary`), each with their names in brackets: ``ng`` is
    "negation; nominal morpheme (PFR)". A meaning that is there already is not repeated.
    """
    meanings: dict[str, dict[str, list[str]]] = {}
    for treebank, tags in TAG_GLOSSARY.items():
        for tag, meaning in tags.items():
            meanings.setdefault(tag, {}).setdefault(meaning, []).append(treebank)
    for tag, treebanks in meanings.items():
        before = GLOSSARY.get(tag)
        new = [
            f"{meaning} ({', '.join(names)})"
            for meaning, names in treebanks.items()
            if before is None or meaning not in before
        ]
        GLOSSARY[tag] = "; ".join([*([] if before is None else [before]), *new])
    for glossary in (PHRASE_GLOSSARY, RELATION_GLOSSARY, SCORE_GLOSSARY):
        for key, meaning in glossary.items():
            GLOSSARY.setdefault(key, meaning)
