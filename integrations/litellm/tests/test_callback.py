"""What the callback does before a proxy is there."""

from __future__ import annotations

import subprocess
import sys

import litellm
import pytest
from fastapi import HTTPException


def test_importing_the_package_needs_nothing() -> None:
    program = "import sys, guard_litellm; print('litellm' in sys.modules)"
    path = [entry for entry in sys.path if entry.endswith("/src")]
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_without_the_address_of_guard_the_callback_cannot_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    import guard_litellm

    monkeypatch.delenv("GUARD_API_BASE", raising=False)
    with pytest.raises(ValueError, match="GUARD_API_BASE must be set"):
        _ = guard_litellm.guard_moderations
    monkeypatch.setenv("GUARD_API_BASE", "http://127.0.0.1:9")
    assert guard_litellm.guard_moderations is guard_litellm.guard_moderations
    monkeypatch.delitem(vars(guard_litellm), "guard_moderations")
    monkeypatch.setenv("GUARD_TIMEOUT", "soon")
    with pytest.raises(ValueError, match="GUARD_TIMEOUT"):
        _ = guard_litellm.guard_moderations


def test_a_mode_that_there_is_not_lets_no_call_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    from guard_litellm.callback import _is_checked

    monkeypatch.setattr(litellm, "guard_mode", "sometimes", raising=False)
    with pytest.raises(HTTPException, match="guard_mode must be all, key-specific or request-specific"):
        _is_checked({}, None)
