"""Real LiteLLM proxies, one for each mode."""

from __future__ import annotations

import json
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
  - {{model_name: gemini-fake, litellm_params: {{model: gemini/gemini-fake, api_base: "{upstream}", api_key: x}}}}
  - model_name: text-fake
    litellm_params: {{model: text-completion-openai/gpt-3.5-turbo-instruct, api_base: "{upstream}/v1", api_key: x}}
  - {{model_name: embed-fake, litellm_params: {{model: openai/embed-fake, api_base: "{upstream}/v1", api_key: x}}}}
  - {{model_name: moderation-fake, litellm_params: {{model: openai/moderation, api_base: "{upstream}/v1", api_key: x}}}}
  - model_name: whisper-fake
    litellm_params: {{model: openai/whisper-1, api_base: "{upstream}/v1", api_key: x}}
    model_info: {{mode: audio_transcription}}
router_settings: {{num_retries: 0}}
search_tools:
  - search_tool_name: search-fake
    litellm_params: {{search_provider: perplexity, api_base: "{upstream}/v1", api_key: x}}
vector_store_registry:
  - vector_store_name: store-fake
    litellm_params: {{vector_store_id: vs_fake, custom_llm_provider: openai, api_base: "{upstream}/v1", api_key: x}}
mcp_servers:
  tools_fake: {{url: "{upstream}/mcp", transport: http, allow_all_keys: true}}
litellm_settings:
  callbacks: ["{callback}"]
  guard_mode: {mode}
  guard_unknown_calls: {unknown_calls}
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

    def answers(self) -> list[str]:
        """The lines of the log with replies of guard."""
        lines = self.log.read_text().splitlines()
        return [line for line in lines if line.startswith("guard: INFO: Received response - ")]


@contextmanager
def running_proxies(folder: Path, guard_url: str, upstream_url: str) -> Iterator[dict[str, Proxy]]:
    ports = {mode: free_port() for mode in MODES}
    lines = []
    for mode, port in ports.items():
        home = folder / mode
        home.mkdir()
        # LiteLLM loads a name without a dot from the file `.py` beside its configuration.
        is_short = mode == "key-specific"
        if is_short:
            (home / ".py").write_text("from guard_litellm import guard_moderations\n")
        callback = "guard_moderations" if is_short else "guard_litellm.guard_moderations"
        unknown_calls = "check_request" if mode == "key-specific" else "refuse"
        names = {"mode": mode, "unknown_calls": unknown_calls, "master_key": MASTER_KEY, "callback": callback}
        config = CONFIG.format(upstream=upstream_url, **names)
        (home / "config.yaml").write_text(config)
        (home / "keys.py").write_text(KEYS)
        (home / "log.txt").touch()
        arguments = ["--config", str(home / "config.yaml"), "--host", "127.0.0.1", "--port", str(port)]
        lines.append(json.dumps([str(home), arguments]))
    environment = {
        **os.environ,
        "GUARD_API_BASE": guard_url,
        "GUARD_API_KEY": TOKEN,
        "GUARD_TIMEOUT": "5",
        # The target of LiteLLM's pass-through endpoint `/anthropic`.
        "ANTHROPIC_API_BASE": upstream_url,
        "ANTHROPIC_API_KEY": "x",
        # Otherwise LiteLLM downloads a file when it is imported.
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path.endswith("/src")),
    }
    program = Path(__file__).with_name("start_proxies.py")
    # The proxy has its own process group, so that its children end with it.
    process = subprocess.Popen([sys.executable, str(program), *lines], env=environment, start_new_session=True)
    try:
        proxies = {
            mode: Proxy(mode, f"http://127.0.0.1:{port}", folder / mode / "log.txt") for mode, port in ports.items()
        }
        for proxy in proxies.values():
            _wait(proxy, process)
        yield proxies
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def _wait(proxy: Proxy, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{proxy.url}/health/liveliness", trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"the proxy was not ready in time:\n{proxy.log.read_text()[-4000:]}")
