from typing import Any

from spacy_structreg.learn.model_file import Arrays

class CharacterSource:
    NAME: str
    @property
    def atoms(self) -> dict[str, int]: ...
    def copy(self) -> CharacterSource: ...
    def contents(self) -> tuple[dict[str, Any], Arrays]: ...
