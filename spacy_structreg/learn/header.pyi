from typing import Any, Final

MAX_CONTAINERS: Final[int]
MAX_DEPTH: Final[int]

def unpack_header(packed: bytes) -> Any: ...
