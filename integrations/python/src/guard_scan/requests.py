"""The path and body of each request, and the function that reads its reply. Both clients share them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Callable, Generic, TypeVar, Union

from .reports import (
    Content,
    ConversationReport,
    DocumentsReport,
    Item,
    OutputReport,
    PromptReport,
    read_conversation,
    read_documents,
    read_output,
    read_prompt,
)

Answer = TypeVar("Answer")
Document = Union[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Request(Generic[Answer]):
    """A ``POST`` request, and the function that turns the JSON of its reply into a report."""

    path: str
    body: dict[str, Any]
    read: Callable[[object], Answer]


def prompt_request(
    prompt: str, *, source: str | None, suppress: Sequence[str], vault: str | None, rewrite: bool
) -> Request[PromptReport]:
    body = _body({"prompt": prompt, "source": source}, suppress, vault)
    return Request(_path("prompt", rewrite), body, lambda answer: read_prompt(answer, rewrite, prompt))


def conversation_request(
    messages: Sequence[Mapping[str, Any]],
    *,
    tools: Sequence[Mapping[str, Any]] | None,
    system: Content | None,
    fields: Mapping[str, Any] | None,
    suppress: Sequence[str],
    vault: str | None,
    rewrite: bool,
) -> Request[ConversationReport]:
    # A conversation may consist of fields only.
    given = {**_chat(messages, tools, system), "messages": list(messages), "fields": dict(fields) if fields else None}
    body = _body(given, suppress, vault)
    return Request(_path("conversation", rewrite), body, lambda answer: read_conversation(answer, rewrite, body))


def documents_request(
    documents: Sequence[Document],
    *,
    source: str | None,
    mask_injections: bool,
    suppress: Sequence[str],
    vault: str | None,
    rewrite: bool,
) -> Request[DocumentsReport]:
    given: list[Any] = [item if isinstance(item, str) else dict(item) for item in documents]
    fields = {"documents": given, "source": source, "mask_injections": mask_injections or None}
    return Request(
        _path("documents", rewrite),
        _body(fields, suppress, vault),
        lambda answer: read_documents(answer, rewrite, given),
    )


def output_request(
    prompt: str,
    output: str,
    *,
    tool_calls: Sequence[Mapping[str, Any]] | None,
    messages: Sequence[Mapping[str, Any]] | None,
    tools: Sequence[Mapping[str, Any]] | None,
    system: Content | None,
    suppress: Sequence[str],
    vault: str | None,
    rewrite: bool,
) -> Request[OutputReport]:
    calls: list[Item] = [dict(call) for call in tool_calls or []]
    fields = {"prompt": prompt, "output": output, "tool_calls": calls or None, **_chat(messages, tools, system)}
    return Request(
        _path("output", rewrite),
        _body(fields, suppress, vault),
        lambda answer: read_output(answer, rewrite, output, calls),
    )


def stream_body(
    prompt: str,
    *,
    messages: Sequence[Mapping[str, Any]] | None,
    tools: Sequence[Mapping[str, Any]] | None,
    system: Content | None,
    suppress: Sequence[str],
    vault: str | None,
) -> dict[str, Any]:
    """The first line of a stream."""
    return _body({"prompt": prompt, **_chat(messages, tools, system)}, suppress, vault)


def _path(name: str, rewrite: bool) -> str:
    return f"{'analyze' if rewrite else 'scan'}/{name}"


def _chat(
    messages: Sequence[Mapping[str, Any]] | None,
    tools: Sequence[Mapping[str, Any]] | None,
    system: Content | None,
) -> dict[str, Any]:
    return {
        # The server rejects a conversation without messages.
        "messages": list(messages) if messages else None,
        "tools": list(tools) if tools else None,
        "system": system or None,
    }


def _body(fields: Mapping[str, Any], suppress: Sequence[str], vault: str | None) -> dict[str, Any]:
    # Only a reply with details contains the outcome.
    options = {"scanners_suppress": list(suppress) or None, "vault": vault, "details": True}
    return {name: value for name, value in {**fields, **options}.items() if value is not None}
