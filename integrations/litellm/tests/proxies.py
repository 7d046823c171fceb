"""Real LiteLLM proxies, one for each mode, side by side."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
from guard_server import TOKEN, free_port

MODES = ("all", "key-specific", "request-specific")
MASTER_KEY = "sk-guard-local-test-master-key"
#: A key whose calls are checked in the mode key-specific.
CHECKED_KEY = "sk-checked"

CONFIG = """
model_list:
  - {{model_name: gpt-fake, litellm_params: {{model: openai/gpt-fake, api_base: "{upstream}/v1", api_key: x}}}}
  - {{model_name: claude-fake, litellm_params: {{model: anthropic/claude-3-5-haiku-20241022, api_base: "{upstream}", api_key: x}}}}
  - {{model_name: text-fake, litellm_params: {{model: text-completion-openai/gpt-3.5-turbo-instruct, api_base: "{upstream}/v1", api_key: x}}}}
  - {{model_name: embed-fake, litellm_params: {{model: openai/embed-fake, api_base: "{upstream}/v1", api_key: x}}}}
  - {{model_name: omni-moderation-latest, litellm_params: {{model: openai/omni-moderation-latest, api_base: "{upstream}/v1", api_key: x}}}}
  - model_name: whisper-fake
    litellm_params: {{model: openai/whisper-1, api_base: "{upstream}/v1", api_key: x}}
    model_info: {{mode: audio_transcription}}
router_settings: {{num_retries: 0}}
litellm_settings:
  callbacks: ["guard_litellm.guard_moderations"]
  guard_mode: {mode}
general_settings:
  master_key: {master_key}
  custom_auth: keys.auth
"""

KEYS = f"""
from litellm.proxy._types import UserAPIKeyAuth


async def auth(request, api_key):
    return UserAPIKeyAuth(api_key=api_key, permissions={{"enable_guard_check": api_key == "{CHECKED_KEY}"}})
"""


@dataclass
class Proxy:
    mode: str
    url: str
    log: Path
    process: subprocess.Popen[bytes]

    def answers(self) -> list[str]:
        """The lines of the log that say what guard answered."""
        return [
            line for line in self.log.read_text().splitlines() if line.startswith("guard: INFO: Received response - ")
        ]


@contextmanager
def running_proxies(folder: Path, guard_url: str, upstream_url: str) -> Iterator[dict[str, Proxy]]:
    proxies = {mode: _start(folder, mode, guard_url, upstream_url) for mode in MODES}
    try:
        for proxy in proxies.values():
            _wait(proxy)
        yield proxies
    finally:
        # Each has a process group of its own.
        for proxy in proxies.values():
            os.killpg(proxy.process.pid, signal.SIGTERM)
        for proxy in proxies.values():
            try:
                proxy.process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(proxy.process.pid, signal.SIGKILL)
                proxy.process.wait(10)


def _start(folder: Path, mode: str, guard_url: str, upstream_url: str) -> Proxy:
    home = folder / mode
    home.mkdir()
    config = home / "config.yaml"
    config.write_text(CONFIG.format(upstream=upstream_url, mode=mode, master_key=MASTER_KEY))
    (home / "keys.py").write_text(KEYS)
    log = home / "log.txt"
    port = free_port()
    environment = {
        **os.environ,
        "GUARD_API_BASE": guard_url,
        "GUARD_API_KEY": TOKEN,
        "GUARD_TIMEOUT": "5",
        # Otherwise LiteLLM fetches a file when it is loaded.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("/src")),
    }
    litellm = Path(sys.executable).with_name("litellm")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(litellm), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)],
            cwd=home,
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Proxy(mode, f"http://127.0.0.1:{port}", log, process)


def _wait(proxy: Proxy) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        if proxy.process.poll() is not None:
            break
        try:
            if httpx.get(f"{proxy.url}/health/liveliness", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the proxy was not ready in time:\n{proxy.log.read_text()[-4000:]}")
