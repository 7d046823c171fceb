"""Tests the callback without a proxy."""

from __future__ import annotations

import subprocess
import sys

import litellm
import pytest
from fastapi import HTTPException


def test_importing_the_package_requires_nothing() -> None:
    program = "import sys, guard_litellm; print('litellm' in sys.modules)"
    path = [entry for entry in sys.path if entry.endswith("/src")]
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}; {program}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_the_callback_requires_the_url_of_guard(monkeypatch: pytest.MonkeyPatch) -> None:
    import guard_litellm

    monkeypatch.delenv("GUARD_API_BASE", raising=False)
    with pytest.raises(ValueError, match=r"^GUARD_API_BASE: must be set"):
        _ = guard_litellm.guard_moderations
    monkeypatch.setenv("GUARD_API_BASE", "http://127.0.0.1:9")
    assert guard_litellm.guard_moderations is guard_litellm.guard_moderations
    monkeypatch.delitem(vars(guard_litellm), "guard_moderations")
    monkeypatch.setenv("GUARD_TIMEOUT", "soon")
    with pytest.raises(ValueError, match=r"^GUARD_TIMEOUT: must be a number"):
        _ = guard_litellm.guard_moderations


def test_an_unknown_mode_passes_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    from guard_litellm.callback import _is_checked

    monkeypatch.setattr(litellm, "guard_mode", "sometimes", raising=False)
    with pytest.raises(HTTPException, match="guard_mode: must be all, key-specific or request-specific"):
        _is_checked({}, None)
