"""The API of a service that runs as a process of its own, against the pipeline asked directly."""

from __future__ import annotations

import gzip
import json
import re
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import httpx
import pytest
import spacy
from docs.pages import ROOT, blocks
from looped import looped
from running_server import Running, running
from spacy.language import Language
from spacy.tokens import Doc
from typer.main import get_command

from spacy_structreg.cli.app import structreg_app
from spacy_structreg.corpora.formats.conllu import read_conllu
from spacy_structreg.serve.requests import (
    Annotations,
    ErrorAnswer,
    ExplanationAnswer,
    HealthAnswer,
    PipelineAnswer,
)

pytestmark = pytest.mark.slow

TEXTS = [
    "我看书。小王写大字！",
    "",
    " ",
    "他 看  北京。\n我看书。",
    "小王看 New York 👍 Ｘ(ok)",
    "零\0看e\u0301",
]


@pytest.fixture(scope="module")
def server(pipeline: Path) -> Iterator[Running]:
    with running(pipeline, "--workers", "2", "--max-explained", "40") as server:
        yield server


@pytest.fixture(scope="module")
def client(server: Running) -> Iterator[httpx.Client]:
    with server.client() as client:
        yield client


@pytest.fixture(scope="module")
def nlp(pipeline: Path) -> Language:
    return spacy.load(pipeline)


def annotated(client: httpx.Client, **request: Any) -> list[dict[str, Any]]:
    answer = client.post("/v1/annotate", json=request)
    assert answer.status_code == 200, answer.text
    Annotations.model_validate_json(answer.content)
    documents: list[dict[str, Any]] = answer.json()["documents"]
    return documents


# What there is -----------------------------------------------------------------------------------


def test_the_pipeline_is_described(client: httpx.Client, nlp: Language) -> None:
    answer = client.get("/v1/pipeline")
    found = PipelineAnswer.model_validate_json(answer.content)
    assert [part.name for part in found.parts] == ["tokenizer", *nlp.pipe_names]
    assert [part.name for part in found.parts if not part.explains] == ["attribute_ruler"]
    assert set(found.annotates) == {
        *("words", "tags", "pos", "morphs", "lemmas", "heads", "sentences"),
        *("constituents", "entities", "spans", "categories"),
    }
    assert found.alternatives == ["words", "heads", "constituents"]
    assert set(found.confidence) == {"words", "tags", "heads"}
    assert found.user_words
    assert not found.calibrated
    assert found.labels["NN"].startswith(spacy.explain("NN"))
    assert found.labels["PER"] == spacy.explain("PER")
    assert found.limits.explained_text == 40


def test_what_else_there_is(client: httpx.Client) -> None:
    assert HealthAnswer.model_validate_json(client.get("/health").content).status == "ok"
    figures = client.get("/metrics").text
    assert re.search(r'structreg_requests_total{route="/health",status="200"} \d', figures)
    assert "structreg_waiting 0.0" in figures
    assert client.get("/").headers["content-type"].startswith("text/html")


