"""The settings of a connection, and its retries. The clients share them with streams, which open connections of their own."""

from __future__ import annotations

import json
import os
import ssl
import time
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx

from .errors import GuardProblemError, invalid_reply, unavailable
from .requests import Request

Answer = TypeVar("Answer")

#: The statuses after which a retry may succeed: too many requests, and a server that starts, closes or is overloaded.
RETRYABLE = (429, 503)


class Connection:
    """The URL of a server, the credential, the timeout and the number of retries."""

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
                "url: expected the URL of a guard server, such as http://127.0.0.1:8000, here or in the variable GUARD_API_BASE"
            )
        self.url = httpx.URL(base.rstrip("/") + "/")
        secret = token or os.environ.get("GUARD_API_KEY")
        self.headers: dict[str, str] = {
            **({"Authorization": f"Bearer {secret}"} if secret else {}),
            **(headers or {}),
            "Accept": "application/json",
        }
        if timeout <= 0:
            raise ValueError(f"timeout: must be above 0, got {timeout:g}")
        if retries < 0:
            raise ValueError(f"retries: must be at least 0, got {retries}")
        self.timeout = timeout
        self.retries = retries
        # Python's default context, because streams use it too. httpx would trust other certificate authorities.
        self.context = (context or ssl.create_default_context()) if self.url.scheme == "https" else None

    def options(self) -> dict[str, Any]:
        """The options of an httpx client. It ignores proxies of the environment, because streams do not support proxies."""
        return {
            "base_url": self.url,
            "headers": self.headers,
            "trust_env": False,
            # Without TLS the context is unused, and an empty one is fast to create.
            "verify": self.context or ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
        }

    def attempts(self) -> Attempts:
        return Attempts(self.timeout, self.retries)


class Attempts:
    """The attempts of one request. All of them together respect the timeout."""

    def __init__(self, timeout: float, retries: int) -> None:
        self._timeout = timeout
        self._left = retries
        self._deadline = time.monotonic() + timeout

    @property
    def seconds(self) -> float:
        """The maximum duration of the next attempt."""
        return max(0.001, self._deadline - time.monotonic())

    def wait_after(self, error: Exception) -> float:
        """Returns the seconds to wait before the next attempt, or raises the error if there is none."""
        if isinstance(error, httpx.TransportError):
            # Without a connection nothing was sent. After a connection the server may still be working on the request.
            wait = 0.1 if isinstance(error, httpx.ConnectError) else None
            is_late = isinstance(error, httpx.TimeoutException)
            reason = f"did not answer within {self._timeout:g} s" if is_late else "could not be reached"
            error = unavailable(reason, error)
        elif isinstance(error, GuardProblemError) and error.status in RETRYABLE:
            wait = 0.5 if error.retry_after is None else error.retry_after
        elif isinstance(error, httpx.HTTPError):
            wait, error = None, invalid_reply(f"it cannot be read ({type(error).__name__})")
        else:
            wait = None
        if wait is None or self._left == 0 or wait >= self._deadline - time.monotonic():
            raise error
        self._left -= 1
        return wait


def read_response(request: Request[Answer], response: httpx.Response) -> Answer:
    """Returns the report of a response, or raises its problem."""
    if response.status_code != 200:
        raise problem_error(response.status_code, response.headers, response.content)
    return request.read(parse_json(response.content))


def parse_json(content: bytes) -> object:
    try:
        return json.loads(content)
    except ValueError:
        raise invalid_reply("it is not JSON") from None


def problem_error(status: int, headers: Mapping[str, str], content: bytes) -> GuardProblemError:
    """Creates the error of a reply that is not 200, from guard or from a proxy before it."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    after = headers.get("retry-after", "")
    retry_after = float(after) if after.isdecimal() and len(after) < 10 else None
    return GuardProblemError(status, body if isinstance(body, dict) else {}, retry_after)
