"""Answers that are checked while they arrive."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from .connection import Connection, parse
from .duplex import Duplex
from .errors import GuardBlockedError, GuardError, GuardProblemError, GuardReplyError, GuardUnavailableError
from .reports import Report, read_verdict

PATH = "analyze/output/stream"

#: After so many seconds without a line an empty one is sent: the server ends a stream that is silent (``app.stream_idle_timeout``, 120 s),
#: and a model may think for longer.
SILENCE = 20.0


class OutputStream:
    """
    An answer that arrives in pieces. Its text is given out as soon as the checks allow it; a failed check raises
    GuardBlockedError, and nothing of the offending text was given out before. One task pushes, and one takes.
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
        self._waking = asyncio.ensure_future(self._wake())

    @property
    def report(self) -> Report | None:
        """What the checks say of the whole answer, once it has ended."""
        return self._report

    async def push(self, text: str) -> None:
        """Hands in the next piece of the answer. What was found in earlier pieces raises here too."""
        if self._error is not None:
            raise self._error
        if text:
            await self._send(json.dumps({"text": text}).encode())

    async def finish(self) -> None:
        """Says that there are no more pieces."""
        if self._error is not None:
            raise self._error
        if not self._is_finished:
            self._is_finished = True
            self._waking.cancel()
            self._changed.set()
            await self._send(None)

    async def next(self) -> str | None:
        """Waits for text that may be shown. None says that the answer has ended; then there is a report."""
        while True:
            if self._ready:
                return self._ready.popleft()
            if self._error is not None:
                raise self._error
            if self._report is not None:
                return None
            self._changed.clear()
            try:
                # A model may think for as long as it likes. What guard still has to say at the end must come in time.
                await asyncio.wait_for(self._changed.wait(), self._timeout if self._is_finished else None)
            except asyncio.TimeoutError:
                if not self._changed.is_set():
                    self._error = GuardUnavailableError(f"Guard did not answer within {self._timeout:g} s.")

    def ready(self) -> list[str]:
        """The texts that may be shown by now, without waiting."""
        texts = list(self._ready)
        self._ready.clear()
        if not texts and self._error is not None:
            raise self._error
        return texts

    async def checked(self, pieces: AsyncIterable[str]) -> AsyncIterator[str]:
        """Hands in all pieces, and gives what may be shown."""
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
            # A server that has answered already, such as with a problem, closes the connection. What it said is what counts.
            await asyncio.wait({self._reading}, timeout=1)
            raise self._error or GuardUnavailableError("Guard has gone away.") from None

    async def _wake(self) -> None:
        while not self._is_finished:
            await asyncio.sleep(SILENCE)
            if not self._is_finished:
                self._duplex.write(b'{"text":""}')

    async def _read(self) -> None:
        try:
            async for line in self._duplex.lines():
                if line.strip():
                    self._take(parse(line))
                if self._report is not None or self._error is not None:
                    return
            raise GuardReplyError("The server's answer ended before its end.")
        except Exception as error:
            self._fail(error)

    def _take(self, event: object) -> None:
        """Reads one line of the server's answer."""
        if not isinstance(event, dict):
            raise GuardReplyError("The server's answer has a line that is no event.")
        kind = event.get("event")
        if kind == "text" and isinstance(event.get("text"), str):
            self._ready.append(event["text"])
            self._changed.set()
        elif kind in ("blocked", "done"):
            report = read_verdict(event)
            if report.is_blocked != (kind == "blocked"):
                raise GuardReplyError("The server's answer has no valid outcome.")
            if report.is_blocked:
                self._fail(GuardBlockedError("answer", report))
            else:
                self._report = report
                self._changed.set()
        elif kind == "error" and isinstance(event.get("status"), int):
            raise GuardProblemError(event["status"], event)
        else:
            raise GuardReplyError("The server's answer has a line that is no event.")

    async def _close(self) -> None:
        # Whoever is being cancelled may not get beyond the first await.
        self._reading.cancel()
        self._waking.cancel()
        self._duplex.close()
        await asyncio.gather(self._reading, self._waking, return_exceptions=True)
        await self._duplex.closed()


@asynccontextmanager
async def opened(connection: Connection, body: dict[str, Any]) -> AsyncIterator[OutputStream]:
    """Opens a stream whose first line is the body, and closes it in the end."""
    duplex = await Duplex.open(connection, PATH)
    stream = OutputStream(duplex, connection.timeout)
    try:
        await stream._send(json.dumps(body).encode())
        yield stream
    finally:
        await stream._close()
