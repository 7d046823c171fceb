"""Checks that the programs in README.md print the shown output."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
PROGRAMS = re.findall(r"```python\n(.*?)```\n+```text\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.mark.parametrize("index", range(len(PROGRAMS)))
def test_prints_the_shown_output(url: str, index: int) -> None:
    program, printed = PROGRAMS[index]
    source = program.replace("http://127.0.0.1:8000", url)
    path = str(README.parent / "src")
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r})\n{source}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr == ""
    assert result.stdout == printed


def test_finds_the_programs() -> None:
    assert len(PROGRAMS) == 3
