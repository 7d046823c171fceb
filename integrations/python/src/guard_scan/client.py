"""The clients: Guard for programs that wait, and AsyncGuard for those that run on asyncio. Both have the same methods."""

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
from .connection import Connection, read
from .reports import Content, ConversationReport, DocumentsReport, OutputReport, PromptReport
from .requests import Document, Request
from .stream import OutputStream, opened
from .threaded import scanned_in_thread

Answer = TypeVar("Answer")
Chat = Sequence[Mapping[str, Any]]


class AsyncGuard:
    """
    A client of a guard server. It keeps connections open: make one, use it for all calls of one event loop, and close it.

    All methods raise a GuardError when a text could not be checked. Such a text must not go on.
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
        :param url: where the server is; by default the environment variable ``GUARD_API_BASE``.
        :param token: the bearer token; by default ``GUARD_API_KEY``. Other credentials go into ``headers``.
        :param timeout: seconds that a call may take, with all its tries.
        :param retries: how often a call is tried again when the server is too busy (503, 429) or cannot be connected to.
        :param context: for TLS with authorities or certificates of your own.
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

        :param source: whose text it is: user (default), tool, system, assistant, tool_call or tool_definition.
        :param suppress: checks to leave out, by their names in results or by the types of their scanners.
        :param vault: the vault of the latest report of the conversation.
        :param rewrite: with False nothing is rewritten (``/scan/prompt``).
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
        Checks an answer of a model. With the vault of the prompt's report Deanonymize restores what was replaced in the prompt.

        :param tool_calls: the calls of tools beside the text, as in OpenAI's chat completions.
        :param messages: the conversation that is answered, for checks that compare with it; so are ``tools`` and ``system``.
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
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> ConversationReport:
        """Checks everything that a model is about to read: messages (OpenAI, Anthropic or MCP), tools and the system prompt."""
        return await self._send(
            requests.conversation_request(
                messages, tools=tools, system=system, suppress=suppress, vault=vault, rewrite=rewrite
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
        Checks texts each by itself, such as the passages that a retriever found.

        :param documents: texts, or objects with ``text`` and perhaps ``id``.
        :param source: whose texts they are; by default those of a tool.
        :param mask_injections: cuts the sentences out by which a document fails as an injection.
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
        return opened(self._connection, body)

    async def _send(self, request: Request[Answer]) -> Answer:
        if self._client is None:
            self._client = httpx.AsyncClient(**self._connection.options())
        attempts = self._connection.attempts()
        while True:
            try:
                post = self._client.post(request.path, json=request.body, timeout=attempts.seconds)
                # The timeout of httpx is one for each part of a request.
                response = await asyncio.wait_for(post, attempts.seconds)
                return read(request, response)
            except asyncio.TimeoutError as error:
                attempts.after(httpx.ReadTimeout(str(error)))
            except Exception as error:
                await asyncio.sleep(attempts.after(error))

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
    A client of a guard server for programs that do not use asyncio. Threads may share one. Its methods are those of AsyncGuard,
    where they are described.
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
        """Takes what AsyncGuard takes."""
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
        suppress: Sequence[str] = (),
        vault: str | None = None,
        rewrite: bool = True,
    ) -> ConversationReport:
        """Checks everything that a model is about to read; see AsyncGuard."""
        return self._send(
            requests.conversation_request(
                messages, tools=tools, system=system, suppress=suppress, vault=vault, rewrite=rewrite
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
        """Checks texts each by itself; see AsyncGuard."""
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
        Checks an answer while it arrives: takes its pieces, and gives what may be shown. When a check fails, it raises
        GuardBlockedError and nothing of the offending text was given.
        """
        body = requests.stream_body(
            prompt, messages=messages, tools=tools, system=system, suppress=suppress, vault=vault
        )
        return scanned_in_thread(self._connection, body, pieces)

    def _send(self, request: Request[Answer]) -> Answer:
        attempts = self._connection.attempts()
        while True:
            try:
                return read(request, self._client.post(request.path, json=request.body, timeout=attempts.seconds))
            except Exception as error:
                time.sleep(attempts.after(error))

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
