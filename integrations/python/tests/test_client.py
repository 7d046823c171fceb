"""Tests both clients with a real server, and with a server that sends invalid replies."""

from __future__ import annotations

import time
from typing import Any

import pytest
from conftest import Ask, Fake, ask_with, methods_of

from guard_scan import (
    AsyncGuard,
    Guard,
    GuardBlockedError,
    GuardProblemError,
    GuardReplyError,
    GuardUnavailableError,
)

TEXT = "Write to ann@example.com about lions. 🦁"
MASKED = "Write to [REDACTED_EMAIL_ADDRESS_1] about lions. 🦁"
GOOD = {"sanitized_prompt": "Hello", "is_valid": True, "scanners": {"A": -1.0}, "outcome": "passed"}


class TestPrompts:
    def test_unpacks_like_the_result_of_llm_guard(self, ask: Ask) -> None:
        sanitized_prompt, results_valid, results_score = ask("scan_prompt", TEXT)
        assert sanitized_prompt == MASKED
        assert results_valid == {"BanSubstrings": True, "Anonymize": False}
        assert results_score == {"BanSubstrings": -1, "Anonymize": 0.9}

    def test_has_an_outcome(self, ask: Ask) -> None:
        assert ask("scan_prompt", "Hello").outcome == "passed"
        masked = ask("scan_prompt", TEXT)
        assert (masked.outcome, masked.is_valid, masked.is_blocked) == ("masked", False, False)
        masked.raise_if_blocked()
        [found] = masked.findings["Anonymize"]
        assert TEXT[found["start"] : found["end"]] == "ann@example.com"
        blocked = ask("scan_prompt", "A zebra")
        assert blocked.is_blocked
        with pytest.raises(GuardBlockedError, match=r"^The request was blocked by guard: BanSubstrings\.$") as caught:
            blocked.raise_if_blocked()
        assert caught.value.report is blocked

    def test_accepts_options(self, ask: Ask) -> None:
        assert ask("scan_prompt", "A zebra", suppress=["BanSubstrings"]).outcome == "passed"
        assert "Anonymize" not in ask("scan_prompt", TEXT, suppress=["Anonymize"]).results_valid
        judged = ask("scan_prompt", TEXT, rewrite=False)
        assert (judged.is_valid, judged.sanitized_prompt, judged.vault) == (False, TEXT, None)

    def test_repr_contains_no_texts_and_no_vault(self, ask: Ask) -> None:
        report = ask("scan_prompt", TEXT)
        assert report.vault
        assert report.vault not in repr(report)
        assert "lions" not in repr(report)


class TestOutputs:
    def test_restores_values_from_the_vault(self, ask: Ask) -> None:
        prompt = ask("scan_prompt", TEXT)
        calls = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": f'{{"a": "{MASKED}"}}'}}]
        output = ask("scan_output", MASKED, f"You said: {MASKED}", vault=prompt.vault, tool_calls=calls)
        assert output.sanitized_output == f"You said: {TEXT}"
        assert output.sanitized_tool_calls[0]["function"]["arguments"] == f'{{"a": "{TEXT}"}}'
        sanitized, valid, _ = output
        assert (sanitized, all(valid.values())) == (f"You said: {TEXT}", True)

    def test_raises_if_blocked(self, ask: Ask) -> None:
        messages = [{"role": "user", "content": "Which?"}]
        report = ask("scan_output", "Which?", "The giraffe", messages=messages, system="Be brief.")
        with pytest.raises(GuardBlockedError, match=r"^The answer was blocked by guard: BanSubstrings\.$"):
            report.raise_if_blocked()


