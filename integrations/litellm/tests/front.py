"""A TCP front between the proxies and guard, which simulates failures of guard while a proxy runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit


class Front:
    """Forwards every connection to guard, or answers itself."""

    def __init__(self, target: str) -> None:
        url = urlsplit(target)
        self._target = (url.hostname or "", url.port or 80)
        self._answer: bytes | None = None
        self._only = b"/"
        self._passing = 0
        self._open: set[asyncio.StreamWriter] = set()
        #: The path of the first request of each open connection.
        self.paths: list[str] = []
        self.loop = asyncio.new_event_loop()
        self.url = ""

    @contextmanager
    def answering(self, status: str, body: str, only: str = "/", after: int = 0) -> Iterator[None]:
        """
        Answers some paths with this reply for a while. Without a status it closes the connection without a reply.

        :param after: so many requests to these paths are forwarded first.
        """
        head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
        self._only, self._passing = only.encode(), after
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

    async def stop(self) -> None:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def start(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        path = ""
        try:
            first = await reader.read(65_536)
            path = first.split(b" ")[1].decode()
            self.paths.append(path)
            if self._answer is None:
                await self._hand_on(first, reader, writer)
            elif path.encode().startswith(self._only) and not self._takes_pass():
                await self._say(self._answer, reader, writer)
            else:
                # The next request of the connection may have another path.
                close = first.replace(b"\r\n", b"\r\nconnection: close\r\n", 1)
                await self._hand_on(close, reader, writer)
        except (OSError, asyncio.TimeoutError, IndexError):
            pass
        finally:
            self._open.discard(writer)
            if path:
                self.paths.remove(path)
            writer.close()

    def _takes_pass(self) -> bool:
        self._passing -= 1
        return self._passing >= 0

    async def _say(self, answer: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await writer.drain()
        if answer:
            # A client that is still sending must be able to read the reply.
            await asyncio.wait_for(reader.read(), 0.2)

    async def _hand_on(self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back_reader, back_writer = await asyncio.open_connection(*self._target)

        async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            try:
                while data := await source.read(65_536):
                    target.write(data)
                    await target.drain()
            except OSError:
                pass
            finally:
                target.close()

        back_writer.write(first)
        await asyncio.gather(copy(reader, back_writer), copy(back_reader, writer))


@contextmanager
def running_front(target: str) -> Iterator[Front]:
    front = Front(target)
    threading.Thread(target=front.loop.run_forever, daemon=True).start()
    asyncio.run_coroutine_threadsafe(front.start(), front.loop).result()
    yield front
    asyncio.run_coroutine_threadsafe(front.stop(), front.loop).result()
    front.loop.call_soon_threadsafe(front.loop.stop)
