from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from front import Front, running_front
from guard_server import guard_server
from proxies import CHECKED_KEY, MODES, Proxy, running_proxies
from upstream import Upstream, running_upstream


@dataclass
class Outcome:
    """The result of a call."""

    status: int
    #: The body that the client received.
    text: str
    #: The bodies that the upstream received.
    sent: list[str]
    #: The replies of guard in the log.
    answers: list[str]

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def events(self) -> list[Any]:
        """The events of a stream."""
        lines = [line[5:].strip() for line in self.text.splitlines() if line.startswith("data:")]
        return [json.loads(line) for line in lines if line != "[DONE]"]


@dataclass
class Setup:
    proxies: dict[str, Proxy]
    upstream: Upstream
    front: Front
    client: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=30, trust_env=False))

    def call(
        self, mode: str, path: str, body: dict[str, Any], checked: bool = True, file: bytes | None = None
    ) -> Outcome:
        """Calls a proxy with a key or metadata that enables or disables the check in its mode."""
        proxy = self.proxies[mode]
        key = CHECKED_KEY if mode == "key-specific" and checked else "sk-other"
        if mode == "request-specific":
            body = {**body, "metadata": {"permissions": {"enable_guard_check": checked}}}
        self.upstream.bodies.clear()
        before = len(proxy.answers())
        headers = {"authorization": f"Bearer {key}"}
        if file is None:
            response = self.client.post(proxy.url + path, json=body, headers=headers)
        else:
            fields = {name: value if isinstance(value, str) else json.dumps(value) for name, value in body.items()}
            response = self.client.post(proxy.url + path, data=fields, files={"file": ("a.wav", file)}, headers=headers)
        return Outcome(response.status_code, response.text, list(self.upstream.bodies), proxy.answers()[before:])


@pytest.fixture(scope="session")
def setup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setup]:
    with guard_server() as guard, running_front(guard) as front, running_upstream() as upstream:
        with running_proxies(tmp_path_factory.mktemp("proxies"), front.url, upstream.url) as proxies:
            yield Setup(proxies, upstream, front)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "mode" in metafunc.fixturenames:
        metafunc.parametrize("mode", MODES)
    # In the mode all every call is checked.
    if "choosing" in metafunc.fixturenames:
        metafunc.parametrize("choosing", [mode for mode in MODES if mode != "all"])
