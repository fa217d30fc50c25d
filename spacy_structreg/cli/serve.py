"""`structreg serve`: a page in the browser, and a JSON API."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer
from spacy.cli._util import Opt

from spacy_structreg.cli.corpus_arguments import PipelineArgument
from spacy_structreg.serve.settings import Limits, ServiceSettings

__all__ = ["serve"]

LIMITS = Limits()


def serve(
    pipeline: PipelineArgument,
    *,
    host: Annotated[
        str, Opt("--host", help="Address to listen at; by default this machine alone can reach it")
    ] = "127.0.0.1",
    port: Annotated[
        int, Opt("--port", "-p", min=0, max=65535, help="Port to listen at; 0 for any free one")
    ] = 8000,
    workers: Annotated[
        int, Opt("--workers", "-w", min=1, help="Processes that annotate, each with the pipeline")
    ] = 1,
    open_page: Annotated[bool, Opt("--open", help="Open the page in the browser")] = False,
    name: Annotated[
        list[str] | None,
        Opt(
            "--name",
            help="A further host name by which the service may be asked, as behind a proxy; may be "
            "given several times",
        ),
    ] = None,
    max_characters: Annotated[
        int, Opt("--max-characters", min=1, help="Characters of a text at most")
    ] = LIMITS.text,
    max_texts: Annotated[
        int, Opt("--max-texts", min=1, help="Texts of a request at most")
    ] = LIMITS.texts,
    max_body: Annotated[
        int, Opt("--max-body", min=1, help="Bytes of a request at most")
    ] = LIMITS.body,
    max_explained: Annotated[
        int, Opt("--max-explained", min=0, help="Characters of a text to explain at most")
    ] = LIMITS.explained_text,
    max_words: Annotated[
        int, Opt("--max-words", min=0, help="User words of a request at most")
    ] = LIMITS.user_words,
    max_alternatives: Annotated[
        int, Opt("--max-alternatives", min=0, help="Alternatives of a sentence at most")
    ] = LIMITS.alternatives,
    max_answer: Annotated[
        int, Opt("--max-answer", min=1, help="Bytes of an answer at most")
    ] = LIMITS.answer,
    seconds: Annotated[
        float, Opt("--seconds", min=0.1, help="Until a request has an answer, or an error")
    ] = LIMITS.seconds,
    body_seconds: Annotated[
        float, Opt("--body-seconds", min=0.1, help="Until the body of a request has arrived")
    ] = LIMITS.body_seconds,
    idle_seconds: Annotated[
        float, Opt("--idle-seconds", min=0.1, help="Until a connection has begun a request")
    ] = LIMITS.idle_seconds,
    max_waiting: Annotated[
        int, Opt("--max-waiting", min=1, help="Requests that wait for a worker at most")
    ] = LIMITS.waiting,
    max_connections: Annotated[
        int, Opt("--max-connections", min=1, help="Connections that are open at most")
    ] = LIMITS.connections,
) -> None:
    """Show a pipeline on a page in the browser, and let programs ask it by a JSON API.

    Any pipeline will do. Texts of users are neither stored nor logged. Ctrl-C ends the service,
    when what is in work has been answered. Needs the extra 'serve'.
    """
    need_packages("fastapi", "uvicorn", "prometheus_client")
    from spacy_structreg.serve.server import serve as serve_pipeline

    limits = Limits(
        text=max_characters,
        texts=max_texts,
        body=max_body,
        explained_text=max_explained,
        user_words=max_words,
        alternatives=max_alternatives,
        answer=max_answer,
        seconds=seconds,
        body_seconds=body_seconds,
        idle_seconds=idle_seconds,
        waiting=max_waiting,
        connections=max_connections,
    )

    def ready(address: str) -> None:
        typer.echo(f"Serving {pipeline} at {address} (Ctrl-C ends it)")
        if open_page:
            typer.launch(address)

    serve_pipeline(ServiceSettings(pipeline, host, port, workers, tuple(name or ()), limits), ready)


def need_packages(*names: str) -> None:
    """Raise ImportError, which names the extra, if a package of it is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise ImportError(
                f"this needs the package {name}; pip install 'spacy_structreg[serve]'"
            )
