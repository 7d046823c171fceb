"""The peer of benches/compare/main.mjs: single scanners of llm-guard 0.3.16, and tiktoken.

    python -m venv env && env/bin/pip install llm-guard==0.3.16
    GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:compare

TokenLimit needs the encoding of tiktoken (TIKTOKEN_CACHE_DIR), and Sentiment NLTK's vader_lexicon (NLTK_DATA); both are fetched at their
first use where they are not there.

Reads one JSON object a line, {"peer", "params", "texts": [path, ...], "seconds"}. The peer is "input X" or "output X" for the scanner X, or
"tiktoken". It scans the texts in turn until the seconds are over, at least each once, and answers {"perCall", "failed"}: the seconds of a call
and how many of the texts did not pass or were changed. Reading the files is not timed. An error is {"error"}.
"""

from __future__ import annotations

import importlib
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import structlog
from answers import answer_with

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

Scan = Callable[[str], bool]


def build(peer: str, params: dict[str, Any]) -> Scan:
    if peer == "tiktoken":
        import tiktoken

        encoding = tiktoken.get_encoding("cl100k_base")
        return lambda text: len(encoding.encode(text, disallowed_special=())) > params["limit"]
    side, name = peer.split(" ")
    if "vault" in params:
        from llm_guard.vault import Vault

        params = {**params, "vault": Vault([tuple(pair) for pair in params["vault"]])}
    scanner = getattr(importlib.import_module(f"llm_guard.{side}_scanners"), name)(**params)

    def changed_or_failed(text: str, result: tuple[str, bool, float]) -> bool:
        return not result[1] or result[0] != text

    if side == "input":
        return lambda text: changed_or_failed(text, scanner.scan(text))
    return lambda text: changed_or_failed(text, scanner.scan("", text))


built: dict[str, Scan] = {}
read: dict[str, str] = {}


def content(path: str) -> str:
    if path not in read:
        with open(path, encoding="utf-8", newline="") as file:
            read[path] = file.read()
    return read[path]


def measure(peer: str, params: dict[str, Any], texts: list[str], seconds: float) -> dict[str, float]:
    key = json.dumps([peer, params])
    if key not in built:
        built[key] = build(peer, params)
    scan = built[key]
    contents = [content(path) for path in texts]
    calls, failed = 0, 0
    start = time.perf_counter()
    while True:
        failed = sum(scan(text) for text in contents)
        calls += len(contents)
        now = time.perf_counter()
        if now > start + seconds:
            return {"perCall": (now - start) / calls, "failed": failed}


answer_with(measure)
