"""Streams for programs without asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Iterator
from typing import Any, TypeVar

from .connection import Connection
from .stream import open_stream

Value = TypeVar("Value")


def scan_in_thread(connection: Connection, body: dict[str, Any], pieces: Iterable[str]) -> Iterator[str]:
    """Pushes the pieces, and yields released text. The connection runs in its own event loop in its own thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="guard-scan", daemon=True)
    thread.start()

    def run(coroutine: Coroutine[Any, Any, Value]) -> Value:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result()

    context = open_stream(connection, body)
    try:
        stream = run(_call(context.__aenter__))
        try:
            for piece in pieces:
                run(stream.push(piece))
                yield from stream.ready()
            run(stream.finish())
            while True:
                text = run(stream.next())
                if text is None:
                    return
                yield text
        finally:
            run(_call(lambda: context.__aexit__(None, None, None)))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _call(make: Any) -> Any:
    return await make()
