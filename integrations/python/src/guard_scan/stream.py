"""Scans answers while they arrive."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .connection import Connection, parse_json
from .duplex import Duplex
from .errors import GuardBlockedError, GuardError, GuardProblemError, GuardUnavailableError, invalid_reply, unavailable
from .reports import Report, read_verdict

PATH = "analyze/output/stream"

#: The interval of keep-alive lines, in seconds. The server ends an idle stream after ``app.stream_idle_timeout`` (120 s), and a model
#: may pause for longer.
KEEP_ALIVE_INTERVAL = 20.0


class OutputStream:
    """
    An answer that arrives in pieces. Its text is released as soon as the checks allow it. A failed check raises
    GuardBlockedError before any of the failing text is released. One task pushes, and one task reads.
    """

    def __init__(self, duplex: Duplex, timeout: float) -> None:
        self._duplex = duplex
        self._timeout = timeout
        self._ready: deque[str] = deque()
        self._report: Report | None = None
        self._error: Exception | None = None
        self._changed = asyncio.Event()
        self._is_finished = False
        self._reading = asyncio.ensure_future(self._read())
        self._keeping_alive = asyncio.ensure_future(self._keep_alive())

    @property
    def report(self) -> Report | None:
        """The report on the whole answer, after its end."""
        return self._report

    async def push(self, text: str) -> None:
        """Pushes the next piece of the answer. Raises if an earlier piece was blocked."""
        if self._error is not None:
            raise self._error
        if text:
            await self._send(json.dumps({"text": text}).encode())

    async def finish(self) -> None:
        """Ends the answer: no more pieces follow."""
        if self._error is not None:
            raise self._error
        if not self._is_finished:
            self._is_finished = True
            self._keeping_alive.cancel()
            self._changed.set()
            await self._send(None)

    async def next(self) -> str | None:
        """Waits for released text. Returns None at the end of the answer, when the report is available."""
        while True:
            if self._ready:
                return self._ready.popleft()
            if self._error is not None:
                raise self._error
            if self._report is not None:
                return None
            self._changed.clear()
            try:
                # A model may pause for any time. After the last piece the server must answer within the timeout.
                await asyncio.wait_for(self._changed.wait(), self._timeout if self._is_finished else None)
            except asyncio.TimeoutError:
                if not self._changed.is_set():
                    self._error = unavailable(f"did not answer within {self._timeout:g} s")

    def ready(self) -> list[str]:
        """Returns the released texts without waiting."""
        texts = list(self._ready)
        self._ready.clear()
        if not texts and self._error is not None:
            raise self._error
        return texts

    async def checked(self, pieces: AsyncIterable[str]) -> AsyncIterator[str]:
        """Pushes all pieces, and yields released text."""
        pushing = asyncio.ensure_future(self._push_all(pieces))
        try:
            while True:
                text = await self.next()
                if text is None:
                    break
                yield text
        finally:
            pushing.cancel()
            await asyncio.gather(pushing, return_exceptions=True)

    async def _push_all(self, pieces: AsyncIterable[str]) -> None:
        try:
            async for piece in pieces:
                await self.push(piece)
            await self.finish()
        except GuardError:
            pass  # next() raises it.
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if self._error is None and self._report is None:
            self._error = error
        self._changed.set()

    async def _send(self, line: bytes | None) -> None:
        try:
            await (self._duplex.end() if line is None else self._duplex.send(line))
        except GuardUnavailableError:
            # A server that has already answered, for example with a problem, closes the connection. Its answer is the better error.
            await asyncio.wait({self._reading}, timeout=1)
            raise self._error or unavailable("closed the connection") from None

    async def _keep_alive(self) -> None:
        while not self._is_finished:
            await asyncio.sleep(KEEP_ALIVE_INTERVAL)
            if not self._is_finished:
                self._duplex.write(b'{"text":""}')

    async def _read(self) -> None:
        try:
            async for line in self._duplex.lines():
                if line.strip():
                    self._handle(parse_json(line))
                if self._report is not None or self._error is not None:
                    return
            raise invalid_reply("it ended without a last event")
        except Exception as error:
            self._fail(error)

    def _handle(self, event: object) -> None:
        """Handles an event of the reply."""
        if not isinstance(event, dict):
            raise invalid_reply("an unexpected event")
        kind = event.get("event")
        if kind == "text" and isinstance(event.get("text"), str):
            self._ready.append(event["text"])
            self._changed.set()
        elif kind in ("blocked", "done"):
            report = read_verdict(event)
            if report.is_blocked != (kind == "blocked"):
                raise invalid_reply("outcome")
            if report.is_blocked:
                self._fail(GuardBlockedError("answer", report))
            else:
                self._report = report
                self._changed.set()
        elif kind == "error" and isinstance(event.get("status"), int):
            raise GuardProblemError(event["status"], event)
        else:
            raise invalid_reply("an unexpected event")

    async def _close(self) -> None:
        # A task that is being cancelled may not run beyond the first await, so this comes first.
        self._reading.cancel()
        self._keeping_alive.cancel()
        self._duplex.close()
        await asyncio.gather(self._reading, self._keeping_alive, return_exceptions=True)
        await self._duplex.closed()


@asynccontextmanager
async def open_stream(connection: Connection, body: dict[str, Any]) -> AsyncIterator[OutputStream]:
    """Opens a stream with the body as its first line, and closes it at the end."""
    duplex = await Duplex.open(connection, PATH)
    stream = OutputStream(duplex, connection.timeout)
    try:
        await stream._send(json.dumps(body).encode())
        yield stream
    finally:
        await stream._close()
