"""A real guard server from the build of this repository, with rule-based scanners."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[3]
TOKEN = "a-token-for-the-tests"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def guard_server() -> Iterator[str]:
    """Starts a server, and yields its URL."""
    config = Path(__file__).with_name("scanners.yml")
    node = os.environ.get("GUARD_NODE") or shutil.which("node") or "node"
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    command = [node, str(ROOT / "dist/cli/main.js"), "serve", "--config", str(config), "--port", str(port)]
    server = subprocess.Popen(command, env={**os.environ, "GUARD_API_KEY": TOKEN})
    try:
        for _ in range(1200):
            if server.poll() is not None:
                raise RuntimeError(f"the server ended with code {server.returncode}")
            try:
                if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        else:
            raise RuntimeError("the server was not ready in time")
        yield url
    finally:
        server.terminate()
        server.wait(20)
