"""Pipelines that fail, tell secrets or die: requests that are not at fault are answered."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from planted_component import DIES, GATE, RUNTIME, VALUE, WAITS, plant
from running_server import SECONDS, Running, figure, running, waited_for

from spacy_structreg.serve.pool import Pool
from spacy_structreg.serve.settings import Limits

MARK = "密語四十三"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    return plant(tmp_path_factory.mktemp("planted"))


@pytest.fixture(scope="module")
def server(planted: tuple[Path, dict[str, str]]) -> Iterator[Running]:
    pipeline, environment = planted
    with running(pipeline, "--max-answer", "1000000", environment=environment) as server:
        yield server


def asked(server: Running, *texts: str) -> httpx.Response:
    with server.client() as client:
        return client.post("/v1/annotate", json={"texts": texts})


def told(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


@contextmanager
def busy(server: Running, gate: Path) -> Iterator[ThreadPoolExecutor]:
    """Let the only worker wait within a ``with`` block, and go on at its end."""
    with ThreadPoolExecutor(8) as threads:
        first = threads.submit(asked, server, WAITS)
        waited_for(gate.with_suffix(".reached").exists)
        try:
            yield threads
        finally:
            gate.touch()
        assert first.result().status_code == 200
    gate.unlink()
    gate.with_suffix(".reached").unlink()


@pytest.mark.slow
def test_one_of_requests_that_are_answered_together_fails(
    server: Running, planted: tuple[Path, dict[str, str]]
) -> None:
    gate = Path(planted[1][GATE])
    before = figure(server, "workers_ended")
    for fault, n_ended in ((RUNTIME, 0), (VALUE, 0), (DIES, 2)):
        with busy(server, gate) as threads:
            waiting: list[Future[httpx.Response]] = []
            for text in ("good", fault, "fine"):
                waiting.append(threads.submit(asked, server, text))
                waited_for(lambda: figure(server, "waiting") == len(waiting))  # noqa: B023
        answers = [each.result() for each in waiting]
        assert [each.status_code for each in answers] == [200, 500, 200], fault
        assert told(answers[1]) == (500, "failed")
        # Once with the others, and once alone.
        assert figure(server, "workers_ended") == before + n_ended
    assert asked(server, "good").status_code == 200


@pytest.mark.slow
def test_clients_that_have_gone_wait_no_longer(
    server: Running, planted: tuple[Path, dict[str, str]]
) -> None:
    with busy(server, Path(planted[1][GATE])):
        for _ in range(5):
            with pytest.raises(httpx.ReadTimeout):
                httpx.post(
                    f"{server.address}/v1/annotate",
                    json={"texts": ["good"]},
                    timeout=httpx.Timeout(SECONDS, read=0.2),
                    trust_env=False,
                )
        # The worker is still busy with another one.
        waited_for(lambda: figure(server, "waiting") == 0)
    with server.client() as client:
        figures = client.get("/metrics").text
    assert 'structreg_requests_total{route="/v1/annotate",status="0"} 5.0' in figures


@pytest.mark.slow
def test_sizes_of_answers(server: Running) -> None:
    long = "a " * 2_000
    assert asked(server, long).status_code == 200
    assert told(asked(server, *[long] * 50)) == (413, "answer_too_large")


@pytest.mark.slow
def test_nothing_of_a_text_is_written_or_told(server: Running) -> None:
    """The last one of this service, as it ends it."""
    for fault in (RUNTIME, VALUE, DIES, ""):
        answer = asked(server, MARK + fault)
        assert answer.status_code == (500 if fault else 200)
        assert not fault or MARK not in answer.text
    assert server.end() == 0
    output = server.output.decode()
    assert "RuntimeError at " in output
    assert "ValueError at " in output
    for name in (MARK, MARK[:2], MARK.encode("unicode_escape").decode()):
        assert name not in output


def test_workers_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nothing"))

    async def work() -> None:
        await Pool("nothing", 2, Limits()).work()

    with pytest.raises(ValueError, match=r"pipeline nothing cannot be loaded: .*No such file"):
        asyncio.run(work())
