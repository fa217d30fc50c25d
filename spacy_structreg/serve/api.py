"""The API: routes, and what they answer."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import FastAPI, Header, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from spacy_structreg.about import __version__
from spacy_structreg.corpora.palette import css as palette_css
from spacy_structreg.serve.api_page import api_page
from spacy_structreg.serve.errors import TITLES, RequestError
from spacy_structreg.serve.figures import Figures
from spacy_structreg.serve.guard import response_of
from spacy_structreg.serve.pool import Pool
from spacy_structreg.serve.requests import (
    AnnotateRequest,
    Annotations,
    ErrorAnswer,
    ExplainRequest,
    ExplanationAnswer,
    HealthAnswer,
    PipelineAnswer,
    UserWord,
)
from spacy_structreg.serve.settings import Limits

PAGE: Final = Path(__file__).parent / "page"
PAGE_METHODS: Final = ["GET", "HEAD"]
CONLLU: Final = "application/x-conllu"

ROUTES: Final = frozenset(
    {"/v1/pipeline", "/v1/annotate", "/v1/explain", "/health", "/metrics", "/openapi.json", "/docs"}
    | {"/"}
)
"""The paths that figures name."""


def make_app(limits: Limits, pool: Pool, figures: Figures) -> FastAPI:
    """The application of a service, which stands behind a `Guard`.

    pool: is started by whoever serves it. figures: what /metrics tells.
    """
    app = FastAPI(
        title="spacy_structreg",
        version=__version__,
        description="Words, tags, trees, entities and categories of texts by a spaCy pipeline. "
        "Offsets are Unicode code points; begins are inclusive, ends exclusive.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    add_errors(app)
    errors: dict[int | str, dict[str, Any]] = {
        status: {"model": ErrorAnswer, "description": title} for status, title in TITLES.items()
    }

    @app.get("/v1/pipeline", summary="The pipeline", responses={503: errors[503]})
    async def pipeline() -> PipelineAnswer:
        """The pipeline, what it can be asked for, the meanings of its labels, and the limits."""
        return JSONResponse({**ready(pool), "limits": shown_limits(limits)})  # type: ignore[return-value]

    @app.post(
        "/v1/annotate",
        summary="Annotate texts",
        responses={200: {"model": Annotations, "content": {CONLLU: {}}}, **errors},
    )
    async def annotate(
        body: AnnotateRequest,
        format: Annotated[
            Literal["json", "conllu"] | None, Query(description="In place of the header Accept")
        ] = None,
        accept: Annotated[str, Header()] = "*/*",
    ) -> Response:
        """Annotate texts; as CoNLL-U if the header Accept or the parameter format says so."""
        described = ready(pool)
        check_texts(body, limits)
        check_words(body.user_words, described, limits)
        if body.alternatives > limits.alternatives:
            raise RequestError(
                400,
                "too_many_alternatives",
                f"{body.alternatives:,} alternatives are asked for; at most "
                f"{limits.alternatives:,} are given",
            )
        conllu = format == "conllu" or (format is None and CONLLU in accept)
        options = {
            "user_words": listed(body.user_words),
            "alternatives": body.alternatives,
            "confidence": body.confidence,
            "pictures": body.pictures,
            "conllu": conllu,
        }
        answers = await pool.run({"options": options}, body.texts)
        figures.texts.inc(len(body.texts))
        figures.characters.inc(sum(map(len, body.texts)))
        if conllu:
            return Response(b"".join(answers), media_type=f"{CONLLU}; charset=utf-8")
        return Response(
            b'{"documents":[' + b",".join(answers) + b"]}", media_type="application/json"
        )

    @app.post(
        "/v1/explain",
        summary="Explain decisions",
        responses={200: {"model": ExplanationAnswer}, **errors},
    )
    async def explain(body: ExplainRequest) -> Response:
        """The features behind the decisions of a part of the pipeline about a text."""
        described = ready(pool)
        check_words(body.user_words, described, limits)
        if len(body.text) > limits.explained_text:
            raise RequestError(
                413,
                "text_too_long",
                f"the text has {len(body.text):,} characters; at most {limits.explained_text:,} "
                "are explained: cut it, or start the server with --max-explained",
            )
        able = [part["name"] for part in described["parts"] if part["explains"]]
        if body.component is not None and body.component not in able:
            raise RequestError(
                400,
                "no_such_component",
                f"the pipeline has no part of this name that explains; choose {', '.join(able)}",
            )
        request = {
            "component": body.component,
            "options": {"user_words": listed(body.user_words)},
        }
        (answer,) = await pool.run(request, [body.text])
        return Response(answer, media_type="application/json")

    @app.get("/health", summary="State", responses={503: {"model": HealthAnswer}})
    async def health() -> HealthAnswer:
        """The state of the service: ok, loading or stopping."""
        if pool.is_stopping or not pool.n_living:
            status = "stopping" if pool.is_stopping else "loading"
            return JSONResponse({"status": status}, 503)  # type: ignore[return-value]
        return HealthAnswer(status="ok")

    @app.get(
        "/metrics",
        summary="Figures for Prometheus",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}},
    )
    async def metrics() -> Response:
        """Requests by route and status, their seconds, texts, characters, and the queue."""
        text, kind = figures.text()
        return Response(text, media_type=kind)

    @app.api_route("/docs", methods=PAGE_METHODS, include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(api_page(app.openapi()))

    @app.api_route("/", methods=PAGE_METHODS, include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    @app.api_route("/page/palette.css", methods=PAGE_METHODS, include_in_schema=False)
    async def palette() -> Response:
        return Response(palette_css(), media_type="text/css")

    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    return app


def ready(pool: Pool) -> dict[str, Any]:
    """The description of the pipeline. Raises RequestError while it is loaded."""
    if pool.described is None:
        raise RequestError(503, "loading", "the pipeline is being loaded; try again", wait=1)
    return pool.described


def shown_limits(limits: Limits) -> dict[str, Any]:
    """The limits that requests need to know."""
    names = ("text", "texts", "body", "explained_text", "user_words", "alternatives", "seconds")
    return {name: getattr(limits, name) for name in names}


def check_texts(body: AnnotateRequest, limits: Limits) -> None:
    """Raise RequestError for too many texts, or too long ones for what is wanted of them."""
    texts = body.texts
    if len(texts) > limits.texts:
        raise RequestError(
            413,
            "too_many_texts",
            f"there are {len(texts):,} texts; at most {limits.texts:,} are taken: send several "
            "requests, or start the server with --max-texts",
        )
    longest = max(map(len, texts), default=0)
    if longest > limits.text:
        raise RequestError(
            413,
            "text_too_long",
            f"the text has {longest:,} characters; at most {limits.text:,} are taken: cut it, or "
            "start the server with --max-characters",
        )
    whole = sum(map(len, texts))
    if (body.alternatives or body.pictures) and whole > limits.text:
        raise RequestError(
            413,
            "texts_too_long",
            f"the texts have {whole:,} characters; with alternatives or pictures, at most "
            f"{limits.text:,} are taken in all: send several requests, or start the server with "
            "--max-characters",
        )


def check_words(words: list[UserWord], described: dict[str, Any], limits: Limits) -> None:
    """Raise RequestError for too many user words, or where there can be none."""
    if words and not described["user_words"]:
        raise RequestError(
            400,
            "no_user_words",
            "the tokenizer of this pipeline takes no user words; leave them out",
        )
    if len(words) > limits.user_words:
        raise RequestError(
            413,
            "too_many_user_words",
            f"there are {len(words):,} user words; at most {limits.user_words:,} are taken: leave "
            "some out, or start the server with --max-words",
        )


def listed(words: list[UserWord]) -> list[tuple[str, str | None, str, float | None]]:
    """User words as workers take them."""
    return [(word.word, word.tag, word.mode, word.bonus) for word in words]


# Errors ------------------------------------------------------------------------------------------


def add_errors(app: FastAPI) -> None:
    """Let all errors have one shape."""

    @app.exception_handler(RequestError)
    async def of_request(request: Request, error: RequestError) -> Response:
        return response_of(error)

    @app.exception_handler(Exception)
    async def of_program(request: Request, error: Exception) -> Response:
        return response_of(RequestError(500, "failed", "the server has failed; its log says where"))

    @app.exception_handler(RequestValidationError)
    async def of_validation(request: Request, error: RequestValidationError) -> Response:
        return response_of(RequestError(400, "bad_request", told(error)))

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> Response:
        code, message = OF_STATUS.get(error.status_code, ("error", str(error.detail)))
        response = response_of(RequestError(error.status_code, code, message))
        response.headers.update(error.headers or {})
        return response


OF_STATUS: Final = {
    400: ("bad_request", "the body is no JSON that can be read; send an object, in UTF-8"),
    404: ("not_found", "there is nothing under this address; /docs lists what there is"),
    405: ("method_not_allowed", "this address is asked otherwise; /docs says how"),
}


def told(error: RequestValidationError) -> str:
    """The first fault of a request, without its content."""
    faults = error.errors()
    first = faults[0]
    if first["type"] == "json_invalid":
        return "the body is no JSON that can be read; send an object, in UTF-8"
    # Which may be a name that the request has made up.
    place = ".".join(str(each) for each in first["loc"][1:])[:60] or "the body"
    others = len(faults) - 1
    more = f", and {others:,} more fault{'s' if others > 1 else ''}" if others else ""
    return f"{place}: {first['msg']}{more}; /docs says what is taken"
