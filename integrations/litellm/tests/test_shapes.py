"""Tests stream formats that the fake models of the proxy's tests lack, with a real guard server."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from guard_scan import AsyncGuard, Guard, GuardBlockedError
from guard_server import TOKEN, guard_server
from litellm.types.utils import ModelResponseStream

from guard_litellm.bodies import Part, SentRequest
from guard_litellm.streams import guard_stream

MASKED = "Write to [REDACTED_EMAIL_ADDRESS_1]."
RESTORED = "Write to ann@example.com."


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with guard_server() as server:
        yield server


async def coming(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        await asyncio.sleep(0)
        yield item


def through(url: str, items: list[Any], shown: list[Any] | None = None) -> list[Any]:
    """Passes the items of a stream through guard."""
    with Guard(url, TOKEN) as guard:
        vault = guard.scan_prompt("ann@example.com").vault
    made: list[Any] = [] if shown is None else shown

    async def run() -> None:
        async with AsyncGuard(url, TOKEN) as guard:

            async def check(parts: list[Part], sent: SentRequest) -> None:
                for part in parts:
                    calls = [call.openai() for call in part.calls]
                    report = await guard.scan_output("", part.text, tool_calls=calls, vault=sent.vault)
                    report.raise_if_blocked()
                    part.take(report.sanitized_output, report.sanitized_tool_calls)

            async for item in guard_stream(guard, SentRequest(vault=vault), coming(items), check, logging.info):
                made.append(item)

    asyncio.run(run())
    return made


def chunk(delta: dict[str, Any], index: int = 0, finish: str | None = None, **more: Any) -> ModelResponseStream:
    return ModelResponseStream(
        id="c", model="m", choices=[{"index": index, "delta": delta, "finish_reason": finish, **more}]
    )


def deltas(chunks: list[Any], index: int = 0) -> list[dict[str, Any]]:
    return [
        choice.delta.model_dump(exclude_none=True)
        for item in chunks
        for choice in item.choices
        if choice.index == index
    ]


def joined(pieces: list[dict[str, Any]], field: str) -> str:
    return "".join(piece.get(field) or "" for piece in pieces)


def split(text: str) -> list[str]:
    return [text[start : start + 4] for start in range(0, len(text), 4)]


class TestChat:
    def test_choices_are_separate(self, url: str) -> None:
        items = [chunk({"content": piece}, index) for piece in split(MASKED) for index in (0, 1)]
        items += [chunk({}, 0, "stop"), chunk({}, 1, "length")]
        made = through(url, items)
        for index, finish in ((0, "stop"), (1, "length")):
            assert joined(deltas(made, index), "content") == RESTORED
            last = [choice for item in made for choice in item.choices if choice.index == index][-1]
            assert last.finish_reason == finish

    def test_reasoning_is_not_restored(self, url: str) -> None:
        block = {"type": "thinking", "thinking": MASKED, "signature": "signed"}
        items = [chunk({"role": "assistant", "reasoning_content": piece}) for piece in split(MASKED)]
        items += [
            chunk({"thinking_blocks": [block]}),
            *(chunk({"content": piece}) for piece in split(MASKED)),
            chunk({}, 0, "stop"),
        ]
        made = deltas(through(url, items))
        assert joined(made, "reasoning_content") == MASKED
        assert joined(made, "content") == RESTORED
        assert [delta["thinking_blocks"] for delta in made if delta.get("thinking_blocks")] == [[block]]

    def test_reasoning_is_checked(self, url: str) -> None:
        shown: list[Any] = []
        items = [*(chunk({"reasoning_content": piece}) for piece in split("I saw a giraffe.")), chunk({}, 0, "stop")]
        with pytest.raises(GuardBlockedError):
            through(url, items, shown)
        assert "giraffe" not in joined(deltas(shown), "reasoning_content")

    def test_unreadable_signed_reasoning_is_dropped(self, url: str) -> None:
        block = {"type": "thinking", "thinking": "I saw a giraffe.", "signature": "signed"}
        made = through(url, [chunk({"thinking_blocks": [block]}), chunk({"content": "Yes."}), chunk({}, 0, "stop")])
        assert joined(deltas(made), "content") == "Yes."
        assert "giraffe" not in str(made)

    def test_several_tool_calls_follow_the_text(self, url: str) -> None:
        arguments = [json.dumps({"to": MASKED}), json.dumps({"n": 1})]
        items = [chunk({"role": "assistant", "content": "I write."})]
        for index, text in enumerate(arguments):
            call = {
                "index": index,
                "id": f"call_{index}",
                "type": "function",
                "function": {"name": f"f{index}", "arguments": ""},
            }
            items.append(chunk({"tool_calls": [call]}))
            items += [
                chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}) for piece in split(text)
            ]
        made = deltas(through(url, [*items, chunk({}, 0, "tool_calls")]))
        [calls] = [delta["tool_calls"] for delta in made if delta.get("tool_calls")]
        assert [(call["id"], call["function"]["name"]) for call in calls] == [("call_0", "f0"), ("call_1", "f1")]
        assert [json.loads(call["function"]["arguments"]) for call in calls] == [{"to": RESTORED}, {"n": 1}]
        assert joined(made, "content") == "I write."

    def test_a_stream_may_end_without_a_finish_reason(self, url: str) -> None:
        made = through(url, [chunk({"content": piece}, index) for piece in split(MASKED) for index in (0, 1)])
        assert [joined(deltas(made, index), "content") for index in (0, 1)] == [RESTORED, RESTORED]

    def test_log_probabilities_are_dropped(self, url: str) -> None:
        logprobs = {"content": [{"token": "giraffe", "logprob": 0.0, "top_logprobs": []}]}
        made = through(url, [chunk({"content": "Hello."}, logprobs=logprobs), chunk({}, 0, "stop")])
        assert "giraffe" not in str(made)


def sse(*events: dict[str, Any], end: str = "\n") -> bytes:
    return "".join(f"event: {event['type']}{end}data: {json.dumps(event)}{end}{end}" for event in events).encode()


def block(index: int, start: dict[str, Any], *pieces: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": piece} for piece in pieces),
        {"type": "content_block_stop", "index": index},
    ]


class TestMessages:
    THOUGHTS = block(
        0,
        {"type": "thinking", "thinking": ""},
        *({"type": "thinking_delta", "thinking": piece} for piece in split(MASKED)),
        {"type": "signature_delta", "signature": "signed"},
    )
    TEXT = block(1, {"type": "text", "text": ""}, *({"type": "text_delta", "text": piece} for piece in split(MASKED)))

    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("size", [1, 7, 100_000])
    def test_bytes_may_be_split_anywhere(self, url: str, end: str, size: int) -> None:
        whole = sse({"type": "ping"}, *self.THOUGHTS, *self.TEXT, {"type": "message_stop"}, end=end)
        made = b"".join(through(url, [whole[start : start + size] for start in range(0, len(whole), size)])).decode()
        events = [json.loads(line[5:]) for line in made.splitlines() if line.startswith("data:")]
        kinds = [event["type"] for event in events]
        assert (kinds[0], kinds[-1]) == ("ping", "message_stop")
        pieces = [event["delta"] for event in events if event["type"] == "content_block_delta"]
        assert joined(pieces, "thinking") == MASKED
        assert joined(pieces, "text") == RESTORED
        # The signature follows the reasoning, and precedes the end of its block.
        order = [delta["type"] for delta in pieces]
        assert order.index("signature_delta") == order.count("thinking_delta")

    def test_other_lines_pass(self, url: str) -> None:
        assert through(url, [b": comment\n\n", b"data: [DONE]\n\n", b"data: 1"]) == [
            b": comment\n\n",
            b"data: [DONE]\n\n",
            b"data: 1",
        ]


class TestGoogle:
    def events(self, made: list[bytes]) -> list[dict[str, Any]]:
        return [json.loads(frame.decode().removeprefix("data:")) for frame in made]

    def chunk(self, *parts: dict[str, Any], **more: Any) -> bytes:
        candidate = {"content": {"role": "model", "parts": list(parts)}, "index": 0, **more}
        return f"data: {json.dumps({'candidates': [candidate], 'modelVersion': 'm'})}\r\n\r\n".encode()

    @pytest.mark.parametrize("size", [1, 7, 1000])
    def test_thoughts_are_not_restored_and_texts_are(self, url: str, size: int) -> None:
        supports = [{"segment": {"startIndex": 0, "text": MASKED}}]
        grounding = {"webSearchQueries": ["lions"], "groundingSupports": supports}
        raw = b"".join(
            [
                self.chunk({"text": MASKED, "thought": True}),
                self.chunk({"text": MASKED[:9]}),
                self.chunk({"text": MASKED[9:], "thoughtSignature": "c2lnbmVk"}),
                self.chunk(finishReason="STOP", groundingMetadata=grounding, logprobsResult={"topCandidates": []}),
            ]
        )
        events = self.events(through(url, [raw[at : at + size] for at in range(0, len(raw), size)]))
        parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
        assert "".join(part["text"] for part in parts if part.get("thought")) == MASKED
        assert "".join(part["text"] for part in parts if not part.get("thought")) == RESTORED
        assert parts[-1] == {"text": "", "thoughtSignature": "c2lnbmVk"}
        last = events[-1]["candidates"][0]
        assert (last["finishReason"], last["logprobsResult"], last["groundingMetadata"]["webSearchQueries"]) == (
            "STOP",
            None,
            ["lions"],
        )
        assert last["groundingMetadata"]["groundingSupports"] == [{"segment": {"startIndex": 0, "text": ""}}]

    def test_function_calls_are_checked_and_restored(self, url: str) -> None:
        call = {"functionCall": {"name": "note", "args": {"text": MASKED}}, "thoughtSignature": "c2lnbmVk"}
        events = self.events(through(url, [self.chunk({"text": "Hello."}, call, finishReason="STOP")]))
        parts = [part for event in events for part in event["candidates"][0]["content"]["parts"]]
        assert "".join(part["text"] for part in parts[:-1]) == "Hello."
        assert parts[-1] == {**call, "functionCall": {"name": "note", "args": {"text": RESTORED}}}

    def test_a_blocked_text_is_not_shown(self, url: str) -> None:
        shown: list[Any] = []
        with pytest.raises(GuardBlockedError):
            through(url, [self.chunk({"text": "It is the giraffe."}, finishReason="STOP")], shown)
        assert b"giraffe" not in b"".join(shown)

    def test_other_chunks_pass(self, url: str) -> None:
        usage = {"usageMetadata": {"totalTokenCount": 2}, "candidates": []}
        assert self.events(through(url, [f"data: {json.dumps(usage)}\n\n"])) == [usage]


class TestResponses:
    def item(self, text: str) -> dict[str, Any]:
        part = {"type": "output_text", "text": text, "annotations": []}
        return {"type": "message", "id": "m", "role": "assistant", "content": [part]}

    def test_unstreamed_text_is_checked(self, url: str) -> None:
        made = through(
            url, [{"type": "response.completed", "sequence_number": 5, "response": {"output": [self.item(MASKED)]}}]
        )
        assert made[0]["response"]["output"][0]["content"][0]["text"] == RESTORED
        with pytest.raises(GuardBlockedError):
            through(url, [{"type": "response.output_item.done", "output_index": 0, "item": self.item("A giraffe.")}])

    def test_a_differing_repetition_is_not_shown(self, url: str) -> None:
        at = {"output_index": 0, "content_index": 0, "item_id": "m"}
        made = through(
            url,
            [
                {"type": "response.output_text.delta", **at, "delta": "Hello."},
                {"type": "response.output_text.done", **at, "text": "A giraffe."},
                {"type": "response.completed", "response": {"output": [self.item("A giraffe.")]}},
            ],
        )
        assert "giraffe" not in json.dumps(made)
        assert made[-1]["response"]["output"][0]["content"][0]["text"] == "Hello."
