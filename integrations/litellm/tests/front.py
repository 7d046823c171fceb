"""Stands between the proxies and guard, so that guard can be away or talk nonsense while a proxy runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


class Front:
    """Hands every connection on to guard, or answers by itself."""

    def __init__(self, target: str) -> None:
        url = urlsplit(target)
        self._target = (url.hostname or "", url.port or 80)
        self._answer: bytes | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self.loop = asyncio.new_event_loop()
        self.url = ""

    @contextmanager
    def answering(self, status: str, body: str) -> Iterator[None]:
        """What guard says for a while. Without a status the connection is closed without a word."""
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self._switch((head + body).encode() if status else b"")
        try:
            yield
        finally:
            self._switch(None)

    def _switch(self, answer: bytes | None) -> None:
        async def switch() -> None:
            self._answer = answer
            for writer in self._open:
                writer.close()
            await asyncio.sleep(0.05)

        asyncio.run_coroutine_threadsafe(switch(), self.loop).result()

    async def start(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            if self._answer is None:
                await self._hand_on(reader, writer)
            else:
                await reader.read(65_536)
                writer.write(self._answer)
                await writer.drain()
                # A client that still sends must be able to read what was said.
                await asyncio.wait_for(reader.read(), 0.2)
        except (OSError, asyncio.TimeoutError):
            pass
        finally:
            self._open.discard(writer)
            writer.close()

    async def _hand_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.read(65_536)
        if first.startswith(b"POST /analyze/output/stream"):
            import fake_stream

            return await fake_stream.fake(first, reader, writer, self._target)
        back_reader, back_writer = await asyncio.open_connection(*self._target)

        back_writer.write(first)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            try:
                while data := await source.read(65_536):
                    target.write(data)
                    await target.drain()
            except OSError:
                pass
            finally:
                target.close()

        await asyncio.gather(copy(reader, back_writer), copy(back_reader, writer))


@contextmanager
def running_front(target: str) -> Iterator[Front]:
    front = Front(target)
    threading.Thread(target=front.loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(front.start(), front.loop).result()
    yield front
    front.loop.call_soon_threadsafe(front.loop.stop)
