"""Where the server is and how it is asked: shared by the clients, and by streams, which need a connection of their own."""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx

from .errors import GuardProblemError, GuardReplyError, GuardUnavailableError, with_cause
from .requests import Request

Answer = TypeVar("Answer")

#: The replies after which it makes sense to ask again: too many requests, and a server that starts, closes or has too much to do.
BUSY = (429, 503)


class Connection:
    """The address of a server, the credential, and how long and how often it is asked."""

    def __init__(
        self,
        url: str | None,
        token: str | None,
        headers: Mapping[str, str] | None,
        timeout: float,
        retries: int,
        context: ssl.SSLContext | None,
    ) -> None:
        base = url or os.environ.get("GUARD_API_BASE") or ""
        if not base.startswith(("http://", "https://")):
            raise ValueError(
                "The URL of guard's server is needed, as url=... or in GUARD_API_BASE: http://127.0.0.1:8000"
            )
        self.url = httpx.URL(base.rstrip("/") + "/")
        secret = token or os.environ.get("GUARD_API_KEY")
        self.headers: dict[str, str] = {
            **({"Authorization": f"Bearer {secret}"} if secret else {}),
            **(headers or {}),
            "Accept": "application/json",
        }
        if timeout <= 0 or retries < 0:
            raise ValueError("timeout must be above 0, and retries must not be below 0")
        self.timeout = timeout
        self.retries = retries
        # That of Python, because httpx would trust other authorities than the streams do.
        self.context = (context or ssl.create_default_context()) if self.url.scheme == "https" else None

    def options(self) -> dict[str, Any]:
        """The options of a client of httpx. Streams know no proxies, so that no request goes through one."""
        return {
            "base_url": self.url,
            "headers": self.headers,
            "trust_env": False,
            # One that trusts nobody takes no time to make, and is not used where there is no TLS.
            "verify": self.context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        }

    def attempts(self) -> Attempts:
        return Attempts(self.timeout, self.retries)


class Attempts:
    """The tries of one request, which together take no longer than the timeout."""

    def __init__(self, timeout: float, retries: int) -> None:
        self._timeout = timeout
        self._left = retries
        self._deadline = time.monotonic() + timeout

    @property
    def seconds(self) -> float:
        """How long the next try may take."""
        return max(0.001, self._deadline - time.monotonic())

    def after(self, error: Exception) -> float:
        """Says how many seconds to wait before the next try, or raises the error when there is none."""
        if isinstance(error, httpx.TransportError):
            # Nothing was sent when no connection could be made. What was sent may be under way still.
            wait = 0.1 if isinstance(error, httpx.ConnectError) else None
            what = (
                f"Guard did not answer within {self._timeout:g} s"
                if isinstance(error, httpx.TimeoutException)
                else ("Guard cannot be reached")
            )
            error = with_cause(GuardUnavailableError(f"{what} ({type(error).__name__})."), error)
        elif isinstance(error, GuardProblemError) and error.status in BUSY:
            wait = 0.5 if error.retry_after is None else error.retry_after
        elif isinstance(error, httpx.HTTPError):
            wait, error = None, GuardReplyError(f"The server's answer cannot be read ({type(error).__name__}).")
        else:
            wait = None
        if wait is None or self._left == 0 or wait >= self._deadline - time.monotonic():
            raise error
        self._left -= 1
        return wait


def read(request: Request[Answer], response: httpx.Response) -> Answer:
    """Reads the answer to a request, or raises the problem that it is."""
    if response.status_code != 200:
        raise problem(response.status_code, response.headers, response.content)
    return request.read(parse(response.content))


def parse(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        raise GuardReplyError("The server's answer is no JSON.") from None


def problem(status: int, headers: Mapping[str, str], content: bytes) -> GuardProblemError:
    """The problem that a reply is, whether guard wrote it or something before guard."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    after = headers.get("retry-after", "")
    retry_after = float(after) if after.isdecimal() and len(after) < 10 else None
    return GuardProblemError(status, body if isinstance(body, dict) else {}, retry_after)
