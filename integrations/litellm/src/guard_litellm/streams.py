"""Guards answers that arrive in pieces: extracts their texts, and turns released text into pieces again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol, Union

from guard_scan import AsyncGuard, OutputStream

from .bodies import Call, Part, SentRequest

#: Creates a stream item with released text.
Make = Callable[[str], Any]


@dataclass
class Text:
    """The next piece of one of the texts of an answer."""

    key: Hashable
    text: str
    make: Make
    #: Reasoning may be signed, so no values are restored in it.
    is_reasoning: bool = False


@dataclass
class Close:
    """The end of a text. The rest of the text is released before the next item."""

    key: Hashable


@dataclass
class Whole:
    """Complete parts, such as tool calls. They are checked, and replaced by the sanitized ones."""

    parts: list[Part]


def whole_calls(calls: list[Call]) -> Whole:
    return Whole([Part("", lambda _: None, calls=calls)])


@dataclass
class Emit:
    """An item of the output. It is created in order, with the texts that were released before it."""

    make: Callable[[Mapping[Hashable, str]], Any]


Step = Union[Text, Close, Whole, Emit]


class Shape(Protocol):
    """The format of a stream."""

    def read(self, item: Any) -> list[Step]:
        """Converts an item of the model's stream to steps."""

    def end(self) -> list[Step]:
        """Returns the remaining steps of a stream that ended without a last event."""


#: Checks parts of an answer, and replaces them by the sanitized ones.
Check = Callable[[list[Part], SentRequest], Awaitable[None]]


async def guard_stream(
    guard: AsyncGuard, sent: SentRequest, source: AsyncIterable[Any], check: Check, log: Callable[[Any], None]
) -> AsyncGenerator[Any, None]:
    """Yields the items of an answer as soon as the checks allow it."""
    from .shapes import detect_shape

    items = source.__aiter__()
    shape: Shape | None = None
    async with AsyncExitStack() as stack:
        texts = _OpenTexts(guard, sent, stack, log)
        next_item = asyncio.ensure_future(_next(items))
        try:
            while True:
                await asyncio.wait({next_item, *texts.waiting()}, return_when=asyncio.FIRST_COMPLETED)
                for item in texts.released():
                    yield item
                if not next_item.done():
                    continue
                item = next_item.result()
                if item is _END:
                    break
                shape = shape or detect_shape(item)
                for step in shape.read(item):
                    async for made in _run(step, texts, sent, check):
                        yield made
                next_item = asyncio.ensure_future(_next(items))
            for step in [*(shape.end() if shape else []), *map(Close, texts.keys())]:
                async for made in _run(step, texts, sent, check):
                    yield made
        finally:
            next_item.cancel()
            await asyncio.gather(next_item, return_exceptions=True)


_END = object()


async def _next(items: AsyncIterator[Any]) -> Any:
    # A task cannot raise StopAsyncIteration.
    async for item in items:
        return item
    return _END


async def _run(step: Step, texts: _OpenTexts, sent: SentRequest, check: Check) -> AsyncIterator[Any]:
    if isinstance(step, Text):
        await texts.push(step)
    elif isinstance(step, Close):
        async for item in texts.close(step.key):
            yield item
    elif isinstance(step, Whole):
        await check(step.parts, sent)
    else:
        item = step.make(texts.shown)
        if item is not None:
            yield item


@dataclass
class _OpenText:
    stream: OutputStream
    make: Make
    next_piece: asyncio.Future[str | None]


class _OpenTexts:
    """The open texts of an answer."""

    def __init__(self, guard: AsyncGuard, sent: SentRequest, stack: AsyncExitStack, log: Callable[[Any], None]) -> None:
        self._guard = guard
        self._sent = sent
        self._stack = stack
        self._log = log
        self._open: dict[Hashable, _OpenText] = {}
        #: The released part of each text.
        self.shown: dict[Hashable, str] = {}
        stack.push_async_callback(self._cancel)

    def keys(self) -> list[Hashable]:
        """The keys of the open texts."""
        return list(self._open)

    def waiting(self) -> list[asyncio.Future[str | None]]:
        return [text.next_piece for text in self._open.values()]

    def released(self) -> list[Any]:
        """Returns items for the text that was released since the last call."""
        items = []
        for key, text in self._open.items():
            while text.next_piece.done() and (piece := text.next_piece.result()) is not None:
                items.append(self._show(key, text, piece))
                text.next_piece = asyncio.ensure_future(text.stream.next())
        return items

    async def push(self, step: Text) -> None:
        text = self._open.get(step.key)
        if text is None:
            vault = None if step.is_reasoning else self._sent.vault
            stream = await self._stack.enter_async_context(
                self._guard.output_stream(self._sent.prompt, vault=vault, **self._sent.chat())
            )
            text = self._open[step.key] = _OpenText(stream, step.make, asyncio.ensure_future(stream.next()))
        text.make = step.make
        await text.stream.push(step.text)

    async def close(self, key: Hashable) -> AsyncIterator[Any]:
        text = self._open.get(key)
        if text is None:
            return
        await text.stream.finish()
        while (piece := await text.next_piece) is not None:
            yield self._show(key, text, piece)
            text.next_piece = asyncio.ensure_future(text.stream.next())
        del self._open[key]
        if text.stream.report is not None:
            self._log(text.stream.report.raw)

    def _show(self, key: Hashable, text: _OpenText, piece: str) -> Any:
        self.shown[key] = self.shown.get(key, "") + piece
        return text.make(piece)

    async def _cancel(self) -> None:
        pending = self.waiting()
        for future in pending:
            future.cancel()
        await asyncio.gather(*pending, return_exceptions=True)
