"""Answers that arrive in pieces: what of them is text, and how text that may be shown becomes pieces again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Protocol, Union

from guard_scan import AsyncGuard, OutputStream

from .bodies import Call, Part, Sent

#: Makes an item of the stream of text that may be shown.
Make = Callable[[str], Any]


@dataclass
class Text:
    """The next piece of one of the texts of an answer."""

    key: Hashable
    text: str
    make: Make
    #: What a model thinks may be signed, so that nothing is restored in it.
    is_reasoning: bool = False


@dataclass
class Close:
    """A text has ended: what is left of it comes before what follows."""

    key: Hashable


@dataclass
class Whole:
    """Parts that are complete, such as tool calls. They are checked, and what may be shown is put into their places."""

    parts: list[Part]


def whole_calls(calls: list[Call]) -> Whole:
    return Whole([Part("", lambda _: None, calls=calls)])


@dataclass
class Emit:
    """An item goes out. It is made when its turn comes, with the texts that have been shown by then."""

    make: Callable[[Mapping[Hashable, str]], Any]


Step = Union[Text, Close, Whole, Emit]


class Shape(Protocol):
    """The form of a stream."""

    def read(self, item: Any) -> list[Step]:
        """Turns an item of the model's stream into steps."""

    def end(self) -> list[Step]:
        """What is left when the stream has ended without saying so."""


#: Checks parts of an answer and puts what may be shown into their places.
Check = Callable[[list[Part], Sent], Awaitable[None]]


async def guarded_stream(
    guard: AsyncGuard, sent: Sent, source: AsyncIterable[Any], check: Check, log: Callable[[Any], None]
) -> AsyncGenerator[Any, None]:
    """Gives the items of an answer as soon as the checks allow it."""
    from .shapes import shape_of

    items = source.__aiter__()
    shape: Shape | None = None
    async with AsyncExitStack() as stack:
        texts = _Texts(guard, sent, stack, log)
        coming = asyncio.ensure_future(_next(items))
        try:
            while True:
                await asyncio.wait({coming, *texts.waiting()}, return_when=asyncio.FIRST_COMPLETED)
                for item in texts.released():
                    yield item
                if not coming.done():
                    continue
                item = coming.result()
                if item is _END:
                    break
                shape = shape or shape_of(item)
                for step in shape.read(item):
                    async for made in _run(step, texts, sent, check):
                        yield made
                coming = asyncio.ensure_future(_next(items))
            for step in [*(shape.end() if shape else []), *map(Close, texts.keys())]:
                async for made in _run(step, texts, sent, check):
                    yield made
        finally:
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)


_END = object()


async def _next(items: AsyncIterator[Any]) -> Any:
    # A task cannot raise StopAsyncIteration.
    async for item in items:
        return item
    return _END


async def _run(step: Step, texts: _Texts, sent: Sent, check: Check) -> AsyncIterator[Any]:
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
class _Open:
    stream: OutputStream
    make: Make
    coming: asyncio.Future[str | None]


class _Texts:
    """The texts of an answer that are being checked."""

    def __init__(self, guard: AsyncGuard, sent: Sent, stack: AsyncExitStack, log: Callable[[Any], None]) -> None:
        self._guard = guard
        self._sent = sent
        self._stack = stack
        self._log = log
        self._open: dict[Hashable, _Open] = {}
        #: What has been shown of each text.
        self.shown: dict[Hashable, str] = {}
        stack.push_async_callback(self._cancel)

    def keys(self) -> list[Hashable]:
        """The texts that have not ended."""
        return list(self._open)

    def waiting(self) -> list[asyncio.Future[str | None]]:
        return [text.coming for text in self._open.values()]

    def released(self) -> list[Any]:
        """Items of what may be shown by now."""
        items = []
        for key, text in self._open.items():
            while text.coming.done() and (piece := text.coming.result()) is not None:
                items.append(self._show(key, text, piece))
                text.coming = asyncio.ensure_future(text.stream.next())
        return items

    async def push(self, step: Text) -> None:
        text = self._open.get(step.key)
        if text is None:
            vault = None if step.is_reasoning else self._sent.vault
            stream = await self._stack.enter_async_context(
                self._guard.output_stream(self._sent.prompt, vault=vault, **self._sent.chat())
            )
            text = self._open[step.key] = _Open(stream, step.make, asyncio.ensure_future(stream.next()))
        text.make = step.make
        await text.stream.push(step.text)

    async def close(self, key: Hashable) -> AsyncIterator[Any]:
        text = self._open.get(key)
        if text is None:
            return
        await text.stream.finish()
        while (piece := await text.coming) is not None:
            yield self._show(key, text, piece)
            text.coming = asyncio.ensure_future(text.stream.next())
        del self._open[key]
        if text.stream.report is not None:
            self._log(text.stream.report.raw)

    def _show(self, key: Hashable, text: _Open, piece: str) -> Any:
        self.shown[key] = self.shown.get(key, "") + piece
        return text.make(piece)

    async def _cancel(self) -> None:
        coming = self.waiting()
        for future in coming:
            future.cancel()
        await asyncio.gather(*coming, return_exceptions=True)
