"""Lets a peer answer questions: one JSON object a line on standard input, and one a line as the answer on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any


def answer_with(measure: Callable[..., dict[str, Any]]) -> None:
    """Answers each question with `measure`, which takes the fields of the question. An error becomes an answer, too."""
    for line in sys.stdin:
        try:
            answer = measure(**json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
