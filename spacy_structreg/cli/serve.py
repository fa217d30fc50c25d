"""`structreg serve`: a page in the browser, and a JSON API."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer
from spacy.cli._util import Opt

from spacy_structreg.cli.commands import Depends
from spacy_structreg.cli.options import PipelineArgument
from spacy_structreg.serve.settings import Limits

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
    limits: Annotated[Limits, Depends(Limits)] = LIMITS,
) -> None:
    """Show a pipeline on a page in the browser, and let programs ask it by a JSON API.

    Any pipeline will do. Texts of users are neither stored nor logged. Ctrl-C ends the service,
    when what is in work has been answered. Needs the extra 'serve'.
    """
    need_packages("fastapi", "uvicorn", "prometheus_client")
    from spacy_structreg.serve.server import serve as serve_pipeline

    def ready(address: str) -> None:
        typer.echo(f"Serving {pipeline} at {address} (Ctrl-C ends it)")
        if open_page:
            typer.launch(address)

    serve_pipeline(
        pipeline,
        host=host,
        port=port,
        workers=workers,
        names=name or (),
        limits=limits,
        on_ready=ready,
    )


def need_packages(*names: str) -> None:
    """Raise ImportError, which names the extra, if a package of it is not installed."""
    for name in names:
        if find_spec(name) is None:
            raise ImportError(
                f"this needs the package {name}; pip install 'spacy_structreg[serve]'"
            )