def test_the_document_of_the_api_tells_all(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert set(document["paths"]) == {
        *("/v1/pipeline", "/v1/annotate", "/v1/explain", "/health", "/metrics")
    }
    page = client.get("/docs").text
    ElementTree.fromstring(re.sub(r"<!DOCTYPE html>|<meta[^>]*>|<link[^>]*>", "", page))
    for path in document["paths"]:
        assert path in page
    for name, schema in document["components"]["schemas"].items():
        for field in schema.get("properties", ()):
            assert field in page, name
    # Nothing is loaded from elsewhere.
    assert not re.findall(r'(?:src|href)="(?!/|#)', page)
    assert re.findall("<script.*?>", page) == ['<script src="/page/theme.js">']
    for example in document["components"]["schemas"]["AnnotateRequest"]["examples"]:
        annotated(client, **example)


def test_pages_load_nothing_from_elsewhere(client: httpx.Client) -> None:
    for path in ("/", "/docs", "/v1/pipeline", "/page/docs.css", "/nothing"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith(
            "default-src 'none'; script-src 'self'"
        )
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        kept = "no-store" if path.startswith("/v1/") else "no-cache"
        assert headers["cache-control"] == kept
        assert "access-control-allow-origin" not in headers
        assert "set-cookie" not in headers


@looped("path", ["/", "/docs", "/page/palette.css", "/page/page.js"])
def test_pages_answer_requests_for_their_headers(client: httpx.Client, path: str) -> None:
    whole, headers = (client.request(method, path) for method in ("GET", "HEAD"))
    assert headers.status_code == 200
    assert headers.content == b""
    for name in ("content-type", "content-length"):
        assert headers.headers[name] == whole.headers[name]


# Annotation --------------------------------------------------------------------------------------


def labeled(spans: Any) -> list[dict[str, Any]]:
    return [{"label": span.label_, "start": span.start, "end": span.end} for span in spans]


def compare(found: dict[str, Any], doc: Doc) -> None:
    """A document of the API is as the Doc."""
    assert found["text"] == doc.text
    assert [(each["start"], each["end"]) for each in found["tokens"]] == [
        (token.idx, token.idx + len(token)) for token in doc
    ]
    for name in ("tag", "pos", "lemma"):
        assert [each.get(name, "") for each in found["tokens"]] == [
            getattr(token, f"{name}_") for token in doc
        ]
    assert [each.get("morph", "") for each in found["tokens"]] == [str(t.morph) for t in doc]
    assert [(each["head"], each["dep"]) for each in found["tokens"]] == [
        (token.head.i, token.dep_) for token in doc
    ]
    assert [(each["start"], each["end"]) for each in found["sentences"]] == [
        (sentence.start, sentence.end) for sentence in doc.sents
    ]
    for each, sentence in zip(found["sentences"], doc.sents, strict=True):
        inside = [span for span in doc.spans["constituents"] if span.sent.start == sentence.start]
        assert each["constituents"] == labeled(inside)
        if inside:
            assert each["brackets"] == sentence._.parse_string
    assert found["entities"] == labeled(doc.ents)
    assert found["spans"] == {"chunks": labeled(doc.spans["chunks"])}
    assert found["categories"] == pytest.approx(dict(doc.cats), abs=1e-6)


def test_annotation_is_that_of_the_pipeline(client: httpx.Client, nlp: Language) -> None:
    found = annotated(client, texts=TEXTS)
    for document, doc in zip(found, nlp.pipe(TEXTS), strict=True):
        compare(document, doc)
    assert annotated(client, texts=[]) == []


def test_many_texts_come_back_in_their_order(client: httpx.Client, nlp: Language) -> None:
    # More than one worker is sent at once.
    texts = [f"小王{'看书' * (number * 7 % 40)}{number}。" for number in range(100)]
    for document, doc in zip(annotated(client, texts=texts), nlp.pipe(texts), strict=True):
        compare(document, doc)


def test_confidence_and_alternatives(client: httpx.Client, pipeline: Path) -> None:
    keeping = spacy.load(pipeline)
    for part in (keeping.tokenizer, keeping.get_pipe("parser"), keeping.get_pipe("constituency")):
        part.keep_analyses(alternatives=2, confidence=bool(part.MARGINS))  # type: ignore[attr-defined]
    text = TEXTS[0]
    doc = keeping(text)
    (found,) = annotated(client, texts=[text], alternatives=2, confidence=True)
    assert set(found["alternatives"]) == {"words", "heads", "constituents"}
    for kind, sentences in found["alternatives"].items():
        expected = doc._.structreg.alternatives[kind]
        assert len(sentences) == len(expected)
        for listed, of_sentence in zip(sentences, expected, strict=True):
            assert 1 <= len(listed) <= 2
            for each, other in zip(listed, of_sentence, strict=True):
                assert each["score"] == pytest.approx(other.score)
                items = [item if isinstance(item, str) else tuple(item) for item in each["of"]]
                assert (each["start"], each["end"], items) == (other.start, other.end, other.of)
    assert set(found["margins"]) == {"words", "tags", "heads"}
    for kind, margins in found["margins"].items():
        expected_margins = doc._.structreg.confidence[kind].margins
        for margin, other in zip(margins, expected_margins, strict=True):
            assert (
                margin == pytest.approx(other) if margin is not None else abs(other) == float("inf")
            )


def test_user_words_count_in_one_request_only(client: httpx.Client) -> None:
    def tokens(**more: Any) -> list[str]:
        (found,) = annotated(client, texts=["我看书。"], **more)
        return [found["text"][each["start"] : each["end"]] for each in found["tokens"]]

    before = tokens()
    assert "看书" not in before
    assert "看书" in tokens(user_words=[{"word": "看书"}])
    assert "看书" in tokens(user_words=[{"word": "看书", "mode": "bonus", "bonus": 1000.0}])
    for tag in sorted({each["tag"] for each in annotated(client, texts=["我看书。"])[0]["tokens"]}):
        (found,) = annotated(client, texts=["我看书。"], user_words=[{"word": "看书", "tag": tag}])
        assert [each["tag"] for each in found["tokens"]][1] == tag
    refused = client.post(
        "/v1/annotate", json={"texts": ["我看书。"], "user_words": [{"word": "看书", "tag": "XX"}]}
    )
    assert refused.status_code == 400
    assert "'看书' is listed with the tag 'XX', which the model does not know" in refused.text
    assert tokens() == before


def test_requests_at_once_do_not_mix(client: httpx.Client) -> None:
    requests: list[dict[str, Any]] = [
        {"texts": ["我看书。"]},
        {"texts": ["我看书。"], "user_words": [{"word": "看书"}]},
        {"texts": ["我看书。"], "alternatives": 2},
        {"texts": ["我看书。"], "confidence": True, "user_words": [{"word": "我看"}]},
        {"texts": ["小王写大字！", "他看北京。"], "pictures": True},
    ]
    alone = [annotated(client, **request) for request in requests]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda i: annotated(client, **requests[i % 5]), range(100)))
    assert all(each == alone[i % 5] for i, each in enumerate(found))


