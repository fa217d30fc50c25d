"""From tags to universal tags, for spaCy's attribute_ruler: ``spacy_structreg.TagMap.v1``."""

from __future__ import annotations

from typing import Any

from spacy_structreg.corpora.tag_maps import ruler_patterns
from spacy_structreg.pipeline.documents import SPACE_TAG


def create_tag_map(name: str) -> list[dict[str, Any]]:
    """Make the patterns of an attribute_ruler that writes ``pos_`` by ``tag_``.

    For ``[initialize.components.attribute_ruler.patterns]`` of a config, or
    ``ruler.add_patterns``. name: of a table: ``"ctb"``, ``"pfr"``, ``"ptb"``, ``"ud_chinese"`` or
    ``"ud_chinese_1"`` (`corpora.tag_maps`). White space becomes ``SPACE``.
    Raises ValueError for another name.
    """
    white_space = {"patterns": [[{"TAG": SPACE_TAG}]], "attrs": {"POS": "SPACE"}}
    return [white_space, *ruler_patterns(name)]
