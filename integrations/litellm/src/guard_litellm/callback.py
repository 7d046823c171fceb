"""The callback: which calls are checked, and what becomes of those that fail."""

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

from .bodies import CONVERSATIONS, TEXTS, Part, Sent, check_conversation, check_texts, get, parts_of, put
from .streams import guarded_stream

NAME = "guard_moderations"
FLAG = "enable_guard_check"
#: Where the hook of transcripts, which does not see the key, finds whether the call is checked.
MARK = "guard_check"

logger = logging.getLogger("guard_litellm")


def _log_to_stderr() -> None:
    """Lets lines of INFO be seen, which those of a plain logger are not in the proxy."""
    if not logger.handlers:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("guard: %(levelname)s: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False


class GuardModerations(CustomLogger):
    """Has guard check what goes through the proxy. A call that cannot be checked fails."""

    #: The records of a file of batches are checked too.
    enforces_request_content = True

    def __init__(self) -> None:
        super().__init__()
        if not os.environ.get("GUARD_API_BASE"):
            raise ValueError("GUARD_API_BASE must be set to the URL of guard's server, such as http://127.0.0.1:8000")
        _log_to_stderr()
        self._guard = AsyncGuard(timeout=_seconds())
        #: What was sent, by the object that LiteLLM has for each call. That is neither sent nor logged, and clients cannot name it.
        self._sent: WeakKeyDictionary[Any, Sent] = WeakKeyDictionary()

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
            else:
                report, sent = await check_texts(self._guard, data, TEXTS.get(call_type, ()))
        except GuardBlockedError as error:
            _log(error.report.raw)
            raise _blocked(error) from None
        except GuardError as error:
            # A shape or a length that guard does not take is the client's affair.
            is_theirs = isinstance(error, GuardProblemError) and error.status in (413, 422)
            raise HTTPException(400 if is_theirs else 500, {"error": _unchecked("request", error)}) from error
        if report is None:
            logger.info("Nothing to check in a call of type %s", call_type)
        else:
            _log(report.raw)
        self._keep(data, sent)
        return data

    async def async_post_call_success_hook(self, data: dict[str, Any], user_api_key_dict: Any, response: Any) -> Any:
        if not _is_checked(data, user_api_key_dict):
            return response
        # LiteLLM logs and caches the other one: what was replaced is not restored there.
        answer = copy.deepcopy(response)
        try:
            await self._check_answer(parts_of(answer), self._sent_of(data))
        except GuardBlockedError as error:
            raise _blocked(error) from None
        except GuardError as error:
            raise HTTPException(500, {"error": _unchecked("answer", error)}) from error
        return answer

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncGenerator[Any, None]:
        if not _is_checked(request_data, user_api_key_dict):
            async for item in response:
                yield item
            return
        sent = self._sent_of(request_data)
        stream = guarded_stream(self._guard, sent, response, self._check_answer, _log)
        try:
            async for item in stream:
                yield item
        except GuardBlockedError as error:
            raise _blocked(error) from None
        except GuardError as error:
            # Anything else than this would cut the connection without a word.
            raise _guardrail_error(_unchecked("answer", error), 500) from error
        finally:
            # A client that goes away ends the checks too.
            await stream.aclose()

    async def async_post_call_success_deployment_hook(
        self, request_data: dict[str, Any], response: Any, call_type: Any
    ) -> Any:
        """Checks transcripts, which no other hook sees. What this raises is not heeded, so a blocked transcript is replaced."""
        if getattr(call_type, "value", call_type) not in ("transcription", "atranscription"):
            return response
        marks = [get(request_data.get(name) or {}, MARK) for name in ("metadata", "litellm_metadata")]
        if False in marks and True not in marks:
            return response
        try:
            # Nothing is restored: LiteLLM may cache a transcript, and then others get it.
            text = get(response, "text") or ""
            await self._check_answer([Part(text, lambda changed: _put_transcript(response, changed))], Sent())
        except GuardBlockedError as error:
            _put_transcript(response, str(error))
        except Exception as error:
            _put_transcript(response, _unchecked("answer", error))
        return response

    async def _check_answer(self, parts: list[Part], sent: Sent) -> None:
        """Checks the parts of an answer at the same time, and puts what may be shown in their places."""
        reports = await asyncio.gather(*(self._check_part(part, sent) for part in parts))
        for report in reports:
            _log(report.raw)
        for report in reports:
            report.raise_if_blocked()
        for part, report in zip(parts, reports):
            part.take(report.sanitized_output, report.sanitized_tool_calls)

    async def _check_part(self, part: Part, sent: Sent) -> OutputReport:
        calls = [call.openai() for call in part.calls]
        vault = None if part.is_reasoning else sent.vault
        return await self._guard.scan_output(sent.prompt, part.text, tool_calls=calls, vault=vault, **sent.chat())

    def _keep(self, data: dict[str, Any], sent: Sent) -> None:
        call = data.get("litellm_logging_obj")
        if call is not None:
            self._sent[call] = sent

    def _sent_of(self, data: dict[str, Any]) -> Sent:
        call = data.get("litellm_logging_obj")
        return (self._sent.get(call) if call is not None else None) or Sent()


def _seconds() -> float:
    value = os.environ.get("GUARD_TIMEOUT") or "30"
    try:
        return float(value)
    except ValueError:
        raise ValueError("GUARD_TIMEOUT must be a number of seconds") from None


def _is_checked(data: dict[str, Any], key: Any) -> bool:
    # LiteLLM sets what litellm_settings says one by one, and perhaps after it has loaded callbacks.
    mode = getattr(litellm, "guard_mode", None) or "all"
    if mode == "all":
        return True
    if mode == "key-specific":
        return _has_flag({"permissions": get(key, "permissions")})
    if mode == "request-specific":
        # Endpoints whose own API has a field `metadata` keep it apart from LiteLLM's.
        return _has_flag(data.get("metadata")) or _has_flag(
            get(data.get("litellm_metadata") or {}, "requester_metadata")
        )
    message = "litellm_settings.guard_mode must be all, key-specific or request-specific"
    raise HTTPException(500, {"error": message})


def _has_flag(holder: Any) -> bool:
    permissions = holder.get("permissions") if isinstance(holder, dict) else None
    return isinstance(permissions, dict) and permissions.get(FLAG) is True


def _put_transcript(response: Any, text: str) -> None:
    """Replaces a transcript, also where it stands in segments and words."""
    put(response, "text", text)
    for name in ("segments", "words"):
        if get(response, name) is not None:
            put(response, name, [])


def _log(answer: Any) -> None:
    """
    Writes what guard said, with texts as they were sent to the model. A blocked text may hold anything, in an answer everything is
    restored, and a vault is a secret: none of them is written.
    """
    is_blocked = answer.get("outcome") == "blocked"

    def shown(holder: dict[str, Any], *names: str) -> dict[str, Any]:
        return {
            name: holder[name]
            for name in names
            if name in holder and not (is_blocked and name.startswith("sanitized_"))
        }

    line = shown(answer, "sanitized_prompt", "is_valid", "outcome", "scanners")
    if "documents" in answer:
        line["documents"] = [shown(item, "sanitized_text", "is_valid", "scanners") for item in answer["documents"]]
    logger.info("Received response - %s", json.dumps(line, ensure_ascii=False))


def _blocked(error: GuardBlockedError) -> Exception:
    return _guardrail_error(str(error), 400)


def _guardrail_error(message: str, status: int) -> Exception:
    error = GuardrailRaisedException(
        guardrail_name=NAME, message=message, should_wrap_with_default_message=False, status_code=status
    )
    return error  # type: ignore[no-any-return]


def _unchecked(what: str, error: Exception) -> str:
    return f"Guard could not check the {what}: {error}"
