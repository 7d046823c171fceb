"""Tests streams with a real server, and with a server that sends invalid replies."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import pytest
from conftest import Fake
from guard_server import TOKEN

from guard_scan import (
    AsyncGuard,
    Guard,
    GuardBlockedError,
    GuardError,
    GuardProblemError,
    GuardReplyError,
    GuardUnavailableError,
)

#: Pushes pieces, and returns the released texts.
Stream = Callable[..., list[str]]


async def coming(pieces: Iterable[str]) -> AsyncIterator[str]:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


def stream_with(kind: str, url: str, token: str = TOKEN, **options: Any) -> Stream:
    def stream(pieces: Iterable[str], into: list[str] | None = None, **more: Any) -> list[str]:
        shown: list[str] = [] if into is None else into
        if kind == "Guard":
            with Guard(url, token, **options) as guard:
                for text in guard.scan_output_stream("A question", pieces, **more):
                    shown.append(text)
            return shown

        async def run() -> None:
            async with AsyncGuard(url, token, **options) as guard, guard.output_stream("A question", **more) as checked:
                async for text in checked.checked(coming(pieces)):
                    shown.append(text)
                assert checked.report is not None

        asyncio.run(run())
        return shown

    return stream


@pytest.fixture
def stream(kind: str, url: str) -> Stream:
    return stream_with(kind, url)


def pieces_of(text: str, rand: random.Random) -> list[str]:
    cuts = sorted(rand.sample(range(1, len(text)), rand.randint(0, min(20, len(text) - 1))))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)])]


def test_restores_values_split_between_pieces(kind: str, url: str) -> None:
    with Guard(url, TOKEN) as guard:
        vault = guard.scan_prompt("ann@example.com").vault
    answer = (
        "Dear [REDACTED_EMAIL_ADDRESS_1], all is well. 🦁 Greetings to [REDACTED_EMAIL_ADDRESS_1]! Yours, the model."
    )
    rand = random.Random(7)
    for _ in range(10):
        shown = stream_with(kind, url)(pieces_of(answer, rand), vault=vault)
        assert "".join(shown) == answer.replace("[REDACTED_EMAIL_ADDRESS_1]", "ann@example.com")


def test_releases_text_before_the_end(url: str) -> None:
    async def run() -> None:
        async with AsyncGuard(url, TOKEN) as guard, guard.output_stream("A question") as stream:
            await stream.push("This is the first sentence. " * 20)
            first = await asyncio.wait_for(stream.next(), 20)
            assert first is not None
            assert first.startswith("This is the first sentence.")
            assert stream.report is None
            await stream.finish()
            rest = []
            while (text := await stream.next()) is not None:
                rest.append(text)
            assert first + "".join(rest) == "This is the first sentence. " * 20
            assert stream.report is not None
            assert stream.report.outcome == "passed"

    asyncio.run(run())


def test_survives_a_pause_of_the_model(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("guard_scan.stream.KEEP_ALIVE_INTERVAL", 0.01)

    async def pausing() -> AsyncIterator[str]:
        for piece in ("Hello ", "wor", "ld. And so on."):
            yield piece
            await asyncio.sleep(0.1)

    async def run() -> str:
        async with AsyncGuard(url, TOKEN) as guard, guard.output_stream("A question") as stream:
            return "".join([text async for text in stream.checked(pausing())])

    assert asyncio.run(run()) == "Hello world. And so on."


def test_raises_if_blocked(stream: Stream) -> None:
    shown: list[str] = []
    with pytest.raises(GuardBlockedError, match=r"^The answer was blocked by guard: BanSubstrings\.$") as caught:
        stream(["It is easy. ", "It is the gira", "ffe. ", "Ask me more."], shown)
    assert "gira" not in "".join(shown)
    assert caught.value.report.results_valid["BanSubstrings"] is False


def test_accepts_an_empty_answer(stream: Stream) -> None:
    assert stream([]) == []
    assert "".join(stream(["", "", "Yes.", ""])) == "Yes."


def test_suppresses_checks(stream: Stream) -> None:
    assert "".join(stream(["A giraffe."], suppress=["BanSubstrings"])) == "A giraffe."


def test_raises_problems(kind: str, url: str) -> None:
    with pytest.raises(GuardProblemError, match="401"):
        stream_with(kind, url, "another")(["Hello."])
    with pytest.raises(GuardProblemError, match="vault"):
        stream_with(kind, url)(["Hello."], vault="nonsense")


def test_passes_errors_of_the_source_on(kind: str, url: str) -> None:
    def failing() -> Iterable[str]:
        yield "Hello."
        raise KeyError("of mine")

    with pytest.raises(KeyError, match="of mine"):
        stream_with(kind, url)(failing())


def test_the_reader_may_stop_early(url: str) -> None:
    with Guard(url, TOKEN) as guard:
        pieces = iter(["This is a sentence. "] * 10_000)
        for text in guard.scan_output_stream("A question", pieces):
            assert text
            break
        assert next(pieces, None) is not None


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (200, b"", GuardReplyError),
        (200, b"hello\n", GuardReplyError),
        (200, b"[]\n", GuardReplyError),
        (200, b'{"event":"text"}\n', GuardReplyError),
        (200, b'{"event":"text","text":"Hi."}\n', GuardReplyError),
        (200, b'{"event":"done"}\n', GuardReplyError),
        (200, b'{"event":"done","is_valid":true,"scanners":{}}\n', GuardReplyError),
        (200, b'{"event":"done","is_valid":false,"scanners":{},"outcome":"blocked"}\n', GuardReplyError),
        (200, b'{"event":"error","status":504,"detail":"The scan took longer than 30 s."}\n', GuardProblemError),
        (503, b'{"detail":"Too many scans are under way."}', GuardProblemError),
        (502, b"<html>", GuardProblemError),
    ],
)
def test_an_invalid_reply_never_passes(
    kind: str, fake: Fake, status: int, body: bytes, error: type[GuardError]
) -> None:
    fake.says(status, body)
    with pytest.raises(error):
        stream_with(kind, fake.url)(["Hello."])


def test_names_an_unreachable_server(kind: str) -> None:
    with pytest.raises(GuardUnavailableError, match=r"^The guard server could not be reached "):
        stream_with(kind, "http://127.0.0.1:9")(["Hello."])


def test_times_out(kind: str, fake: Fake) -> None:
    fake.says(200, b"")
    fake.delay.clear()
    with pytest.raises(GuardUnavailableError, match=r"within 0\.3 s"):
        stream_with(kind, fake.url, timeout=0.3)(["Hello."])
