"""How a peer answers: a question a line on standard input, as JSON, and its answer a line on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def answer_with(measure: Callable[..., dict[str, Any]]) -> None:
    """Answers each question with `measure`, which takes its fields; an error is an answer too."""
    for line in sys.stdin:
        try:
            answer = measure(**json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
