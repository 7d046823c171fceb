"""The callback: decides which calls are checked, and handles failures."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
import os
import sys
from collections.abc import AsyncGenerator
from typing import Any
from weakref import WeakKeyDictionary

import litellm
from fastapi import HTTPException
from guard_scan import AsyncGuard, GuardBlockedError, GuardError, GuardProblemError, InputReport, OutputReport
from litellm.exceptions import GuardrailRaisedException
from litellm.integrations.custom_logger import CustomLogger

from .bodies import (
    CONVERSATIONS,
    GOOGLE,
    TEXTS,
    WITHOUT_TEXT,
    Part,
    SentRequest,
    check_body,
    check_conversation,
    check_texts,
    check_tool_definition,
    get,
    put,
    read_parts,
)
from .streams import guard_stream
from .tool_results import check_tool_result, describe_blocked, is_tool_result

NAME = "guard_moderations"
FLAG = "enable_guard_check"
#: The metadata field that tells the hook for transcripts, which does not receive the key, whether the call is checked.
MARK = "guard_check"

#: What the log says about texts that the model reads and no scanner has read.
UNREAD = ("parts_skipped", "state_elsewhere", "unscanned_sources")

logger = logging.getLogger("guard_litellm")


def _log_to_stderr() -> None:
    """Adds a handler, because the proxy does not print INFO lines of other loggers."""
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("guard: %(levelname)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False


class GuardModerations(CustomLogger):
    """Checks requests and answers of the proxy with guard. A call that cannot be checked fails."""

    #: Makes LiteLLM run the callback for the records of batch files too.
    enforces_request_content = True

    def __init__(self) -> None:
        super().__init__()
        if not os.environ.get("GUARD_API_BASE"):
            raise ValueError("GUARD_API_BASE: must be set to the URL of a guard server, such as http://127.0.0.1:8000")
        _log_to_stderr()
        self._guard = AsyncGuard(timeout=_read_timeout())
        #: Sanitized requests by LiteLLM's logging object of the call, which is neither sent nor logged, and which clients cannot choose.
        self._sent: WeakKeyDictionary[Any, SentRequest] = WeakKeyDictionary()

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        is_checked = _is_checked(data, user_api_key_dict)
        if call_type in ("transcription", "atranscription", "audio_transcription"):
            data["metadata"] = {**(data.get("metadata") or {}), MARK: is_checked}
        if not is_checked:
            return data
        report: InputReport | None
        try:
            if call_type in CONVERSATIONS:
                report, sent = await check_conversation(self._guard, data, CONVERSATIONS[call_type])
            elif call_type == "call_mcp_tool":
                # LiteLLM writes the arguments of the tool into a message. They are judged, and the tool gets the original ones.
                shown = {"messages": copy.deepcopy(data.get("messages") or [])}
                report, _ = await check_conversation(self._guard, shown, "messages")
                sent = SentRequest()
            elif call_type == "list_mcp_tools":
                report, sent = await check_tool_definition(self._guard, data)
            elif call_type in GOOGLE:
                report, sent = await check_conversation(self._guard, data, "contents")
            elif call_type in TEXTS:
                report, sent = await check_texts(self._guard, data, TEXTS[call_type])
            elif _is_body_checked(call_type):
                checked = await check_body(self._guard, data, call_type)
                if checked is None:
                    raise _unknown_error(call_type)
                report, sent = checked
            else:
                report, sent = None, SentRequest()
        except GuardBlockedError as error:
            _log(error.report.raw)
            raise _blocked_error(error) from None
        except GuardError as error:
            # If guard rejects the shape or length, the client is at fault.
            is_client_error = isinstance(error, GuardProblemError) and error.status in (413, 422)
            raise HTTPException(
                400 if is_client_error else 500, {"error": _describe_failure("request", error)}
            ) from error
        if report is None:
            logger.info("Nothing to check in a call of type %s", call_type)
        else:
            _log(report.raw)
        self._remember(data, sent)
        return data

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        if not _is_checked(data, user_api_key_dict):
            return response
        # LiteLLM logs and caches the original, in which no values may be restored.
        answer = copy.deepcopy(response)
        if is_tool_result(answer):
            try:
                await self._check_tool_result(answer)
            except GuardBlockedError as error:
                raise _guardrail_error(describe_blocked(error), 400) from None
            except GuardError as error:
                raise HTTPException(500, {"error": _describe_failure("result of the tool", error)}) from error
            return answer
        try:
            await self._check_answer(read_parts(answer), self._recall(data))
        except GuardBlockedError as error:
            raise _blocked_error(error) from None
        except GuardError as error:
            raise HTTPException(500, {"error": _describe_failure("answer", error)}) from error
        return answer

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        if not _is_checked(request_data, user_api_key_dict):
            async for item in response:
                yield item
            return
        sent = self._recall(request_data)
        stream = guard_stream(self._guard, sent, response, self._check_answer, _log)
        try:
            async for item in stream:
                yield item
        except GuardBlockedError as error:
            raise _blocked_error(error) from None
        except GuardError as error:
            # Any other exception would close the connection without an error event.
            raise _guardrail_error(_describe_failure("answer", error), 500) from error
        finally:
            # A disconnected client ends the checks too.
            await stream.aclose()

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> Any:
        """Checks transcripts, which no other hook receives. LiteLLM ignores exceptions here, so a blocked transcript is replaced."""
        if getattr(call_type, "value", call_type) not in ("transcription", "atranscription"):
            return response
        marks = [get(request_data.get(name) or {}, MARK) for name in ("metadata", "litellm_metadata")]
        if False in marks and True not in marks:
            return response
        try:
            # No values are restored, because LiteLLM may cache a transcript for other clients.
            text = get(response, "text") or ""
            await self._check_answer([Part(text, lambda changed: _put_transcript(response, changed))], SentRequest())
        except GuardBlockedError as error:
            _put_transcript(response, str(error))
        except Exception as error:
            _put_transcript(response, _describe_failure("answer", error))
        return response

    async def async_post_mcp_tool_call_hook(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: Any, end_time: Any
    ) -> Any:
        """Checks the result of an MCP tool. LiteLLM ignores exceptions here, so a blocked result is replaced."""
        if not _is_result_checked(kwargs):
            return None
        content = response_obj.mcp_tool_call_response
        # The argument has only the content. LiteLLM sends this object, and keeps a structured result whose content is the returned one.
        sent = kwargs.get("original_response")
        whole = sent if get(sent, "content") == content and hasattr(sent, "structured_content") else None
        beside = [whole.structured_content, whole.meta] if whole is not None else []
        try:
            await self._check_tool_result([content, beside])
        except GuardBlockedError as error:
            content, beside = _tool_error(whole, describe_blocked(error))
        except Exception as error:
            content, beside = _tool_error(whole, _describe_failure("result of the tool", error))
        response_obj.mcp_tool_call_response = content
        if whole is not None:
            whole.content[:] = content
            whole.structured_content, whole.meta = beside
        return response_obj

    async def _check_tool_result(self, result: Any) -> None:
        try:
            report = await check_tool_result(self._guard, result)
        except GuardBlockedError as error:
            _log(error.report.raw, with_texts=False)
            raise
        if report is not None:
            _log(report.raw, with_texts=False)

    async def _check_answer(self, parts: list[Part], sent: SentRequest) -> None:
        """Checks the parts of an answer concurrently, and replaces them by the sanitized ones."""
        reports = await asyncio.gather(*(self._check_part(part, sent) for part in parts))
        for report in reports:
            _log(report.raw)
        for report in reports:
            report.raise_if_blocked()
        for part, report in zip(parts, reports):
            part.take(report.sanitized_output, report.sanitized_tool_calls)

    async def _check_part(self, part: Part, sent: SentRequest) -> OutputReport:
        calls = [call.openai() for call in part.calls]
        vault = None if part.is_reasoning else sent.vault
        return await self._guard.scan_output(sent.prompt, part.text, tool_calls=calls, vault=vault, **sent.chat())

    def _remember(self, data: dict[str, Any], sent: SentRequest) -> None:
        call = data.get("litellm_logging_obj")
        if call is not None:
            self._sent[call] = sent

    def _recall(self, data: dict[str, Any]) -> SentRequest:
        call = data.get("litellm_logging_obj")
        return (self._sent.get(call) if call is not None else None) or SentRequest()


def _is_body_checked(call_type: str) -> bool:
    """
    Returns whether the body of a call is checked whose texts guard cannot find by its type. The configuration decides it: such a call is
    refused by default.
    """
    if WITHOUT_TEXT.search(call_type):
        return False
    setting = getattr(litellm, "guard_unknown_calls", None) or "refuse"
    if setting == "pass":
        logger.warning("A call of type %s is passed on unchecked", call_type)
        return False
    # The messages of a WebSocket follow after this hook, and no other hook of a callback gets them.
    if setting == "check_request" and not call_type.startswith("_"):
        return True
    if setting in ("refuse", "check_request"):
        raise _unknown_error(call_type)
    message = f"litellm_settings.guard_unknown_calls: must be refuse, check_request or pass, got {setting!r}"
    raise HTTPException(500, {"error": message})


def _unknown_error(call_type: str) -> HTTPException:
    return HTTPException(400, {"error": f"guard cannot check calls of type {call_type}, so the call was not sent."})


def _read_timeout() -> float:
    value = os.environ.get("GUARD_TIMEOUT") or "30"
    try:
        return float(value)
    except ValueError:
        raise ValueError(f"GUARD_TIMEOUT: must be a number of seconds, got {value!r}") from None


def _is_checked(data: dict[str, Any], key: Any) -> bool:
    # Read per call, because LiteLLM may apply litellm_settings after it has loaded the callbacks.
    mode = getattr(litellm, "guard_mode", None) or "all"
    if mode == "all":
        return True
    if mode == "key-specific":
        return _has_flag({"permissions": get(key, "permissions")})
    if mode == "request-specific":
        # Endpoints whose API has its own `metadata` have LiteLLM's in another field.
        return _has_flag(data.get("metadata")) or _has_flag(
            get(data.get("litellm_metadata") or {}, "requester_metadata")
        )
    message = f"litellm_settings.guard_mode: must be all, key-specific or request-specific, got {mode!r}"
    raise HTTPException(500, {"error": message})


def _is_result_checked(kwargs: dict[str, Any]) -> bool:
    """Returns whether the result of an MCP tool is checked, for whose key LiteLLM has no argument."""
    metadata = (kwargs.get("litellm_params") or {}).get("metadata") or {}
    key = metadata.get("user_api_key_auth")
    mode = getattr(litellm, "guard_mode", None) or "all"
    if mode not in ("key-specific", "request-specific") or (mode == "key-specific" and key is None):
        return True
    return _is_checked({"metadata": metadata, "litellm_metadata": metadata}, key)


def _tool_error(result: Any, message: str) -> tuple[list[Any], list[Any]]:
    """Returns the content of a result that must not be shown, and what is beside it. The whole result becomes an error of the tool."""
    from mcp.types import TextContent

    if result is not None:
        result.is_error = True
    return [TextContent(type="text", text=message)], [None, None]


def _has_flag(holder: Any) -> bool:
    permissions = holder.get("permissions") if isinstance(holder, dict) else None
    return isinstance(permissions, dict) and permissions.get(FLAG) is True


def _put_transcript(response: Any, text: str) -> None:
    """Replaces a transcript, and clears its segments and words."""
    put(response, "text", text)
    for name in ("segments", "words"):
        if get(response, name) is not None:
            put(response, name, [])


def _log(answer: Any, with_texts: bool = True) -> None:
    """
    Logs a reply of guard with the texts that were sent to the model, always with ``sanitized_prompt``, ``is_valid`` and ``scanners`` at the
    top. It omits blocked texts, answers (their values are restored), and the vault, which is secret.
    """
    documents = answer.get("documents") or []
    scanners: dict[str, float] = dict(answer.get("scanners") or {})
    for document in documents:
        for name, score in (document.get("scanners") or {}).items():
            scanners[name] = max(score, scanners.get(name, score))
    texts = [document.get("sanitized_text") or "" for document in documents]
    prompt = "\n".join(texts) if documents else answer.get("sanitized_prompt") or ""
    is_withheld = answer.get("outcome") in ("blocked", "review") and not answer.get("is_valid")
    line = {
        "sanitized_prompt": "" if is_withheld or not with_texts else prompt,
        "is_valid": answer.get("is_valid"),
        "outcome": answer.get("outcome"),
        "scanners": scanners,
    }
    coverage = answer.get("coverage") or {}
    unread = {name: coverage[name] for name in UNREAD if coverage.get(name)}
    if unread:
        line["unread"] = unread
    logger.info("Received response - %s", json.dumps(line, ensure_ascii=False))


def _blocked_error(error: GuardBlockedError) -> Exception:
    return _guardrail_error(str(error), 400)


def _guardrail_error(message: str, status: int) -> Exception:
    error = GuardrailRaisedException(
        guardrail_name=NAME, message=message, should_wrap_with_default_message=False, status_code=status
    )
    return error  # type: ignore[no-any-return]


def _describe_failure(what: str, error: Exception) -> str:
    return f"Guard could not check the {what}: {error}"