class TestConversations:
    MESSAGES = (
        {"role": "user", "content": "I am ann@example.com"},
        {"role": "assistant", "content": "Hello ann@example.com"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "Mail bob@example.com"}, {"type": "image_url", "image_url": {}}],
        },
    )

    def test_reads_other_fields(self, ask: Ask) -> None:
        fields = {"prediction": {"type": "content", "content": "Mail ann@example.com"}, "seed": 7}
        report = ask("scan_conversation", [], fields=fields)
        prediction = {"type": "content", "content": "Mail [REDACTED_EMAIL_ADDRESS_1]"}
        assert report.sanitized_fields == {"prediction": prediction, "seed": 7}
        stateful = ask("scan_conversation", self.MESSAGES, fields={"previous_response_id": "resp_1"})
        assert stateful.coverage["state_elsewhere"] == ["previous_response_id"]

    def test_returns_all_parts(self, ask: Ask) -> None:
        tools = [{"type": "function", "function": {"name": "f", "description": "Sends mail.", "parameters": {}}}]
        report = ask("scan_conversation", self.MESSAGES, tools=tools, system="Mails go to ann@example.com")
        assert report.sanitized_system == "Mails go to [REDACTED_EMAIL_ADDRESS_1]"
        assert report.sanitized_tools == tools
        assert [message["content"] for message in report.sanitized_messages[:2]] == [
            "I am [REDACTED_EMAIL_ADDRESS_1]",
            "Hello [REDACTED_EMAIL_ADDRESS_1]",
        ]
        assert report.sanitized_messages[2]["content"] == [
            {"type": "text", "text": "Mail [REDACTED_EMAIL_ADDRESS_2]"},
            {"type": "image_url", "image_url": {}},
        ]
        assert report.outcome == "masked"
        assert report.coverage["parts_skipped"] == 1

    def test_keeps_placeholders_of_known_values(self, ask: Ask) -> None:
        first = ask("scan_prompt", "bob@example.com")
        later = ask("scan_conversation", self.MESSAGES, vault=first.vault)
        assert later.sanitized_messages[2]["content"][0]["text"] == "Mail [REDACTED_EMAIL_ADDRESS_1]"

    def test_can_keep_the_texts(self, ask: Ask) -> None:
        report = ask("scan_conversation", self.MESSAGES, rewrite=False)
        assert report.is_valid is False
        assert report.sanitized_messages == list(self.MESSAGES)


class TestDocuments:
    def test_judges_each_document(self, ask: Ask) -> None:
        report = ask("scan_documents", [{"id": "a", "text": TEXT}, "A zebra", "Hello"])
        assert [document.is_valid for document in report.documents] == [False, False, True]
        assert report.documents[0].sanitized_text == MASKED
        assert report.documents[0].raw["id"] == "a"
        with pytest.raises(GuardBlockedError, match="BanSubstrings"):
            report.raise_if_blocked()

    def test_can_keep_the_texts(self, ask: Ask) -> None:
        report = ask("scan_documents", [TEXT], rewrite=False)
        assert report.documents[0].sanitized_text == TEXT


