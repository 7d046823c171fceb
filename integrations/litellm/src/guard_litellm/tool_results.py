"""Checks the results of tools: of search, of vector stores and of MCP servers."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Callable

from guard_scan import AsyncGuard, GuardBlockedError, InputReport

from .bodies import get, may_have_text

#: Fields of MCP results with base64.
BINARY_FIELDS = ("data", "blob")


def is_tool_result(response: Any) -> bool:
    """Returns whether a response has results of a search, or texts of a vector store."""
    kind = get(response, "object")
    return isinstance(kind, str) and (kind == "search" or kind.startswith("vector_store."))


async def check_tool_result(guard: AsyncGuard, result: Any) -> InputReport | None:
    """Checks all texts in a result as texts of a tool, and replaces them by the sanitized ones. None if there are no texts."""
    found: dict[str, str] = {}

    def collect(text: str) -> str:
        if may_have_text(text):
            found[text] = text
        return text

    _rewrite(result, collect)
    if not found:
        return None
    texts = list(found)
    report = await guard.scan_documents(texts, source="tool")
    report.raise_if_blocked()
    found.update((text, document.sanitized_text) for text, document in zip(texts, report.documents))
    _rewrite(result, lambda text: found.get(text, text))
    return report


def describe_blocked(error: GuardBlockedError) -> str:
    return str(error).replace("The request", "The result of the tool", 1)


def _rewrite(value: Any, change: Callable[[str], str]) -> Any:
    """Changes all strings in lists, mappings (with their keys) and objects of pydantic, and returns the new value."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        value[:] = [_rewrite(item, change) for item in value]
    elif isinstance(value, dict):
        items = [(change(key), _rewrite_field(key, item, change)) for key, item in value.items()]
        value.clear()
        value.update(items)
    elif hasattr(type(value), "model_fields"):
        for name in [*type(value).model_fields, *(value.model_extra or {})]:
            given = getattr(value, name)
            changed = _rewrite_field(name, given, change)
            if changed is not given:
                setattr(value, name, changed)
    return value


def _rewrite_field(name: str, value: Any, change: Callable[[str], str]) -> Any:
    if name not in BINARY_FIELDS or not isinstance(value, str):
        return _rewrite(value, change)
    try:
        data = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return change(value)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        # An image, a sound, or another file that no scanner reads.
        return value
    changed = change(text)
    return value if changed == text else base64.b64encode(changed.encode()).decode()
