"""A server with llm-guard's scanners, for benches/compare/http.mjs.

This is not llm-guard's own API, whose package is on no registry. It is written for this benchmark and serves POST /analyze/prompt as that one
does: FastAPI on uvicorn with CORS headers, `llm_guard.scan_prompt` in a thread pool of the request's own under a time limit, and the same
fields in the answer. It does less: no rate limit, no traces, no metrics, no log and no cache (all prompts differ), so that it answers
more requests than the original would.

    python app.py PORT SCANNERS THREADS, where SCANNERS is a JSON list of {"type", "params"}, and THREADS is "own" as described, or "kept" for
    one thread pool of all requests, which the original does not have and with which it would be several times faster
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

port, listed, keeps = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3] == "kept"
scanners = [getattr(input_scanners, entry["type"])(**entry["params"]) for entry in listed]
app = FastAPI()
app.add_middleware(CORSMiddleware, allow_origins=["*"])
TIMEOUT = 10


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
    with nullcontext() if keeps else ThreadPoolExecutor() as threads:
        scan = loop.run_in_executor(threads, scan_prompt, scanners, request.prompt)
        text, valid, scores = await asyncio.wait_for(scan, TIMEOUT)
    return Response(is_valid=all(valid.values()), scanners=scores, sanitized_prompt=text)


uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)
