"""Finds the texts in requests of clients and in answers of models."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Callable

from guard_scan import AsyncGuard, GuardReplyError, InputReport

#: The call types with a conversation, and the field of its messages.
CONVERSATIONS = {
    "completion": "messages",
    "acompletion": "messages",
    "anthropic_messages": "messages",
    "aanthropic_messages": "messages",
    "responses": "input",
    "aresponses": "input",
    "compact_responses": "input",
    "acompact_responses": "input",
}

#: The call types of Google's `generateContent`, with `contents` as the messages.
GOOGLE = ("generate_content", "agenerate_content", "generate_content_stream", "agenerate_content_stream")

#: The call types with texts, and their fields: a text, a list of texts, or a list of parts with a ``text``.
TEXTS = {
    "text_completion": ("prompt", "suffix"),
    "atext_completion": ("prompt", "suffix"),
    "embeddings": ("input",),
    "aembedding": ("input",),
    "moderation": ("input",),
    "amoderation": ("input",),
    "audio_transcription": ("prompt",),
    "transcription": ("prompt",),
    "atranscription": ("prompt",),
    "speech": ("input", "instructions"),
    "aspeech": ("input", "instructions"),
    "image_generation": ("prompt",),
    "aimage_generation": ("prompt",),
    "image_edit": ("prompt",),
    "aimage_edit": ("prompt",),
    "rerank": ("query", "documents"),
    "arerank": ("query", "documents"),
    "search": ("query",),
    "asearch": ("query",),
    "vector_store_search": ("query",),
    "avector_store_search": ("query",),
    **{
        f"{prefix}{name}": ("prompt",)
        for prefix in ("", "a")
        for name in ("create_video", "video_generation", "video_remix", "video_edit", "video_extension")
    },
}

#: The call types that send no text to a model: they read, list and remove what is stored, or store files and batches, whose records
#: LiteLLM passes to the callback one by one.
WITHOUT_TEXT = re.compile(
    r"^a?(?:(?:list|get|retrieve|delete|cancel)_\w+|(?:file|batch)_\w+|create_(?:file|batch|fine_tuning_job|container))$"
    r"|_(?:list|retrieve|retrieve_job|delete|status|get_character)$|(?:file|video)_content$"
)

#: Fields of a request that LiteLLM uses itself.
LITELLM_FIELDS = frozenset(
    "model metadata litellm_metadata user api_key api_base base_url api_version headers extra_headers timeout stream tags guardrails cache "
    "caching num_retries fallbacks mock_response litellm_call_id litellm_trace_id litellm_session_id".split()
)


@dataclass
class SentRequest:
    """The sanitized request. Some checks compare the answer with it."""

    prompt: str = ""
    messages: list[Any] | None = None
    tools: list[Any] | None = None
    system: Any = None
    #: The sealed vault with the replaced values. It is secret: it is neither in the data of the call nor in a log.
    vault: str | None = field(default=None, repr=False)

    def chat(self) -> dict[str, Any]:
        return {"messages": self.messages, "tools": self.tools, "system": self.system}


#: The field of the system prompt, by the field of the messages. Google's is read as one of the other fields, because it is an object.
SYSTEM_FIELDS = {"input": "instructions", "messages": "system"}


async def check_conversation(
    guard: AsyncGuard, data: dict[str, Any], key: str, names: Iterable[str] | None = None
) -> tuple[InputReport, SentRequest]:
    """
    Checks the conversation in the data of a call, and replaces it by the sanitized one.

    :param names: the fields that the client sent. Default: those in LiteLLM's record of the request.
    """
    given, tools, functions = data.get(key), data.get("tools") or [], data.get("functions") or []
    # Google takes one content in place of a list.
    listed: list[Any] = [given] if isinstance(given, dict) else list(given or [])
    messages = [{"role": "user", "content": given}] if isinstance(given, str) else listed
    beside = SYSTEM_FIELDS.get(key, "")
    fields = read_fields(data, {key, beside, "tools", "functions"}, names)
    report = await guard.scan_conversation(
        # A call of the Responses API may consist of instructions only.
        messages or [{"role": "user", "content": ""}],
        tools=[*tools, *({"type": "function", "function": function} for function in functions)],
        system=data.get(beside),
        fields=fields,
    )
    report.raise_if_blocked()
    sanitized, definitions = report.sanitized_messages, report.sanitized_tools or []
    if isinstance(given, str):
        data[key] = sanitized[0]["content"]
    elif messages:
        data[key] = sanitized[0] if isinstance(given, dict) else sanitized
    if tools:
        data["tools"] = definitions[: len(tools)]
    if functions:
        data["functions"] = [definition["function"] for definition in definitions[len(tools) :]]
    if data.get(beside):
        data[beside] = report.sanitized_system
    put_fields(data, fields, report.sanitized_fields)
    system = report.sanitized_system or _google_system(data)
    return report, SentRequest(report.sanitized_prompt, sanitized, report.sanitized_tools, system, report.vault)


def _google_system(data: dict[str, Any]) -> list[dict[str, Any]] | None:
    """Returns the system instruction of Google as parts with a type."""
    instruction = data.get("systemInstruction") or data.get("system_instruction")
    parts = get(instruction, "parts") if isinstance(instruction, dict) else None
    texts = [get(part, "text") for part in parts or [] if isinstance(part, dict)]
    return [{"type": "text", "text": text} for text in texts if isinstance(text, str)] or None


async def check_tool_definition(guard: AsyncGuard, data: dict[str, Any]) -> tuple[InputReport, SentRequest]:
    """Checks the description and the schema of an MCP tool, and replaces them by the sanitized ones."""
    names = {"name": "mcp_tool_name", "description": "mcp_tool_description", "inputSchema": "mcp_input_schema"}
    tool = {key: data[name] for key, name in names.items() if data.get(name)}
    report = await guard.scan_conversation([{"role": "user", "content": ""}], tools=[tool])
    report.raise_if_blocked()
    for key, value in (report.sanitized_tools or [{}])[0].items():
        if key != "name" and value != tool.get(key):
            data[names[key]] = value
    return report, SentRequest()


#: Fields with texts of requests to any API. All other fields are read if they may have a text.
ANY_TEXTS = ("prompt", "input", "inputs", "query", "question", "text", "texts", "documents", "instructions")
#: Fields that LiteLLM adds to the body of a pass-through request, or uses itself.
PASS_THROUGH_FIELDS = frozenset(("litellm_logging_obj", "metadata", "model", "stream"))


async def check_body(
    guard: AsyncGuard, data: dict[str, Any], call_type: str
) -> tuple[InputReport | None, SentRequest] | None:
    """Checks the body of a request to an API that guard does not know. None if LiteLLM does not show the body."""
    is_pass_through = call_type == "pass_through_endpoint"
    names = [name for name in data if name not in PASS_THROUGH_FIELDS] if is_pass_through else None
    sent = sent_names(data) if names is None else names
    # A connection of a WebSocket has no body, and the parts of a form are not shown.
    if not sent or "litellm_logging_obj" not in data:
        return None
    for key in ("messages", "contents", "input"):
        value = data.get(key)
        if key in sent and isinstance(value, list) and all(isinstance(item, dict) for item in value):
            return await check_conversation(guard, data, key, names)
    texts = tuple(key for key in ANY_TEXTS if key in sent and _is_texts(data[key]))
    return await check_texts(guard, data, texts, names)


def _is_texts(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def sent_names(data: dict[str, Any]) -> list[str]:
    """Returns the names of the fields that the client sent."""
    body = get(data.get("proxy_server_request") or {}, "body")
    return [name for name in body if name in data] if isinstance(body, dict) else []


def read_fields(data: dict[str, Any], handled: set[str], names: Iterable[str] | None = None) -> dict[str, Any]:
    """Returns the fields that the client sent beside those of the call type, if they may have texts."""
    return {
        name: data[name]
        for name in (sent_names(data) if names is None else names)
        if name not in handled
        and (name not in LITELLM_FIELDS or names is not None)
        and isinstance(data[name], (str, list, dict))
        and data[name]
    }


def put_fields(data: dict[str, Any], given: dict[str, Any], sanitized: dict[str, Any] | None) -> None:
    """Replaces the fields that changed."""
    for name, value in (sanitized or {}).items():
        if name in given and value != given[name]:
            data[name] = value


def may_have_text(value: Any) -> bool:
    """Returns whether a value has more than a word, such as the name of a format."""
    if isinstance(value, str):
        return len(value) > 30 or not re.fullmatch(r"[\w.:/-]*", value, re.ASCII)
    if isinstance(value, dict):
        return any(map(may_have_text, [*value, *value.values()]))
    return isinstance(value, list) and any(map(may_have_text, value))


async def check_fields(
    guard: AsyncGuard, data: dict[str, Any], keys: tuple[str, ...], names: Iterable[str] | None = None
) -> None:
    """Checks the fields beside texts that are checked one by one, and texts with fields of their own, such as a title."""
    fields = read_fields(data, {key for key in keys if not _has_fields(data.get(key))}, names)
    if not any(map(may_have_text, [*fields, *fields.values()])):
        return
    report = await guard.scan_conversation([], fields=fields)
    report.raise_if_blocked()
    put_fields(data, fields, report.sanitized_fields)


async def check_texts(
    guard: AsyncGuard, data: dict[str, Any], keys: tuple[str, ...], names: Iterable[str] | None = None
) -> tuple[InputReport | None, SentRequest]:
    """Checks the texts in the data of a call one by one, and replaces them by the sanitized ones."""
    # LiteLLM's record of the request shares these lists and must not change.
    data.update({key: copy.deepcopy(data[key]) for key in keys if isinstance(data.get(key), list)})
    await check_fields(guard, data, keys, names)
    places = [place for key in keys for place in _find_texts(data, key)]
    if not places:
        return None, SentRequest()
    report = await guard.scan_documents([holder[key] for holder, key in places], source="user")
    report.raise_if_blocked()
    texts = [document.sanitized_text for document in report.documents]
    for (holder, key), text in zip(places, texts):
        holder[key] = text
    return report, SentRequest(prompt="\n".join(texts), vault=report.vault)


def _has_fields(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) and not {"type", "text"} >= {*item} for item in value)


def _find_texts(holder: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    """Yields the holder and key of each text. Lists of token ids contain none."""
    value = holder[key] if isinstance(holder, list) else holder.get(key)
    if isinstance(value, str):
        if value:
            yield holder, key
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, dict):
                yield from _find_texts(item, "text")
            elif isinstance(item, str):
                yield from _find_texts(value, index)


@dataclass
class Call:
    """A tool call in an answer."""

    name: str
    arguments: str
    id: str | None
    put: Callable[[str], None]

    def openai(self) -> dict[str, Any]:
        call = {"type": "function", "function": {"name": self.name, "arguments": self.arguments}}
        return call if self.id is None else {"id": self.id, **call}


@dataclass
class Part:
    """A text of an answer, with the tool calls beside it."""

    text: str
    put: Callable[[str], None]
    #: Reasoning may be signed, so no values are restored in it.
    is_reasoning: bool = False
    calls: list[Call] = field(default_factory=list)

    def take(self, text: str, calls: list[dict[str, Any]]) -> None:
        """Replaces the text and the tool calls by the sanitized ones."""
        if text != self.text:
            self.put(text)
        for call, checked in zip(self.calls, calls):
            arguments = checked["function"]["arguments"]
            if arguments != call.arguments:
                call.put(arguments)


def read_parts(response: Any) -> list[Part]:
    """Returns the texts and tool calls of an answer in any format: chat, completions, Anthropic's messages, responses or Google's."""
    choices = get(response, "choices")
    if isinstance(choices, list):
        return [part for choice in choices for part in _read_choice(choice)]
    candidates = get(response, "candidates")
    if isinstance(candidates, list):
        return [part for candidate in candidates for part in _attach_calls(*_read_candidate(candidate))]
    if isinstance(get(response, "output"), list):
        return _attach_calls(*_read_items(get(response, "output")))
    if isinstance(response, dict) and isinstance(response.get("content"), list):
        return _attach_calls(*_read_blocks(response["content"]))
    return []


def _attach_calls(texts: list[Part], calls: list[Call]) -> list[Part]:
    """Attaches the tool calls to the first text, so that they are judged together."""
    shown = next((part for part in texts if not part.is_reasoning), None)
    if calls and shown is None:
        shown = Part("", lambda _: None)
        texts = [*texts, shown]
    if shown is not None:
        shown.calls = calls
    return texts


def _read_choice(choice: Any) -> list[Part]:
    message = get(choice, "message")

    def text_at(holder: Any, key: str, is_reasoning: bool = False) -> Iterator[Part]:
        text = get(holder, key)

        def write(changed: str) -> None:
            put(holder, key, changed)
            if is_reasoning:
                drop_thinking(holder)
            elif get(choice, "logprobs") is not None:
                # Log probabilities spell the original text.
                put(choice, "logprobs", None)

        if isinstance(text, str) and text:
            yield Part(text, write, is_reasoning)

    if message is None:
        return list(text_at(choice, "text"))
    texts = [*text_at(message, "content"), *text_at(message, "refusal")]
    texts += text_at(message, "reasoning_content", True)
    thought = get(message, "reasoning_content")
    if not all(is_checked_copy(item, thought) for name in SIGNED for item in get(message, name) or []):
        drop_thinking(message)
    calls = [read_tool_call(call) for call in get(message, "tool_calls") or []]
    legacy = get(message, "function_call")
    if legacy is not None:
        calls.append(_make_call(legacy, "arguments"))
    return _attach_calls(texts, calls)


#: Fields with signed copies of the reasoning, which cannot be rewritten.
SIGNED = ("thinking_blocks", "reasoning_items")


def drop_thinking(holder: Any) -> None:
    """Removes the copies of the reasoning."""
    for name in SIGNED:
        if get(holder, name) is not None:
            put(holder, name, None)
    fields = get(holder, "provider_specific_fields")
    if isinstance(fields, dict):
        for key in (*SIGNED, "reasoning_content", "reasoning"):
            fields.pop(key, None)


def is_checked_copy(item: Any, thought: str | None) -> bool:
    """Returns whether a copy contains only checked text. A redacted copy contains no readable text."""
    parts = [*(get(item, "summary") or []), *(get(item, "content") or [])]
    texts = [get(item, "thinking"), *(get(part, "text") for part in parts)]
    return all(text in (thought or "") for text in texts if text)


def _read_blocks(blocks: list[Any]) -> tuple[list[Part], list[Call]]:
    """Reads content blocks of Anthropic."""
    texts, calls = [], []
    for block in blocks:
        kind = get(block, "type")
        if kind == "text":
            texts += _read_text(block, "text")
        elif kind == "thinking":
            texts += _read_text(block, "thinking", True)
        elif kind in ("tool_use", "server_tool_use"):
            calls.append(_make_call(block, "input"))
    return texts, calls


def _read_items(items: list[Any]) -> tuple[list[Part], list[Call]]:
    """Reads items of the Responses API."""
    texts: list[Part] = []
    calls = []
    for item in items:
        kind = get(item, "type")
        if kind == "message":
            for part in get(item, "content") or []:
                texts += [*_read_text(part, "text"), *_read_text(part, "refusal")]
        elif kind == "reasoning":
            for part in [*(get(item, "summary") or []), *(get(item, "content") or [])]:
                texts += _read_text(part, "text", True)
        elif kind in ("function_call", "mcp_call"):
            calls.append(_make_call(item, "arguments", "call_id"))
        elif kind == "custom_tool_call":
            calls.append(_make_call(item, "input", "call_id"))
    return texts, calls


def _read_candidate(candidate: Any) -> tuple[list[Part], list[Call]]:
    """Reads a candidate of Google's generateContent."""
    texts: list[Part] = []
    calls = []

    def writer(part: Any) -> Callable[[str], None]:
        def write(changed: str) -> None:
            put(part, "text", changed)
            drop_copies(candidate)

        return write

    for part in get(get(candidate, "content") or {}, "parts") or []:
        text = get(part, "text")
        if isinstance(text, str) and text:
            texts.append(Part(text, writer(part), bool(get(part, "thought"))))
        if get(part, "functionCall"):
            calls.append(read_function_call(get(part, "functionCall")))
    return texts, calls


