from collections.abc import Callable
from typing import Any

from spacy_structreg.learn.model_file import Arrays
from spacy_structreg.tasks.knowledge.source import CharacterSource

class GuideSource(CharacterSource):
    NAME: str
    def __init__(
        self,
        atom: str,
        new_decoder: Callable[[], Any],
        stored: tuple[dict[str, Any], Arrays],
        restore: Callable[[str, dict[str, Any], Arrays], GuideSource],
    ) -> None: ...
    @property
    def tags(self) -> tuple[str, ...]: ...
    def copy(self) -> GuideSource: ...
    def contents(self) -> tuple[dict[str, Any], Arrays]: ...
