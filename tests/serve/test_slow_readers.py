"""Clients that read slowly, and then no more: their connections end."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
import uvicorn
from running_server import SECONDS

from spacy_structreg.serve.figures import Figures
from spacy_structreg.serve.protocol import protocol_of

IDLE = 0.3
ANSWER = 1 << 20


async def answered(scope: Any, receive: Any, send: Any) -> None:
    """An application with a large answer."""
    headers = [(b"content-length", str(ANSWER).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": bytes(ANSWER)})


@pytest.mark.parametrize("kept", ["keep-alive", "close"])
# Some of the answer is read, slowly: nearly nothing, a half, and until asyncio says that the server
# may go on to write.
@pytest.mark.parametrize("left", [ANSWER - 100_000, ANSWER // 2, 16_000])
def test_connections_of_slow_readers_end(kept: str, left: int) -> None:
    async def ended(server: uvicorn.Server) -> None:
        while server.server_state.connections:
            await asyncio.sleep(0.05)

    async def read_slowly(listener: socket.socket, client: socket.socket) -> None:
        config = uvicorn.Config(
            answered, http=protocol_of(IDLE, 5, Figures()), lifespan="off", log_config=None
        )
        server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server.serve([listener]))
        loop = asyncio.get_running_loop()
        client.setblocking(False)
        await loop.sock_connect(client, listener.getsockname())
        request = f"GET / HTTP/1.1\r\nhost: a\r\nconnection: {kept}\r\n\r\n"
        await loop.sock_sendall(client, request.encode())
        await loop.sock_recv(client, 1)
        (connection,) = server.server_state.connections
        pause = ANSWER // 8
        while (unread := connection.transport.get_write_buffer_size()) > left:
            read = 0
            # Each time, more than has to be read in a period.
            while read < min(pause, unread - left + 1):
                read += len(await loop.sock_recv(client, 1024))
            await asyncio.sleep(IDLE / 4)
        assert unread
        await asyncio.wait_for(ended(server), SECONDS)
        server.should_exit = True
        await serving

    with socket.create_server(("127.0.0.1", 0)) as listener, socket.socket() as client:
        # What is not read is to lie in the server, not in the system.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        asyncio.run(read_slowly(listener, client))
