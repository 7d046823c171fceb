"""The formats of LiteLLM's streams: chunks of chat and completions, Anthropic's SSE, and events of the Responses API."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping
from typing import Any, ClassVar

from litellm.types.utils import Delta, StreamingChoices

from .bodies import (
    SIGNED,
    Call,
    drop_copies,
    drop_thinking,
    get,
    is_checked_copy,
    put,
    read_function_call,
    read_parts,
    read_tool_call,
)
from .streams import Close, Emit, Make, Shape, Step, Text, Whole, whole_calls

Shown = Mapping[Hashable, str]


def detect_shape(item: Any) -> Shape:
    """Detects the format of a stream by its first item."""
    if isinstance(item, (bytes, str)):
        return MessagesShape()
    if isinstance(get(item, "choices"), list):
        return ChatShape()
    return ResponsesShape()


def emit(item: Any) -> Emit:
    return Emit(lambda _: item)


class ChatShape:
    """Chunks of chat completions and of completions."""

    def __init__(self) -> None:
        #: The tool calls of each choice by index, joined from their pieces.
        self._calls: dict[int, dict[int, Any]] = {}
        #: The original reasoning of each choice, and its signed copies by field.
        self._thought: dict[int, str] = {}
        self._signed: dict[int, dict[str, list[Any]]] = {}
        self._template: Any = None

    def read(self, item: Any) -> list[Step]:
        chunk = item.model_copy(deep=True)
        self._template = chunk
        before: list[Step] = []
        after: list[Step] = []
        for choice in chunk.choices:
            index = choice.index or 0
            if getattr(choice, "logprobs", None) is not None:
                # Log probabilities spell the text, which may be held.
                choice.logprobs = None
            if getattr(choice, "delta", None) is None:
                before += self._take(choice, "text", (index, "text"), self._completion(index))
            else:
                before += self._read_delta(choice.delta, index)
            if choice.finish_reason:
                before += self._finish(index)
        if self._has_more(chunk):
            after.append(emit(chunk))
        # A chunk with a finish reason follows the text of its choice. A chunk with a role precedes it.
        return [*before, *after] if any(choice.finish_reason for choice in chunk.choices) else [*after, *before]

    def end(self) -> list[Step]:
        indexes = {*self._calls, *self._thought, *self._signed}
        return [step for index in sorted(indexes) for step in self._finish(index)]

    def _read_delta(self, delta: Any, index: int) -> list[Step]:
        steps: list[Step] = []
        thought = getattr(delta, "reasoning_content", None)
        if thought:
            self._thought[index] = self._thought.get(index, "") + thought
            steps += self._take(delta, "reasoning_content", (index, "reasoning_content"), self._chat(index), True)
        for field in SIGNED:
            if getattr(delta, field, None):
                self._signed.setdefault(index, {}).setdefault(field, []).extend(getattr(delta, field))
        drop_thinking(delta)
        for field in ("content", "refusal"):
            if getattr(delta, field, None):
                steps += self._close_reasoning(index)
                steps += self._take(delta, field, (index, field), self._chat(index))
        calls = getattr(delta, "tool_calls", None)
        if calls:
            for call in calls:
                self._join(index, call.index or 0, call)
            delta.tool_calls = None
        if getattr(delta, "function_call", None) is not None:
            self._join(index, -1, delta)
            delta.function_call = None
        return steps

    def _take(self, holder: Any, field: str, key: tuple[int, str], make: Any, is_reasoning: bool = False) -> list[Step]:
        text = getattr(holder, field, None)
        if not text:
            return []
        setattr(holder, field, None if field != "text" else "")
        return [Text(key, text, lambda piece: make(**{field: piece}), is_reasoning)]

    def _chat(self, index: int) -> Any:
        return lambda **delta: self._made(StreamingChoices(index=index, delta=Delta(**delta)))

    def _completion(self, index: int) -> Any:
        def make(text: str) -> Any:
            choice = self._template.choices[0].model_copy(deep=True)
            choice.text, choice.index, choice.finish_reason = text, index, None
            return self._made(choice)

        return make

    def _made(self, choice: Any) -> Any:
        chunk = self._template.model_copy(update={"choices": [choice]})
        if getattr(chunk, "usage", None) is not None:
            del chunk.usage
        return chunk

    def _close_reasoning(self, index: int) -> list[Step]:
        key = (index, "reasoning_content")
        thought, signed = self._thought.pop(index, None), self._signed.pop(index, None)
        steps: list[Step] = [Close(key)] if thought is not None else []
        if signed:
            made = self._chat(index)

            def copies(shown: Shown) -> Any:
                # Copies of unchecked or changed text are dropped.
                same = thought if thought is not None and shown.get(key, "").endswith(thought) else None
                kept = {
                    field: [item for item in items if is_checked_copy(item, same)] for field, items in signed.items()
                }
                return made(**kept) if any(kept.values()) else None

            steps.append(Emit(copies))
        return steps

    def _join(self, choice: int, index: int, piece: Any) -> None:
        calls = self._calls.setdefault(choice, {})
        if index not in calls:
            calls[index] = piece.model_copy(deep=True)
            return
        call = calls[index]
        for name, field in (("function", "arguments"), ("function_call", "arguments"), ("custom", "input")):
            old, new = getattr(call, name, None), getattr(piece, name, None)
            if old is not None and new is not None:
                setattr(old, field, (getattr(old, field, None) or "") + (getattr(new, field, None) or ""))
                if not getattr(old, "name", None) and getattr(new, "name", None):
                    old.name = new.name

    def _finish(self, index: int) -> list[Step]:
        steps = self._close_reasoning(index)
        steps += [Close((index, field)) for field in ("content", "refusal", "text")]
        calls = self._calls.pop(index, {})
        if calls:
            legacy = calls.pop(-1, None)
            listed = list(calls.values())
            read = [read_tool_call(call) for call in listed]
            if legacy is not None:
                function = legacy.function_call
                read.append(Call(function.name or "", function.arguments or "", None, _setter(function, "arguments")))
            delta = {"tool_calls": listed or None, "function_call": legacy.function_call if legacy else None}
            made = self._chat(index)
            steps += [whole_calls(read), Emit(lambda _: made(**delta))]
        return steps

    def _has_more(self, chunk: Any) -> bool:
        if getattr(chunk, "usage", None) is not None or not chunk.choices:
            return True
        for choice in chunk.choices:
            rest = getattr(choice, "delta", None)
            if choice.finish_reason or (rest is not None and any(rest.model_dump(exclude_none=True).values())):
                return True
        return False


class MessagesShape:
    """Server-sent events of Anthropic's messages and of Google's generateContent, in bytes that may be cut anywhere."""

    def __init__(self) -> None:
        self._held = b""
        self._google = GoogleShape()
        #: The open tool blocks: the event that started each, and its JSON so far.
        self._inputs: dict[int, tuple[dict[str, Any], str]] = {}

    def read(self, item: Any) -> list[Step]:
        self._held += item.encode() if isinstance(item, str) else item
        steps: list[Step] = []
        while (found := _frame_end(self._held)) is not None:
            frame, self._held = self._held[:found], self._held[found:]
            steps += self._read_frame(frame)
        return steps

    def end(self) -> list[Step]:
        rest, self._held = self._held, b""
        return self._read_frame(rest) if rest.strip() else []

    def _read_frame(self, frame: bytes) -> list[Step]:
        lines = frame.decode("utf-8", "replace").splitlines()
        data = "\n".join(line[5:].lstrip(" ") for line in lines if line.startswith("data:"))
        try:
            event = json.loads(data)
        except ValueError:
            event = None
        if not isinstance(event, dict):
            return [emit(frame)]
        if "candidates" in event:
            return self._google.read(event)
        index = event.get("index", 0)
        kind = event.get("type")
        if kind == "content_block_start" and _type_of(event, "content_block") in ("tool_use", "server_tool_use"):
            self._inputs[index] = (event, "")
            return []
        if kind == "content_block_delta":
            return self._read_delta(event, index, frame)
        if kind == "content_block_stop":
            if index in self._inputs:
                return [*self._finish_input(index), emit(frame)]
            return [Close(index), emit(frame)]
        return [emit(frame)]

    def _read_delta(self, event: dict[str, Any], index: int, frame: bytes) -> list[Step]:
        kind = _type_of(event, "delta")
        if kind == "input_json_delta" and index in self._inputs:
            start, joined = self._inputs[index]
            self._inputs[index] = (start, joined + (event["delta"].get("partial_json") or ""))
            return []
        field = {"text_delta": "text", "thinking_delta": "thinking"}.get(kind or "")
        if field is None:
            # A signature follows the reasoning that it signs.
            return [Close(index), emit(frame)] if kind == "signature_delta" else [emit(frame)]

        def make(piece: str) -> bytes:
            return _sse({**event, "delta": {**event["delta"], field: piece}})

        return [Text(index, event["delta"].get(field) or "", make, field == "thinking")]

    def _finish_input(self, index: int) -> list[Step]:
        start, joined = self._inputs.pop(index)
        block = start["content_block"]
        holder = {"arguments": joined or json.dumps(block.get("input") or {})}
        call = Call(block.get("name") or "", holder["arguments"], block.get("id"), _setter(holder, "arguments"))

        def delta(_: Shown) -> bytes:
            changed = {"type": "input_json_delta", "partial_json": holder["arguments"]}
            return _sse({"type": "content_block_delta", "index": index, "delta": changed})

        return [whole_calls([call]), emit(_sse(start)), Emit(delta)]


class GoogleShape:
    """Chunks of Google's generateContent. A function call is never split."""

    def read(self, event: dict[str, Any]) -> list[Step]:
        steps: list[Step] = []
        ends: list[dict[str, Any]] = []
        about = {name: value for name, value in event.items() if name not in ("candidates", "usageMetadata")}
        for place, candidate in enumerate(event["candidates"]):
            index = candidate.get("index", place)
            content = candidate.get("content") or {}

            def chunk(part: Any, index: int = index, content: Any = content) -> bytes:
                return _data({**about, "candidates": [{"content": {**content, "parts": [part]}, "index": index}]})

            for part in content.get("parts") or []:
                steps += self._read_part(part, index, chunk)
            # A chunk of a text alone repeats what the last one says.
            if candidate.get("finishReason"):
                steps += [Close((index, True)), Close((index, False))]
                drop_copies(candidate)
                ends.append({**candidate, "content": {**content, "parts": []}})
        if ends or not event["candidates"]:
            end = {**event, "candidates": ends} if ends else event
            steps.append(emit(_data(end)))
        return steps

    def _read_part(self, part: dict[str, Any], index: int, chunk: Any) -> list[Step]:
        is_thought = bool(part.get("thought"))
        text, rest = part.get("text"), {name: value for name, value in part.items() if name != "text"}
        steps: list[Step] = [Close((index, not is_thought))]
        if isinstance(text, str):
            mark = {"thought": True} if is_thought else {}
            steps.append(Text((index, is_thought), text, lambda piece: chunk({**mark, "text": piece}), is_thought))
            rest.pop("thought", None)
            if "thoughtSignature" in rest:
                # The signature of a text is in a part with an empty one.
                rest = {**mark, "text": "", **rest}
        if not rest:
            return steps
        steps.append(Close((index, is_thought)))
        if isinstance(rest.get("functionCall"), dict):
            steps.append(whole_calls([read_function_call(rest["functionCall"])]))
        return [*steps, Emit(lambda _: chunk(rest))]


