from collections.abc import Mapping
from typing import Any

from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.tasks.knowledge.known_words import KnownWords
from spacy_structreg.tasks.knowledge.source import CharacterSource

class LexiconSource(CharacterSource):
    def __init__(self, words: KnownWords) -> None: ...
    @property
    def words(self) -> KnownWords: ...
    @classmethod
    def from_contents(cls, entries: Mapping[str, Any], arrays: Arrays) -> LexiconSource: ...
