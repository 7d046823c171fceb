"""A server with llm-guard's scanners, for benches/compare/http.mjs.

This is not llm-guard's own API, which no registry has. It is written for this benchmark and serves POST /analyze/prompt like the original:
FastAPI on uvicorn with CORS headers, `llm_guard.scan_prompt` in a thread pool per request with a timeout, and the same response fields. It
has no rate limit, traces, metrics, log or cache (all prompts differ), so it answers more requests than the original would.

    python app.py PORT SCANNERS THREADS

SCANNERS is a JSON list of {"type", "params"}. THREADS is "per-request" as described, or "shared" for one thread pool of all requests, which
the original does not have and which makes it several times faster.
"""

import asyncio
import json
import logging
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import structlog
import uvicorn
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from llm_guard import input_scanners, scan_prompt
from pydantic import BaseModel

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))

port, entries, has_shared_pool = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3] == "shared"
scanners = [getattr(input_scanners, entry["type"])(**entry["params"]) for entry in entries]
app = FastAPI()
app.add_middleware(CORSMiddleware, allow_origins=["*"])
TIMEOUT_SECONDS = 10


class Request(BaseModel):
    prompt: str


class Response(BaseModel):
    is_valid: bool
    scanners: dict[str, float]
    sanitized_prompt: str


@app.get("/readyz")
async def ready() -> dict[str, str]:
    return {"status": "ready"}


@app.post("/analyze/prompt")
async def analyze(request: Request) -> Response:
    loop = asyncio.get_running_loop()
    with nullcontext() if has_shared_pool else ThreadPoolExecutor() as threads:
        scan = loop.run_in_executor(threads, scan_prompt, scanners, request.prompt)
        text, valid, scores = await asyncio.wait_for(scan, TIMEOUT_SECONDS)
    return Response(is_valid=all(valid.values()), scanners=scores, sanitized_prompt=text)


uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)