@looped("how", ["header", "parameter"])
def test_conllu(client: httpx.Client, nlp: Language, tmp_path: Path, how: str) -> None:
    answer = client.post(
        "/v1/annotate",
        params={"format": "conllu"} if how == "parameter" else {},
        headers={"accept": "application/x-conllu"} if how == "header" else {},
        json={"texts": ["我看书。小王写大字！", " \n", "他 看  北京。"]},
    )
    assert answer.headers["content-type"] == "application/x-conllu; charset=utf-8"
    (tmp_path / "found.conllu").write_bytes(answer.content)
    sentences = list(read_conllu(tmp_path / "found.conllu"))
    assert [sentence.raw_text() for sentence in sentences] == [
        "我看书。",
        "小王写大字！",
        "他 看 北京。",
    ]
    for sentence, text in zip(sentences, ("我看书。", "小王写大字！", "他看北京。"), strict=True):
        doc = nlp(text)
        assert sentence.forms == [token.text for token in doc]
        assert [word.xpos for word in sentence.words] == [token.tag_ for token in doc]
        assert sentence.heads == [0 if t.head == t else t.head.i + 1 for t in doc]


def test_what_conllu_cannot_hold(client: httpx.Client) -> None:
    answer = client.post("/v1/annotate?format=conllu", json={"texts": ["我\0看"]})
    assert answer.status_code == 400
    assert "NUL" in answer.json()["error"]["message"]


def test_pictures(client: httpx.Client) -> None:
    texts = ["我看书。小王写大字！", "", "<b>&"]
    found = annotated(client, texts=texts, pictures=True)
    assert {(each["sentence"], each["style"]) for each in found[0]["pictures"]} == {
        (sentence, style) for sentence in (0, 1) for style in ("tree", "span", "dep")
    }
    assert found[1]["pictures"] == []
    for document in found:
        for picture in document["pictures"]:
            root = ElementTree.fromstring(picture["svg"])
            words = "".join(root.itertext())
            start, end = (
                document["sentences"][picture["sentence"]][key] for key in ("start", "end")
            )
            for token in document["tokens"][start:end]:
                assert document["text"][token["start"] : token["end"]] in words
            assert not {"script", "b"} & {each.tag.rpartition("}")[2] for each in root.iter()}


# Explanations ------------------------------------------------------------------------------------


@looped("component", [None, "tokenizer", "parser", "constituency", "ner"])
def test_explanations(client: httpx.Client, nlp: Language, component: str | None) -> None:
    text = " 我看书。 小王写大字！"
    answer = client.post("/v1/explain", json={"text": text, "component": component})
    found = ExplanationAnswer.model_validate_json(answer.content)
    assert found.component == (component or "tokenizer")
    if component in (None, "tokenizer"):
        expected = nlp.tokenizer.explain(text)  # type: ignore[attr-defined]
    else:
        doc = nlp.make_doc(text)
        for name, pipe in nlp.pipeline:
            if name == component:
                break
            doc = pipe(doc)
        expected = nlp.get_pipe(component).explain(doc)  # type: ignore[attr-defined]
    assert found.analysis == expected.analysis
    assert found.score == pytest.approx(expected.score)
    for each, other in zip(found.decisions, expected.decisions, strict=True):
        assert (each.place, each.chosen, each.runner_up) == (
            *(other.place, other.chosen),
            other.runner_up,
        )
        assert each.n_contributions == len(other.contributions)
        assert len(each.contributions) == min(50, each.n_contributions)
        assert [difference.needed for difference in each.differences] == [
            difference in other.to_change for difference in other.differences[:50]
        ]
    # Where decisions stand: one for each character, or word.
    offsets = [(each.start, each.end) for each in found.decisions if each.start is not None]
    if component in (None, "tokenizer"):
        assert offsets == [(i, i + 1) for i, each in enumerate(text) if not each.isspace()]
    elif component == "ner":
        assert offsets == [(t.idx, t.idx + len(t)) for t in nlp(text) if not t.is_space]


