"""The protocol of a peer: one JSON object a line as a request on standard input, and one as the reply on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def serve(measure: Callable[..., dict[str, Any]]) -> None:
    """Replies to each request with `measure(**request)`, or with `{"error"}` if it raises."""
    for line in sys.stdin:
        try:
            answer = measure(**json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
