"""Clients that do harm: the service stays up, answers within its limits, and forgets them."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from looped import looped
from running_server import SECONDS, Running, figure, running, waited_for

pytestmark = pytest.mark.slow

MARK = "密語四十二"
HEAD = b"POST /v1/annotate HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"


@pytest.fixture(scope="module")
def server(pipeline: Path) -> Iterator[Running]:
    """A service with little patience."""
    limits = ("--idle-seconds", "0.5", "--body-seconds", "1", "--seconds", "15")
    with running(pipeline, *limits) as server:
        yield server


@pytest.fixture(scope="module")
def patient(pipeline: Path) -> Iterator[Running]:
    """A service with the patience that is usual."""
    with running(pipeline, "--workers", "2") as server:
        yield server


@pytest.fixture(scope="module")
def strict(pipeline: Path) -> Iterator[Running]:
    """A service that takes and answers little at once."""
    limits = ("--max-waiting", "2", "--max-connections", "20", "--seconds", "1")
    with running(pipeline, *limits) as server:
        yield server


def connected(server: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS)


def answer_of(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    """The status and the content of the answer on a connection, which ends it."""
    data = b""
    while part := connection.recv(1 << 16):
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    assert b"content-security-policy: default-src 'none';" in head
    return int(head.split()[1]), json.loads(body)


def is_well(server: Running) -> bool:
    with server.client() as client:
        found = client.post("/v1/annotate", json={"texts": ["我看书。"]})
    return found.status_code == 200 and bool(found.json()["documents"][0]["tokens"])


# Slow ones ---------------------------------------------------------------------------------------


def dribble(connection: socket.socket, data: bytes) -> None:
    """Send a byte now and then, until the other side has had enough."""
    for byte in data:
        try:
            connection.send(bytes([byte]))
        except OSError:
            return
        time.sleep(0.05)


def test_clients_that_say_nothing(server: Running) -> None:
    with connected(server) as connection:
        assert connection.recv(1) == b""


@looped("first", [b"", b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"])
def test_heads_that_come_by_the_byte(server: Running, first: bytes) -> None:
    with connected(server) as connection:
        connection.send(first)
        if first:
            assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        dribble(connection, HEAD * 10)
        status, content = answer_of(connection)
    assert (status, content["error"]["code"]) == (408, "too_slow")
    assert is_well(server)


def test_bodies_that_come_by_the_byte(server: Running) -> None:
    with connected(server) as connection:
        connection.send(HEAD + b"content-length: 1000\r\n\r\n")
        dribble(connection, b" " * 40)
        status, content = answer_of(connection)
    assert (status, content["error"]["code"]) == (408, "too_slow")


def test_bodies_that_nobody_wants(server: Running) -> None:
    with connected(server) as connection:
        connection.send(
            b"GET /health HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n"
        )
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 200")
        dribble(connection, b" " * 10_000)
        try:
            while connection.recv(1 << 16):
                pass
        except ConnectionResetError:
            pass
    assert is_well(server)


# Nothing is read, or some of it, for longer than a connection may be idle.
@looped("n_read", [0, 12])
def test_clients_that_do_not_read(server: Running, n_read: int) -> None:
    body = json.dumps({"texts": ["我看书。" * 2_000]}).encode()
    with socket.socket() as connection:
        # Of packets so small, the system takes on little of the answer for the client.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
        connection.settimeout(SECONDS)
        connection.connect(("127.0.0.1", server.port))
        connection.sendall(HEAD + f"content-length: {len(body)}\r\n\r\n".encode() + body)
        waited_for(lambda: figure(server, "connections") >= 2)
        for _ in range(n_read):
            assert connection.recv(1 << 14, socket.MSG_WAITALL)
            time.sleep(0.1)
        # Only this one asks for figures then.
        waited_for(lambda: figure(server, "connections") == 1)
    assert is_well(server)


# Large ones --------------------------------------------------------------------------------------


@looped("says_length", [True, False])
def test_bodies_of_ten_megabytes(server: Running, says_length: bool) -> None:
    body = b'{"texts": ["' + b"a" * 10_000_000 + b'"]}'
    with server.client() as client:
        found = client.post(
            "/v1/annotate",
            content=body
            if says_length
            else iter([body[i : i + 65536] for i in range(0, len(body), 65536)]),
            headers={"content-type": "application/json"},
        )
    assert (found.status_code, found.json()["error"]["code"]) == (413, "body_too_large")


def test_a_body_is_refused_before_it_has_come(server: Running) -> None:
    with connected(server) as connection:
        connection.send(HEAD + b"content-length: 999999999999999\r\n\r\n")
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 413")


@looped("data", [b"\0" * 100_000, b"GET / HTTP/9\r\n\r\n", b"a" * 200_000])
def test_what_is_no_http(server: Running, data: bytes) -> None:
    with connected(server) as connection:
        try:
            connection.sendall(data + b"\r\n\r\n")
            answer = connection.recv(1 << 16)
        except ConnectionError:
            # The answer has been given while it was still being sent.
            return
    assert answer.startswith(b"HTTP/1.1 400")


# Many --------------------------------------------------------------------------------------------


def test_fifty_clients_at_once(patient: Running) -> None:
    def ask(number: int) -> bool:
        with patient.client() as client:
            texts = [f"小王写{number}。", "我看书。" * 10]
            return [
                document["text"]
                for _ in range(3)
                for document in client.post("/v1/annotate", json={"texts": texts}).json()[
                    "documents"
                ]
            ] == texts * 3

    with ThreadPoolExecutor(50) as threads:
        assert all(threads.map(ask, range(50)))


def test_more_connections_than_may_be(strict: Running) -> None:
    connections = [connected(strict) for _ in range(20)]
    with connected(strict) as connection:
        status, content = answer_of(connection)
    assert (status, content["error"]["code"]) == (503, "busy")
    for each in connections:
        each.close()
    waited_for(lambda: is_well(strict))
    with strict.client() as client:
        figures = client.get("/metrics").text
    assert 'structreg_requests_total{route="other",status="503"} ' in figures


def test_conllu_of_the_longest_text(server: Running) -> None:
    # Time that grew by the square of the tokens would be over.
    with server.client() as client:
        answer = client.post("/v1/annotate?format=conllu", json={"texts": ["a " * 10_000]})
    assert answer.status_code == 200
    assert answer.text.count("\ta\t") == 10_000


def test_clients_that_hang_up(patient: Running) -> None:
    body = json.dumps({"texts": ["我看书。" * 1_000] * 60}).encode()
    for _ in range(20):
        with connected(patient) as connection:
            connection.sendall(HEAD + f"content-length: {len(body)}\r\n\r\n".encode() + body)
    waited_for(lambda: figure(patient, "waiting") == 0)
    assert is_well(patient)


def test_clients_that_hang_up_within_a_body(strict: Running) -> None:
    with connected(strict) as connection:
        connection.sendall(HEAD + b"content-length: 1000\r\n\r\n" + b"{")
    with strict.client() as client:
        told = 'structreg_requests_total{route="/v1/annotate",status="0"} 1.0'
        waited_for(lambda: told in client.get("/metrics").text)


def test_more_requests_than_may_wait(strict: Running) -> None:
    def ask(number: int) -> httpx.Response:
        with strict.client() as client:
            return client.post("/v1/annotate", json={"texts": ["我看书。" * 1_000] * 60})

    with ThreadPoolExecutor(12) as threads:
        found = list(threads.map(ask, range(12)))
    told = {(each.status_code, each.json().get("error", {}).get("code")) for each in found}
    assert (429, "busy") in told
    assert told <= {(200, None), (429, "busy"), (503, "time_over")}
    assert all("retry-after" in each.headers for each in found if each.status_code != 200)
    waited_for(lambda: is_well(strict))


def test_requests_that_take_too_long(strict: Running) -> None:
    with strict.client() as client:
        found = client.post("/v1/annotate", json={"texts": ["我看书。" * 5_000], "alternatives": 9})
        assert (found.status_code, found.json()["error"]["code"]) == (503, "time_over")
        assert found.headers["retry-after"] == "1"
        waited_for(lambda: is_well(strict))


# Memory and ends ---------------------------------------------------------------------------------


def processes_of(server: Running) -> list[int]:
    """The process that serves, and its workers."""
    pid = server.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def resident(pids: list[int]) -> int:
    """The bytes that processes have in memory."""
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids)
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
def test_nothing_is_kept_of_hostile_bodies(patient: Running) -> None:
    # That workers keep nothing of texts is seen in test_annotator.py.
    pid = patient.process.pid
    sizes = []
    with patient.client() as client:
        for number in range(120):
            body = (b"[" * 100_000, b"a" * 900_000, b'{"texts": ["a", ' * 50_000)[number % 3]
            headers = {"content-type": "application/json"}
            assert client.post("/v1/annotate", content=body, headers=headers).status_code == 400
            assert client.get(f"/{number}").status_code == 404
            sizes.append(resident([pid]))
    # Kept, the bodies of the second half would take 30 MB.
    assert max(sizes[60:]) < max(sizes[:60]) + (10 << 20), sizes


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at in /proc")
def test_workers_that_die_are_started_again(patient: Running) -> None:
    _, *workers = processes_of(patient)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    # A text that a worker has when it dies is not annotated.
    waited_for(lambda: not {*workers} & {*processes_of(patient)})
    with patient.client() as client:
        found = client.post("/v1/annotate", json={"texts": ["我看书。"]})
        assert found.status_code == 200
        assert client.get("/health").status_code == 200
    assert len(workers) == 2


def end_while_it_works(server: Running, number: int) -> None:
    """Send a service a signal, and check that it ends when it has answered, and says nothing."""
    pids = processes_of(server) if sys.platform == "linux" else []
    said = bytes(server.output)

    def ask() -> httpx.Response:
        with server.client() as client:
            return client.post("/v1/annotate", json={"texts": ["我看书。" * 250] * 8})

    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(ask)
        # The rest of it, while the first texts are in work.
        waited_for(lambda: figure(server, "waiting") > 0)
        server.process.send_signal(number)
        assert len(asked.result().json()["documents"]) == 8
    assert server.process.wait(SECONDS) == 0
    server.reader.join()
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert server.output == said


def test_an_interrupt_ends_it_when_it_has_answered(patient: Running) -> None:
    """The last one with this service."""
    end_while_it_works(patient, signal.SIGINT)


def test_nothing_of_a_text_is_written(server: Running) -> None:
    """The last one here, as it ends the service, when it has answered."""
    with server.client() as client:
        for body in (
            {"texts": [MARK]},
            {"texts": [MARK, "\0"], "user_words": [{"word": MARK}], "pictures": True},
            {"texts": [MARK], "user_words": [{"word": MARK, "mode": "prefer"}]},
            {"texts": [MARK], "user_words": [{"word": MARK, "mode": MARK}]},
            {"texts": MARK},
            {MARK: MARK},
            {"texts": [f"{MARK}\0"]},
            {"texts": [MARK * 10_000]},
            {"text": MARK},
            {"text": MARK, "component": MARK},
            {"text": MARK, "component": "parser"},
            {"text": MARK * 1_000},
        ):
            for path in ("/v1/annotate", "/v1/explain", "/v1/annotate?format=conllu"):
                client.post(path, json=body)
        client.get(f"/{MARK}?{MARK}={MARK}")
        client.post("/v1/annotate", content=b"{" + MARK.encode())
        client.post(
            "/v1/annotate", content=MARK.encode(), headers={"content-type": "application/json"}
        )
        figures = client.get("/metrics").text
    with connected(server) as connection:
        connection.send(MARK.encode())
        connection.recv(1)
    with connected(server) as connection:
        connection.send(HEAD + b"content-length: 1000\r\n\r\n" + MARK.encode())
        connection.recv(1)
    end_while_it_works(server, signal.SIGTERM)
    for name in (MARK, MARK[:2], MARK.encode("unicode_escape").decode()):
        assert name not in server.output.decode()
        assert name not in figures
