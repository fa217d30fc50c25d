"""The universal tag of a word by a table, found without spaCy: a slow twin of `ruler_patterns`."""

from __future__ import annotations

from spacy_structreg.corpora.tag_maps import TAG_MAPS, WORD_RULES


def universal_tag(name: str, tag: str, word: str = "") -> str | None:
    """The universal tag by a table of `TAG_MAPS`; None for a tag that it lacks."""
    for rule in WORD_RULES.get(name, ()):
        if tag in rule.tags and word.lower() in rule.words:
            return rule.pos
    return TAG_MAPS[name].get(tag)
