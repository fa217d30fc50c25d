"""Limits of a service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from typer import Option as Opt


@dataclass(frozen=True)
class Limits:
    """The limits of requests and connections, as the options of `structreg serve`.

    Of `text` characters are also all texts of a request that wants alternatives or pictures. To
    explain a text takes time by the square of its characters.
    """

    text: Annotated[int, Opt("--max-characters", min=1, help="Characters of a text at most")] = (
        20_000
    )
    texts: Annotated[int, Opt("--max-texts", min=1, help="Texts of a request at most")] = 100
    body: Annotated[int, Opt("--max-body", min=1, help="Bytes of a request at most")] = 1 << 20
    explained_text: Annotated[
        int, Opt("--max-explained", min=0, help="Characters of a text to explain at most")
    ] = 200
    user_words: Annotated[
        int, Opt("--max-words", min=0, help="User words of a request at most")
    ] = 1_000
    alternatives: Annotated[
        int, Opt("--max-alternatives", min=0, help="Alternatives of a sentence at most")
    ] = 10
    answer: Annotated[int, Opt("--max-answer", min=1, help="Bytes of an answer at most")] = 1 << 26
    seconds: Annotated[
        float, Opt("--seconds", min=0.1, help="Until a request has an answer, or an error")
    ] = 10.0
    body_seconds: Annotated[
        float, Opt("--body-seconds", min=0.1, help="Until the body of a request has arrived")
    ] = 20.0
    idle_seconds: Annotated[
        float, Opt("--idle-seconds", min=0.1, help="Until a connection has begun a request")
    ] = 15.0
    waiting: Annotated[
        int, Opt("--max-waiting", min=1, help="Requests that wait for a worker at most")
    ] = 200
    connections: Annotated[
        int, Opt("--max-connections", min=1, help="Connections that are open at most")
    ] = 500