def drop_copies(candidate: Any) -> None:
    """Removes what spells the text of a candidate: log probabilities, and the passages of its sources."""
    if get(candidate, "logprobsResult") is not None:
        put(candidate, "logprobsResult", None)
    for support in get(get(candidate, "groundingMetadata") or {}, "groundingSupports") or []:
        segment = get(support, "segment")
        if segment is not None and get(segment, "text") is not None:
            put(segment, "text", "")


def _read_text(holder: Any, key: str, is_reasoning: bool = False) -> list[Part]:
    text = get(holder, key)

    def write(changed: str) -> None:
        put(holder, key, changed)
        if get(holder, "logprobs"):
            put(holder, "logprobs", [])

    return [Part(text, write, is_reasoning)] if isinstance(text, str) and text else []


def read_tool_call(call: Any) -> Call:
    """Reads a tool call of chat completions."""
    custom = get(call, "custom")
    return (
        _make_call(custom, "input", holder=call)
        if custom
        else _make_call(get(call, "function"), "arguments", holder=call)
    )


def read_function_call(call: Any) -> Call:
    """Reads a function call of Google's generateContent."""
    return _make_call(call, "args")


def _make_call(function: Any, key: str, id_key: str = "id", holder: Any = None) -> Call:
    value = get(function, key)
    is_json = not isinstance(value, str) and value is not None

    def write(arguments: str) -> None:
        try:
            put(function, key, json.loads(arguments) if is_json else arguments)
        except ValueError:
            raise GuardReplyError(
                "The guard server sent an invalid reply: the arguments of a tool call are not JSON."
            ) from None

    arguments = json.dumps(value, ensure_ascii=False) if is_json else value or ""
    identity = get(function if holder is None else holder, id_key)
    return Call(get(function, "name") or "", arguments, identity if isinstance(identity, str) else None, write)


def get(holder: Any, key: str) -> Any:
    """Reads a field of an object or of a mapping, because LiteLLM uses both."""
    return holder.get(key) if isinstance(holder, Mapping) else getattr(holder, key, None)


def put(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[key] = value
    else:
        setattr(holder, key, value)