def test_explanations_heed_user_words(client: httpx.Client) -> None:
    request = {"text": "我看书。", "user_words": [{"word": "看书"}]}
    assert "看书" in client.post("/v1/explain", json=request).json()["analysis"]


# Errors ------------------------------------------------------------------------------------------

JSON = {"content-type": "application/json"}
WRONG: list[tuple[str, str, Any, int, str]] = [
    ("GET", "/nothing", None, 404, "not_found"),
    ("GET", "/page/%2e%2e/api.py", None, 404, "not_found"),
    ("GET", "/v1/annotate", None, 405, "method_not_allowed"),
    ("DELETE", "/v1/pipeline", None, 405, "method_not_allowed"),
    ("POST", "/v1/annotate", b"", 400, "bad_request"),
    ("POST", "/v1/annotate", b"{", 400, "bad_request"),
    ("POST", "/v1/annotate", b"\xff\xfe", 400, "bad_request"),
    ("POST", "/v1/annotate", b"[" * 100_000, 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts":' * 50_000, 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": ["\\ud800"]}', 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": "a"}', 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": [1]}', 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": [null]}', 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": [], "more": 1}', 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": [], "alternatives": -1}', 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": [], "alternatives": true}', 400, "bad_request"),
    ("POST", "/v1/annotate", b'{"texts": [], "alternatives": 1e999}', 400, "bad_request"),
    (
        *("POST", "/v1/annotate", b'{"texts": [], "alternatives": 1' + b"0" * 5000 + b"}"),
        *(400, "bad_request"),
    ),
    ("POST", "/v1/annotate", {"texts": [], "alternatives": 11}, 400, "too_many_alternatives"),
    ("POST", "/v1/annotate", {"texts": ["a"] * 101}, 413, "too_many_texts"),
    ("POST", "/v1/annotate", {"texts": ["a" * 20_001]}, 413, "text_too_long"),
    ("POST", "/v1/annotate", {"texts": ["a" * 2_000_000]}, 413, "body_too_large"),
    ("POST", "/v1/annotate?format=xml", {"texts": ["a"]}, 400, "bad_request"),
    *(
        ("POST", "/v1/annotate", {"texts": ["a"], "user_words": [word]}, 400, "bad_request")
        for word in (
            {"word": ""},
            {"word": " a"},
            {"word": "a" * 256},
            {"word": "a", "mode": "always"},
            {"word": "a", "mode": "bonus"},
            {"word": "a", "mode": "prefer"},
            {"word": "a", "bonus": 1e9},
            {"word": "a", "mode": "force", "bonus": 1.0},
        )
    ),
    (
        *("POST", "/v1/annotate", {"texts": ["a"], "user_words": [{"word": "a"}] * 1001}),
        *(413, "too_many_user_words"),
    ),
    *(
        ("POST", "/v1/annotate", {"texts": ["a" * 20_000, "a"], **more}, 413, "texts_too_long")
        for more in ({"pictures": True}, {"alternatives": 1})
    ),
    ("POST", "/v1/explain", {"text": "a" * 41}, 413, "text_too_long"),
    ("POST", "/v1/explain", {"text": "a", "component": "x"}, 400, "no_such_component"),
    ("POST", "/v1/explain", {"text": 1}, 400, "bad_request"),
]


@looped("request_and_error", WRONG, ids=lambda each: f"{each[1]} {each[4]}")
def test_wrong_requests(
    client: httpx.Client, request_and_error: tuple[str, str, Any, int, str]
) -> None:
    method, path, body, status, code = request_and_error
    content: dict[str, Any] = {} if body is None else {"content": body, "headers": JSON}
    if isinstance(body, dict):
        content = {"json": body}
    answer = client.request(method, path, **content)
    error = ErrorAnswer.model_validate_json(answer.content).error
    assert (answer.status_code, error.code) == (status, code), error
    assert len(error.message) < 500


