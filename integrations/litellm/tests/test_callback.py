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


@pytest.mark.parametrize(
    "name",
    [
        "alist_batches",
        "aget_responses",
        "afile_content",
        "acreate_batch",
        "avideo_status",
        "adelete_eval",
    ],
)
def test_calls_without_text_pass(name: str) -> None:
    from guard_litellm.callback import _is_body_checked

    assert not _is_body_checked(name)


@pytest.mark.parametrize("name", ["acreate_interaction", "pass_through_endpoint", "anything_new", "_arealtime"])
def test_calls_of_unknown_types_are_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from guard_litellm.callback import _is_body_checked

    with pytest.raises(HTTPException, match=f"guard cannot check calls of type {name}") as raised:
        _is_body_checked(name)
    assert raised.value.status_code == 400
    monkeypatch.setattr(litellm, "guard_unknown_calls", "pass", raising=False)
    assert not _is_body_checked(name)
    monkeypatch.setattr(litellm, "guard_unknown_calls", "check_request", raising=False)
    if name == "_arealtime":
        with pytest.raises(HTTPException, match="guard cannot check calls of type _arealtime"):
            _is_body_checked(name)
    else:
        assert _is_body_checked(name)
    monkeypatch.setattr(litellm, "guard_unknown_calls", "sometimes", raising=False)
    with pytest.raises(HTTPException, match="guard_unknown_calls: must be refuse, check_request or pass"):
        _is_body_checked(name)


def test_an_unknown_mode_passes_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    from guard_litellm.callback import _is_checked

    monkeypatch.setattr(litellm, "guard_mode", "sometimes", raising=False)
    with pytest.raises(HTTPException, match="guard_mode: must be all, key-specific or request-specific"):
        _is_checked({}, None)
