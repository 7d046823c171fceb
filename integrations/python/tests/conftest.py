from __future__ import annotations

import asyncio
import inspect
import json
import sys
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable

import pytest
from guard_server import TOKEN, guard_server

from guard_scan import AsyncGuard, Guard

#: Calls a method of a client by name.
Ask = Callable[..., Any]


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    with guard_server() as server:
        yield server


def ask_with(kind: str, url: str, token: str = TOKEN, **options: Any) -> Ask:
    """Wraps both clients in one function, so that the tests run with both."""

    def ask(name: str, *args: Any, **more: Any) -> Any:
        if kind == "Guard":
            with Guard(url, token, **options) as guard:
                return getattr(guard, name)(*args, **more)

        async def run() -> Any:
            async with AsyncGuard(url, token, **options) as guard:
                return await getattr(guard, name)(*args, **more)

        return asyncio.run(run())

    return ask


@pytest.fixture(params=["Guard", "AsyncGuard"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(kind: str, url: str) -> Ask:
    return ask_with(kind, url)


class Fake(ThreadingHTTPServer):
    """A server with scripted replies. It repeats the last one."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.bodies: list[Any] = []
        self.delay = threading.Event()
        self.delay.set()

    def handle_error(self, *_: object) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # A client that disconnects is not an error.
            traceback.print_exc()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def says(self, status: int, body: object, **headers: str) -> None:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.answers.append((status, {name.replace("_", "-"): value for name, value in headers.items()}, data))


class Handler(BaseHTTPRequestHandler):
    server: Fake

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        length = self.headers["content-length"]
        if length:
            self.server.bodies.append(json.loads(self.rfile.read(int(length))))
        else:
            # Unread data may reset the connection before the reply arrives.
            while (size := int(self.rfile.readline(), 16)) > 0:
                self.rfile.read(size + 2)
            self.rfile.readline()
        self.server.delay.wait(10)
        answers = self.server.answers
        status, headers, body = answers.pop(0) if len(answers) > 1 else answers[0]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def fake() -> Iterator[Fake]:
    server = Fake()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.delay.set()
    server.shutdown()
    server.server_close()


def methods_of(client: type) -> dict[str, inspect.Signature]:
    return {name: inspect.signature(value) for name, value in vars(client).items() if name.startswith("scan_")}