@looped(
    "body",
    [
        {"texts": [1] * 300_000},
        {"texts": [], "user_words": [1] * 300_000},
        {"texts": [], **{f"field{number}": 1 for number in range(50_000)}},
        {"texts": [], "user_words": [{f"{number}": 1 for number in range(50_000)}]},
        {"texts": [], "x" * 900_000: 1},
    ],
)
def test_no_more_faults_are_looked_for_than_are_told(
    client: httpx.Client, body: dict[str, Any]
) -> None:
    answer = client.post("/v1/annotate", json=body)
    error = ErrorAnswer.model_validate_json(answer.content).error
    assert (answer.status_code, error.code) == (400, "bad_request")
    assert "more fault" not in error.message
    assert len(error.message) < 200


def test_paths_stay_within_the_page(server: Running) -> None:
    # As clients would not send it: they take the dots out.
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        connection.sendall(
            b"GET /page/../api.py HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
        )
        assert connection.makefile("rb").readline().startswith(b"HTTP/1.1 404")


TEXT = '{"texts": ["他看书。"]}'
GZIP, BR, IDENTITY = ({**JSON, "content-encoding": each} for each in ("gzip", "br", "identity"))


@looped(
    ("headers", "body", "status", "code"),
    [
        # What pages of other sites may send without asking.
        ({}, TEXT.encode(), 415, "no_json"),
        (GZIP, gzip.compress(TEXT.encode()), 415, "encoded"),
        (BR, TEXT.encode(), 415, "encoded"),
        (GZIP, TEXT.encode(), 415, "encoded"),
        *(
            (JSON, TEXT.encode(encoding), 400, "bad_request")
            for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "gb18030")
        ),
        (JSON, TEXT.encode(), 200, None),
        (JSON, TEXT.encode("utf-8-sig"), 200, None),
        (IDENTITY, TEXT.encode(), 200, None),
    ],
)
def test_encodings_of_bodies(
    client: httpx.Client, headers: dict[str, str], body: bytes, status: int, code: str | None
) -> None:
    for path in ("/v1/annotate", "/v1/explain")[: 1 if status == 200 else 2]:
        answer = client.post(path, content=body, headers=headers)
        error = answer.json().get("error", {})
        assert (answer.status_code, error.get("code")) == (status, code)
        assert status != 400 or "UTF-8" in error["message"]


@looped(
    ("host", "known"),
    [
        ("localhost", True),
        ("127.0.0.1:80", True),
        ("[::1]:8000", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example:8000", False),
        ("localhost.evil.example", False),
        ("", False),
    ],
)
def test_names_of_hosts(client: httpx.Client, host: str, known: bool) -> None:
    answer = client.get("/v1/pipeline", headers={"host": host})
    assert answer.status_code == (200 if known else 400)
    assert known or answer.json()["error"]["code"] == "unknown_host"


# The page of the documentation --------------------------------------------------------------------

PAGE = ROOT / "docs/serve.md"


def test_the_chinese_page_has_the_same_examples() -> None:
    chinese, english = (
        [each.text for each in blocks(page) if each.value == "needs a service"]
        for page in (ROOT / "docs/zh/serve.md", PAGE)
    )
    assert chinese == english != []


def test_the_table_of_limits_tells_the_defaults() -> None:
    rows = re.findall(r"^\| `--([a-z-]+)` \| .* \| ([\d,.]+) \|$", PAGE.read_text("utf-8"), re.M)
    told = {name.replace("-", "_"): float(value.replace(",", "")) for name, value in rows}
    options = get_command(structreg_app).commands["serve"].params  # type: ignore[attr-defined]
    assert told == {
        name: option.default
        for option in options
        if (name := option.opts[0].removeprefix("--").replace("-", "_")).startswith("max_")
        or name.endswith("seconds")
    }


def test_the_examples_of_the_page(server: Running, capsys: pytest.CaptureFixture[str]) -> None:
    page = [each for each in blocks(PAGE) if each.value == "needs a service"]
    curls = next(each.text for each in page if "curl" in each.text)
    python = next(each.text for each in page if each.language == "python")
    found = subprocess.run(
        ["bash", "-ec", curls.replace("http://127.0.0.1:8000", server.address)],
        capture_output=True,
        check=True,
    ).stdout.decode()
    exec(python.replace("http://127.0.0.1:8000", server.address), {})
    decoder = json.JSONDecoder()
    annotated, end = decoder.raw_decode(found)
    assert annotated["documents"][0]["text"] == "我们明天去杭州。"
    rest = found[end:]
    assert rest.startswith("# text = 我们明天去杭州。\n1\t")
    explained = json.loads(rest[rest.index('{"component"') :])
    assert explained["component"] == "tokenizer"
    assert "'自然语言处理'" in capsys.readouterr().out
