from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from guard_server import ROOT

from guard_scan import GuardProcess, GuardProcessError
from guard_scan.batches import columns_of, rows_of

COMMAND = [os.environ.get("GUARD_NODE") or shutil.which("node") or "node", str(ROOT / "dist/cli/main.js")]
ZEBRA = ["--scanner", "BanSubstrings", "--params", json.dumps({"substrings": ["zebra"], "redact": True})]


@pytest.fixture(scope="module")
def guard() -> Iterator[GuardProcess]:
    with GuardProcess(command=COMMAND, arguments=ZEBRA) as process:
        yield process


def valid(results: list[dict[str, Any]]) -> list[Any]:
    return [result.get("is_valid", result.get("error")) for result in results]


def test_scans_rows_in_order(guard: GuardProcess) -> None:
    texts = [
        f"a {'zebra' if index % 7 == 0 else 'horse'} {index} {'x' * (index % 90 * 40)} \u2028 🦓"
        for index in range(1500)
    ]
    results = list(guard.scan(texts))
    assert valid(results) == [index % 7 != 0 for index in range(1500)]
    assert results[1]["sanitized_prompt"] == texts[1]
    assert results[0]["sanitized_prompt"].startswith("a [REDACTED] 0")


def test_keeps_the_place_of_rows_that_cannot_be_scanned(guard: GuardProcess) -> None:
    rows: list[Any] = ["a horse", None, float("nan"), {"text": 1}, {"text": float("nan")}, {"x": b"y"}, "", "a zebra"]
    unreadable = "expected a string, or an object of JSON values"
    assert valid(list(guard.scan(rows))) == [
        *[True, unreadable, unreadable, "text: expected a string", unreadable, unreadable, True, False]
    ]
    assert list(guard.scan([])) == []


def test_makes_columns(guard: GuardProcess) -> None:
    columns = columns_of(guard.scan(rows_of(["a zebra", "a horse", None], ["a question", "another", "a third"])))
    assert columns == {
        "guard_valid": [False, True, None],
        "guard_text": ["a [REDACTED]", "a horse", None],
        "guard_failing": ["BanSubstrings", "", ""],
        "guard_error": [None, None, "output: expected a string"],
    }


def test_replaces_a_process_that_is_killed(guard: GuardProcess) -> None:
    pids = set()

    def rows() -> Iterator[str]:
        for index in range(300):
            if index == 150 and guard.pid:
                os.kill(guard.pid, signal.SIGKILL)
            yield f"a horse {index}"

    for index, result in enumerate(guard.scan(rows())):
        pids.add(guard.pid)
        assert result["sanitized_prompt"] == f"a horse {index}"
    assert len(pids) == 2


def test_reports_a_row_that_ends_processes(tmp_path: Path) -> None:
    # It replies to each line, and ends at some.
    program = tmp_path / "fragile.mjs"
    program.write_text(
        "import { createInterface } from 'node:readline';\n"
        "let number = 0;\n"
        "for await (const line of createInterface({ input: process.stdin })) {\n"
        "  number += 1;\n"
        "  if (line.includes('poison')) process.kill(process.pid, 'SIGKILL');\n"
        "  if (!line.includes('silence')) console.log(JSON.stringify({ line: number, is_valid: true }));\n"
        "}\n"
    )
    with GuardProcess(command=[COMMAND[0], str(program)], timeout=2) as process:
        ends = "the process of guard ends when it scans this row"
        assert valid(list(process.scan(["a", "poison", "b", "c"]))) == [True, ends, True, True]
        assert valid(list(process.scan(["silence", "b"]))) == [ends, True]


def test_says_why_guard_does_not_start() -> None:
    with pytest.raises(GuardProcessError, match="npm install -g guard-scan"):
        list(GuardProcess(command=["guard-scan-that-is-missing"]).scan(["a"]))
    with pytest.raises(GuardProcessError, match="Zebra"):
        list(GuardProcess(command=COMMAND, arguments=["--scanner", "Zebra"]).scan(["a"]))
