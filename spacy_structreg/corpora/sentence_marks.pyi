class SentenceMarks:
    def __init__(
        self,
        *,
        full_stops: str,
        terminators: str,
        dots: str,
        breaks: str,
        followers: str,
        after_dots: str,
        special: str,
    ) -> None: ...
    @property
    def classes(self) -> dict[str, str]: ...
    def next(self, text: str, at: int, ends: list[int]) -> int: ...