class ResponsesShape:
    """Events of the Responses API. Later events repeat finished texts, which are replaced there too."""

    #: The events with pieces of text, and the field of the last event with the whole text.
    TEXTS: ClassVar[dict[str, str]] = {
        "response.output_text": "text",
        "response.refusal": "refusal",
        "response.reasoning_text": "text",
        "response.reasoning_summary_text": "text",
    }
    CALLS: ClassVar[dict[str, str]] = {
        "response.function_call_arguments": "arguments",
        "response.mcp_call_arguments": "arguments",
        "response.custom_tool_call_input": "input",
    }

    def __init__(self) -> None:
        self._number = 0
        #: The sanitized arguments of tool calls, by the index of the item.
        self._arguments: dict[int, dict[str, str]] = {}
        #: The started items, which contain the names of the called tools.
        self._items: dict[int, Any] = {}
        #: The indexes of items that arrived in pieces.
        self._in_pieces: set[int] = set()

    def read(self, item: Any) -> list[Step]:
        event = item.model_copy(deep=True) if hasattr(item, "model_copy") else dict(item)
        kind = str(getattr(get(event, "type"), "value", get(event, "type")) or "")
        stem, _, end = kind.rpartition(".")
        index = get(event, "output_index") or 0
        if stem in self.TEXTS or stem in self.CALLS:
            self._in_pieces.add(index)
        if stem in self.TEXTS:
            key = self._key(stem, event)
            if end == "delta":
                put(event, "logprobs", []) if get(event, "logprobs") else None
                is_reasoning = stem.startswith("response.reasoning")
                return [Text(key, get(event, "delta") or "", self._maker(event), is_reasoning)]
            field = self.TEXTS[stem]
            return [Close(key), Emit(lambda shown: self._numbered(event, {field: shown.get(key, "")}))]
        if stem in self.CALLS:
            return [] if end == "delta" else self._finish_call(event, stem, index)
        if kind == "response.output_item.added":
            self._items[index] = get(event, "item")
        items = list(enumerate(get(get(event, "response") or {}, "output") or []))
        if get(event, "item") is not None:
            items.append((index, get(event, "item")))
        parts = [
            part for place, item in items if place not in self._in_pieces for part in read_parts({"output": [item]})
        ]
        return [*([Whole(parts)] if parts else []), Emit(lambda shown: self._repeated(event, items, shown))]

    def end(self) -> list[Step]:
        return []

    @staticmethod
    def _key(stem: str, event: Any) -> Hashable:
        place = "summary_index" if stem == "response.reasoning_summary_text" else "content_index"
        return (get(event, "output_index") or 0, place, get(event, place) or 0)

    def _maker(self, event: Any) -> Make:
        def make(piece: str) -> Any:
            copied = event.model_copy() if hasattr(event, "model_copy") else dict(event)
            return self._numbered(copied, {"delta": piece})

        return make

    def _numbered(self, event: Any, fields: Mapping[str, Any]) -> Any:
        for name, value in fields.items():
            put(event, name, value)
        if get(event, "sequence_number") is not None:
            put(event, "sequence_number", self._number)
        self._number += 1
        return event

    def _finish_call(self, event: Any, stem: str, index: int) -> list[Step]:
        field = self.CALLS[stem]
        holder = self._arguments[index] = {field: get(event, field) or ""}
        begun = self._items.get(index)
        call = Call(get(begun, "name") or "", holder[field], get(begun, "call_id"), _setter(holder, field))
        return [whole_calls([call]), Emit(lambda _: self._numbered(event, holder))]

    def _repeated(self, event: Any, items: list[tuple[int, Any]], shown: Shown) -> Any:
        """Replaces repetitions of texts and tool calls that arrived in pieces before."""
        index = get(event, "output_index") or 0
        part = get(event, "part")
        if part is not None:
            self._replace_part(part, (index, get(event, "content_index"), get(event, "summary_index")), shown)
        for place, item in items:
            if place in self._in_pieces:
                self._replace_item(item, place, shown)
        return self._numbered(event, {})

    def _replace_part(self, part: Any, place: tuple[int, Any, Any], shown: Shown) -> None:
        index, content, summary = place
        key = (index, "content_index", content) if content is not None else (index, "summary_index", summary or 0)
        for field in ("text", "refusal"):
            if isinstance(get(part, field), str) and get(part, field):
                put(part, field, shown.get(key, ""))
                if get(part, "logprobs"):
                    put(part, "logprobs", [])

    def _replace_item(self, item: Any, index: int, shown: Shown) -> None:
        for place, part in enumerate(get(item, "content") or []):
            self._replace_part(part, (index, place, None), shown)
        for place, part in enumerate(get(item, "summary") or []):
            self._replace_part(part, (index, None, place), shown)
        for field, value in self._arguments.get(index, {}).items():
            put(item, field, value)


def _setter(holder: Any, field: str) -> Any:
    return lambda value: put(holder, field, value)


def _type_of(event: dict[str, Any], field: str) -> str | None:
    value = event.get(field)
    return value.get("type") if isinstance(value, dict) else None


def _frame_end(held: bytes) -> int | None:
    """Returns the end of the first complete event, which is after an empty line."""
    ends = [found + len(mark) for mark in (b"\n\n", b"\r\n\r\n") if (found := held.find(mark)) >= 0]
    return min(ends, default=None)


def _data(event: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


def _sse(event: dict[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n".encode()
