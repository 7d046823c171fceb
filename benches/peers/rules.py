"""The peers of benches/rules/main.mjs: llm-guard 0.3.16, detect-secrets and tiktoken.

    python -m venv env && env/bin/pip install llm-guard==0.3.16
    GUARD_LLM_GUARD_PYTHON=env/bin/python npm run bench:rules

llm-guard depends on detect-secrets and tiktoken. tiktoken downloads its encoding at the first use (TIKTOKEN_CACHE_DIR).

Reads one JSON object a line, {"peer", "params", "texts": [path, ...], "durationMs"}. The peer scans all texts repeatedly for at least the
duration and answers {"passMs", "failed"}: the duration of the fastest pass over all texts, and how many texts failed. An error is {"error"}.
The texts are files, because detect-secrets reads files. For the other peers, reading the files is not timed.
"""

from __future__ import annotations

import json
import logging
import time
from typing import Any, Callable

import structlog

from protocol import serve

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))


def llm_guard(name: str) -> Callable[..., Callable[[str], bool]]:
    def create_scan(**params: Any) -> Callable[[str], bool]:
        import llm_guard.input_scanners as scanners

        scanner = getattr(scanners, name)(**params)
        return lambda text: not scanner.scan(text)[1]

    return create_scan


def tiktoken(limit: int, encoding_name: str) -> Callable[[str], bool]:
    import tiktoken as library

    encoding = library.get_encoding(encoding_name)
    return lambda text: len(encoding.encode(text, disallowed_special=())) > limit


def detect_secrets(path: str) -> bool:
    from detect_secrets.core.secrets_collection import SecretsCollection
    from detect_secrets.settings import default_settings

    secrets = SecretsCollection()
    with default_settings():
        secrets.scan_file(path)
    return bool(secrets)


PEERS: dict[str, Callable[..., Callable[[str], bool]]] = {
    **{f"llm-guard {name}": llm_guard(name) for name in ("Secrets", "Regex", "BanSubstrings", "InvisibleText", "TokenLimit")},
    "tiktoken": tiktoken,
    "detect-secrets": lambda: detect_secrets,
}

scans: dict[str, Callable[[str], bool]] = {}


def measure(peer: str, params: dict[str, Any], texts: list[str], durationMs: float) -> dict[str, float]:
    key = json.dumps([peer, params])
    if key not in scans:
        scans[key] = PEERS[peer](**params)
    scan = scans[key]
    if peer != "detect-secrets":
        texts = [open(path, encoding="utf-8", newline="").read() for path in texts]
    fastest, failed = float("inf"), 0
    end = time.perf_counter() + durationMs / 1000
    while True:
        start = time.perf_counter()
        failed = sum(scan(text) for text in texts)
        fastest = min(fastest, time.perf_counter() - start)
        if time.perf_counter() > end:
            return {"passMs": fastest * 1000, "failed": failed}


serve(measure)
