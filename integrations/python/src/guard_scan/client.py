"""The clients: Guard for blocking programs, and AsyncGuard for asyncio. Both have the same methods."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, TypeVar

import httpx

from . import requests
from .connection import Connection, read_response
from .reports import Content, ConversationReport, DocumentsReport, OutputReport, PromptReport
from .requests import Document, Request
from .stream import OutputStream, open_stream
from .threaded import scan_in_thread

Answer = TypeVar("Answer")
Chat = Sequence[Mapping[str, Any]]


class AsyncGuard:
    """
    A client of a guard server. It keeps connections open: create one client for all calls of an event loop, and close it at the end.

    All methods raise a GuardError if a text could not be checked. Such a text must be blocked.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """
        :param url: the URL of the server; by default the environment variable ``GUARD_API_BASE``.
        :param token: the bearer token; by default ``GUARD_API_KEY``. Other credentials go into ``headers``.
        :param timeout: the maximum seconds of a call, including retries.
        :param retries: the number of retries if the server is overloaded (503, 429) or cannot be reached.
        :param context: TLS settings, for example a private certificate authority.
        """
        self._connection = Connection(url, token, headers, timeout, retries, context)
        self._client: httpx.AsyncClient | None = None

    async def scan_prompt(
        self,
        prompt: str,
        *,
        source: str | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> PromptReport:
        """
        Checks a prompt.

        :param source: the source of the text: user (default), tool, system, assistant, tool_call or tool_definition.
        :param suppress: checks to skip, by their names in results or by the types of their scanners.
        :param vault: the vault of the latest report in the conversation.
        :param rewrite: False keeps the text unchanged (``/scan/prompt``).
        """
        return await self._send(
            requests.prompt_request(prompt, source=source, suppress=suppress, vault=vault, rewrite=rewrite)
        )

    async def scan_output(
        self,
        prompt: str,
        output: str,
        *,
        tool_calls: Chat | None = None,
        messages: Chat | None = None,
        tools: Chat | None = None,
        system: Content | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> OutputReport:
        """
        Checks an answer of a model. With the vault of the prompt's report, Deanonymize restores the values that were replaced in the
        prompt.

        :param tool_calls: the tool calls of the answer, as in OpenAI's chat completions.
        :param messages: the conversation before the answer. Some checks compare the answer with it, and with ``tools`` and ``system``.
        """
        return await self._send(
            requests.output_request(
                prompt,
                output,
                tool_calls=tool_calls,
                messages=messages,
                tools=tools,
                system=system,
                suppress=suppress,
                vault=vault,
                rewrite=rewrite,
            )
        )

    async def scan_conversation(
        self,
        messages: Chat,
        *,
        tools: Chat | None = None,
        system: Content | None = None,
        fields: Mapping[str, Any] | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> ConversationReport:
        """
        Checks everything that a model is about to read: messages (OpenAI, Anthropic, Google or MCP), tools and the system prompt.

        :param fields: the other fields of the request to the model, such as ``response_format``. Their texts are read too.
        """
        return await self._send(
            requests.conversation_request(
                messages, tools=tools, system=system, fields=fields, suppress=suppress, vault=vault, rewrite=rewrite
            )
        )

    async def scan_documents(
        self,
        documents: Sequence[Document],
        *,
        source: str | None = None,
        mask_injections: bool = False,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> DocumentsReport:
        """
        Checks texts one by one, for example the passages that a retriever found.

        :param documents: texts, or mappings with ``text`` and optionally ``id``.
        :param source: the source of the texts, by default ``tool``.
        :param mask_injections: True cuts the sentences of an injection out of a document, instead of failing the document.
        """
        return await self._send(
            requests.documents_request(
                documents,
                source=source,
                mask_injections=mask_injections,
                suppress=suppress,
                vault=vault,
                rewrite=rewrite,
            )
        )

    def output_stream(
        self,
        prompt: str,
        *,
        messages: Chat | None = None,
        tools: Chat | None = None,
        system: Content | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
    ) -> AbstractAsyncContextManager[OutputStream]:
        """
        Checks an answer while it arrives::

            async with guard.output_stream(prompt, vault=report.vault) as stream:
                async for text in stream.checked(pieces):
                    print(text, end="")
        """
        body = requests.stream_body(
            prompt, messages=messages, tools=tools, system=system, suppress=suppress, vault=vault
        )
        return open_stream(self._connection, body)

    async def _send(self, request: Request[Answer]) -> Answer:
        if self._client is None:
            self._client = httpx.AsyncClient(**self._connection.options())
        attempts = self._connection.attempts()
        while True:
            try:
                post = self._client.post(request.path, json=request.body, timeout=attempts.seconds)
                # The timeout of httpx applies to each phase of a request.
                response = await asyncio.wait_for(post, attempts.seconds)
                return read_response(request, response)
            except asyncio.TimeoutError as error:
                attempts.wait_after(httpx.ReadTimeout(str(error)))
            except Exception as error:
                await asyncio.sleep(attempts.wait_after(error))

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None

    async def __aenter__(self) -> AsyncGuard:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Guard:
    """
    A client of a guard server for programs without asyncio. Threads may share it. AsyncGuard documents the methods.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        context: ssl.SSLContext | None = None,
    ) -> None:
        """Accepts the parameters of AsyncGuard."""
        self._connection = Connection(url, token, headers, timeout, retries, context)
        self._client = httpx.Client(**self._connection.options())

    def scan_prompt(
        self,
        prompt: str,
        *,
        source: str | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> PromptReport:
        """Checks a prompt; see AsyncGuard."""
        return self._send(
            requests.prompt_request(prompt, source=source, suppress=suppress, vault=vault, rewrite=rewrite)
        )

    def scan_output(
        self,
        prompt: str,
        output: str,
        *,
        tool_calls: Chat | None = None,
        messages: Chat | None = None,
        tools: Chat | None = None,
        system: Content | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> OutputReport:
        """Checks an answer of a model; see AsyncGuard."""
        return self._send(
            requests.output_request(
                prompt,
                output,
                tool_calls=tool_calls,
                messages=messages,
                tools=tools,
                system=system,
                suppress=suppress,
                vault=vault,
                rewrite=rewrite,
            )
        )

    def scan_conversation(
        self,
        messages: Chat,
        *,
        tools: Chat | None = None,
        system: Content | None = None,
        fields: Mapping[str, Any] | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> ConversationReport:
        """Checks everything that a model is about to read; see AsyncGuard."""
        return self._send(
            requests.conversation_request(
                messages, tools=tools, system=system, fields=fields, suppress=suppress, vault=vault, rewrite=rewrite
            )
        )

    def scan_documents(
        self,
        documents: Sequence[Document],
        *,
        source: str | None = None,
        mask_injections: bool = False,
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> DocumentsReport:
        """Checks texts one by one; see AsyncGuard."""
        return self._send(
            requests.documents_request(
                documents,
                source=source,
                mask_injections=mask_injections,
                suppress=suppress,
                vault=vault,
                rewrite=rewrite,
            )
        )

    def scan_output_stream(
        self,
        prompt: str,
        pieces: Iterable[str],
        *,
        messages: Chat | None = None,
        tools: Chat | None = None,
        system: Content | None = None,
        suppress: Sequence[str] = (),
        vault: str | None = None,
    ) -> Iterator[str]:
        """
        Checks an answer while it arrives: consumes its pieces, and yields released text. If a check fails, it raises
        GuardBlockedError before any of the failing text is released.
        """
        body = requests.stream_body(
            prompt, messages=messages, tools=tools, system=system, suppress=suppress, vault=vault
        )
        return scan_in_thread(self._connection, body, pieces)

    def _send(self, request: Request[Answer]) -> Answer:
        attempts = self._connection.attempts()
        while True:
            try:
                return read_response(
                    request, self._client.post(request.path, json=request.body, timeout=attempts.seconds)
                )
            except Exception as error:
                time.sleep(attempts.wait_after(error))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
