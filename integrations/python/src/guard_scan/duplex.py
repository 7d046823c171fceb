"""A request with full duplex: its body and reply are streamed concurrently. httpx reads a reply only after the body, so this uses h11."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import h11

from .connection import Connection, problem_error
from .errors import invalid_reply, unavailable

#: The maximum bytes of a line of the reply, and of the body of a problem.
MAX_LINE = 16 * 1024 * 1024
CHUNK_SIZE = 65_536


class Duplex:
    """A request with full duplex. ``send`` writes lines, and ``lines`` yields those of the reply. Only one task may read."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._http = h11.Connection(h11.CLIENT)

    @classmethod
    async def open(cls, connection: Connection, path: str) -> Duplex:
        """Connects, and sends the request headers."""
        url = connection.url.join(path)
        port = url.port or (443 if url.scheme == "https" else 80)
        opening = asyncio.open_connection(url.host, port, ssl=connection.context)
        try:
            duplex = cls(*await asyncio.wait_for(opening, connection.timeout))
        except (OSError, asyncio.TimeoutError) as error:
            raise unavailable("could not be reached", error) from error
        headers = {
            **connection.headers,
            "Host": url.netloc.decode(),
            "Transfer-Encoding": "chunked",
            "Content-Type": "application/x-ndjson",
            "Accept": "application/x-ndjson",
        }
        await duplex._send(h11.Request(method="POST", target=url.raw_path, headers=list(headers.items())))
        return duplex

    async def send(self, line: bytes) -> None:
        """Sends a line, and waits while the server reads more slowly than lines are sent."""
        await self._send(h11.Data(data=line + b"\n"))

    def write(self, line: bytes) -> None:
        """Sends a short line without waiting."""
        try:
            self._writer.write(self._http.send(h11.Data(data=line + b"\n")) or b"")
        except (OSError, RuntimeError, h11.LocalProtocolError):
            pass  # The reader raises the error.

    async def end(self) -> None:
        """Ends the body of the request."""
        await self._send(h11.EndOfMessage())

    async def _send(self, event: h11.Event) -> None:
        try:
            data: bytes | None = self._http.send(event)
            self._writer.write(data or b"")
            await self._writer.drain()
        # uvloop raises a RuntimeError for a closed connection.
        except (OSError, RuntimeError, h11.LocalProtocolError) as error:
            raise unavailable("closed the connection", error) from error

    async def lines(self) -> AsyncIterator[bytes]:
        """Yields the lines of the reply. A reply other than 200 raises its problem."""
        head: h11.Response | None = None
        held = bytearray()
        try:
            while True:
                event = self._http.next_event()
                if event is h11.NEED_DATA:
                    self._http.receive_data(await self._reader.read(CHUNK_SIZE))
                elif isinstance(event, h11.Response):
                    head = event
                elif isinstance(event, h11.Data):
                    held += event.data
                    if head is not None and head.status_code == 200:
                        *lines, rest = bytes(held).split(b"\n")
                        held = bytearray(rest)
                        for line in lines:
                            yield line
                    if len(held) > MAX_LINE:
                        raise invalid_reply(f"a line is longer than {MAX_LINE} bytes")
                elif isinstance(event, (h11.EndOfMessage, h11.ConnectionClosed)):
                    break
        except (OSError, h11.RemoteProtocolError) as error:
            raise unavailable("closed the connection", error) from error
        if head is None:
            raise unavailable("closed the connection")
        if head.status_code != 200:
            headers = {name.decode(): value.decode("latin-1") for name, value in head.headers}
            raise problem_error(head.status_code, headers, bytes(held))
        if held:
            yield bytes(held)

    def close(self) -> None:
        self._writer.close()

    async def closed(self) -> None:
        """Waits until the connection is closed."""
        try:
            await self._writer.wait_closed()
        except OSError:
            pass
