"""The peer of benches/compare/main.mjs: single scanners of llm-guard 0.3.16, and tiktoken.

    python -m venv env && env/bin/pip install llm-guard==0.3.16
    GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:compare

TokenLimit needs tiktoken's encoding (TIKTOKEN_CACHE_DIR), and Sentiment needs NLTK's vader_lexicon (NLTK_DATA). Missing files are downloaded
at the first use.

Reads one JSON object a line, {"peer", "params", "texts": [path, ...], "durationMs"}. The peer is "input X" or "output X" for the scanner X, or
"tiktoken". It scans all texts repeatedly for at least the duration and answers {"callMs", "failed"}: the duration of a call, and how many
texts failed or were rewritten. Reading the files is not timed. An error is {"error"}.
"""

from __future__ import annotations

import importlib
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import structlog
from protocol import serve

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

Scan = Callable[[str], bool]


def create_scan(peer: str, params: dict[str, Any]) -> Scan:
    if peer == "tiktoken":
        import tiktoken

        encoding = tiktoken.get_encoding("cl100k_base")
        return lambda text: len(encoding.encode(text, disallowed_special=())) > params["limit"]
    side, name = peer.split(" ")
    if "vault" in params:
        from llm_guard.vault import Vault

        params = {**params, "vault": Vault([tuple(pair) for pair in params["vault"]])}
    scanner = getattr(importlib.import_module(f"llm_guard.{side}_scanners"), name)(**params)

    def is_flagged(text: str, result: tuple[str, bool, float]) -> bool:
        return not result[1] or result[0] != text

    if side == "input":
        return lambda text: is_flagged(text, scanner.scan(text))
    return lambda text: is_flagged(text, scanner.scan("", text))


scans: dict[str, Scan] = {}
contents_by_path: dict[str, str] = {}


def content(path: str) -> str:
    if path not in contents_by_path:
        with open(path, encoding="utf-8", newline="") as file:
            contents_by_path[path] = file.read()
    return contents_by_path[path]


def measure(peer: str, params: dict[str, Any], texts: list[str], durationMs: float) -> dict[str, float]:
    key = json.dumps([peer, params])
    if key not in scans:
        scans[key] = create_scan(peer, params)
    scan = scans[key]
    contents = [content(path) for path in texts]
    calls, failed = 0, 0
    start = time.perf_counter()
    while True:
        failed = sum(scan(text) for text in contents)
        calls += len(contents)
        now = time.perf_counter()
        if now > start + durationMs / 1000:
            return {"callMs": (now - start) * 1000 / calls, "failed": failed}


serve(measure)