class TestErrors:
    def test_raises_problems(self, kind: str, url: str) -> None:
        with pytest.raises(GuardProblemError, match="401") as caught:
            ask_with(kind, url, "another")("scan_prompt", "Hello")
        assert caught.value.status == 401
        with pytest.raises(GuardProblemError, match="/source") as caught:
            ask_with(kind, url)("scan_prompt", "Hello", source="nobody")
        assert (caught.value.status, caught.value.errors[0]["pointer"]) == (422, "/source")

    def test_names_an_unreachable_server(self, kind: str) -> None:
        with pytest.raises(GuardUnavailableError, match=r"^The guard server could not be reached "):
            ask_with(kind, "http://127.0.0.1:9")("scan_prompt", "Hello")

    def test_times_out(self, kind: str, fake: Fake) -> None:
        fake.says(200, GOOD)
        fake.delay.clear()
        start = time.monotonic()
        with pytest.raises(GuardUnavailableError, match=r"did not answer within 0\.3 s"):
            ask_with(kind, fake.url, timeout=0.3)("scan_prompt", "Hello")
        assert time.monotonic() - start < 5

    def test_retries_when_the_server_is_overloaded(self, kind: str, fake: Fake) -> None:
        for _ in range(2):
            fake.says(503, {"detail": "Too many scans are under way."}, retry_after="0")
        fake.says(200, GOOD)
        assert ask_with(kind, fake.url)("scan_prompt", "Hello").outcome == "passed"
        assert len(fake.bodies) == 3

    @pytest.mark.parametrize(("retries", "tries"), [(0, 1), (1, 2)])
    def test_stops_after_the_retries(self, kind: str, fake: Fake, retries: int, tries: int) -> None:
        fake.says(503, {"detail": "Too many scans are under way."}, retry_after="0")
        with pytest.raises(GuardProblemError, match="503: Too many scans are under way"):
            ask_with(kind, fake.url, retries=retries)("scan_prompt", "Hello")
        assert len(fake.bodies) == tries

    def test_never_waits_longer_than_the_timeout(self, kind: str, fake: Fake) -> None:
        fake.says(503, {}, retry_after="60")
        with pytest.raises(GuardProblemError) as caught:
            ask_with(kind, fake.url, timeout=2)("scan_prompt", "Hello")
        assert caught.value.retry_after == 60
        assert len(fake.bodies) == 1

    def test_knows_texts_in_review(self, kind: str, fake: Fake) -> None:
        reviews = [{"id": "rv-1", "scanner": "A", "state": "pending", "expires": "2999-01-01T00:00:00Z"}]
        fake.says(200, {**GOOD, "outcome": "review", "is_valid": False, "reviews": reviews})
        held = ask_with(kind, fake.url)("scan_prompt", "Hello")
        assert held.is_blocked
        with pytest.raises(GuardBlockedError, match=r"held by guard until a person has approved it \(review rv-1\)\.$"):
            held.raise_if_blocked()

    def test_lets_marked_texts_pass(self, kind: str, fake: Fake) -> None:
        fake.says(200, {**GOOD, "outcome": "review"})
        marked = ask_with(kind, fake.url)("scan_prompt", "Hello")
        assert (marked.outcome, marked.is_blocked, marked.review_ids) == ("review", False, [])

    @pytest.mark.parametrize(
        "change",
        [
            {"outcome": None},
            {"outcome": "fine"},
            {"outcome": "masked"},
            {"is_valid": None},
            {"is_valid": "true"},
            {"is_valid": False},
            {"sanitized_prompt": None},
            {"sanitized_prompt": ["Hello"]},
            {"scanners": None},
            {"scanners": {"A": "low"}},
            {"scanners": {"A": True}},
            {"vault": 1},
        ],
    )
    def test_an_incomplete_reply_never_passes(self, kind: str, fake: Fake, change: dict[str, Any]) -> None:
        fake.says(200, {name: value for name, value in {**GOOD, **change}.items() if value is not None})
        with pytest.raises(GuardReplyError):
            ask_with(kind, fake.url)("scan_prompt", "Hello")

    @pytest.mark.parametrize("body", [b"", b"hello", b"[]", b"null", b"\xff"])
    def test_a_foreign_reply_never_passes(self, kind: str, fake: Fake, body: bytes) -> None:
        fake.says(200, body)
        with pytest.raises(GuardReplyError):
            ask_with(kind, fake.url)("scan_prompt", "Hello")

    def test_a_shortened_conversation_never_passes(self, kind: str, fake: Fake) -> None:
        fake.says(200, {**GOOD, "sanitized_messages": []})
        with pytest.raises(GuardReplyError, match="sanitized_messages"):
            ask_with(kind, fake.url)("scan_conversation", [{"role": "user", "content": "Hello"}])


class TestSettings:
    def test_are_read_from_the_environment(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("GUARD_API_BASE", url)
        monkeypatch.setenv("GUARD_API_KEY", "another")
        with Guard() as guard, pytest.raises(GuardProblemError, match="401"):
            guard.scan_prompt("Hello")

    @pytest.mark.parametrize("client", [Guard, AsyncGuard])
    def test_are_validated(self, client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("GUARD_API_BASE", raising=False)
        for options in (
            {},
            {"url": "guard:8000"},
            {"url": "http://guard", "timeout": 0},
            {"url": "http://guard", "retries": -1},
        ):
            with pytest.raises(ValueError, match=r"^(url|timeout|retries): "):
                client(**options)

    def test_ignore_proxies_of_the_environment(self, kind: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
        assert ask_with(kind, url)("scan_prompt", "Hello").outcome == "passed"


def test_both_clients_have_the_same_methods() -> None:
    waiting, asynchronous = methods_of(Guard), methods_of(AsyncGuard)
    waiting.pop("scan_output_stream")
    assert {name: list(signature.parameters.values()) for name, signature in waiting.items()} == {
        name: list(signature.parameters.values()) for name, signature in asynchronous.items()
    }
