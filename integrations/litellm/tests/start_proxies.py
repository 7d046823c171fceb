"""
Runs ``litellm`` several times: takes lines of JSON with the folder and the arguments of each proxy.

Loading LiteLLM takes most of the time that a proxy needs to start, so it is loaded once, and the proxies are forked from this process.
"""

from __future__ import annotations

import json
import os
import sys

import litellm.proxy.proxy_server  # noqa: F401
from litellm import run_server

for line in sys.argv[1:]:
    folder, arguments = json.loads(line)
    if os.fork() == 0:
        os.chdir(folder)
        log = os.open("log.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for stream in (1, 2):
            os.dup2(log, stream)
        sys.argv = ["litellm", *arguments]
        sys.exit(run_server())

for _ in sys.argv[1:]:
    os.wait()
