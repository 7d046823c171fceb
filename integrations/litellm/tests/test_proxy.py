"""Tests the real proxy in its three modes: the requests to the upstream, the replies to the client, and the log."""

from __future__ import annotations

import base64
import json
import re
import time
from typing import Any

import pytest
from conftest import Outcome, Setup
from proxies import CHECKED_KEY
from upstream import ASK_FOR_BLOCKED, ASK_FOR_CALL, ASK_FOR_MAIL, ASK_FOR_MUCH, ASK_FOR_STRIPES, LOOK_UP
from websockets.sync.client import connect

TEXT = "Write to ann@example.com about lions."
MASKED = "Write to [REDACTED_EMAIL_ADDRESS_1] about lions."
BAD = "Tell me about the zebra."


def chat(text: str) -> dict[str, Any]:
    return {
        "model": "gpt-fake",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}],
    }


def parts(text: str) -> dict[str, Any]:
    content = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    ]
    return {"model": "gpt-fake", "messages": [{"role": "user", "content": content}]}


def completions(text: str) -> dict[str, Any]:
    return {"model": "text-fake", "prompt": text}


def completion_list(text: str) -> dict[str, Any]:
    return {"model": "text-fake", "prompt": ["A harmless text.", text]}


def embeddings(text: str) -> dict[str, Any]:
    return {"model": "embed-fake", "input": [text, "A harmless text."]}


def moderations(text: str) -> dict[str, Any]:
    return {"model": "moderation-fake", "input": text}


def messages(text: str) -> dict[str, Any]:
    return {
        "model": "claude-fake",
        "max_tokens": 50,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": text}],
    }


def responses(text: str) -> dict[str, Any]:
    return {"model": "gpt-fake", "input": text, "instructions": "Be brief."}


def response_items(text: str) -> dict[str, Any]:
    part = {"type": "input_text", "text": text}
    return {"model": "gpt-fake", "input": [{"role": "user", "content": [part]}]}


def google(text: str) -> dict[str, Any]:
    contents = [{"role": "user", "parts": [{"text": text}]}]
    return {"contents": contents, "systemInstruction": {"parts": [{"text": "Be brief."}]}}


def to(model: str, make: Any) -> Any:
    """A call of a model whose provider has another API, to which LiteLLM translates."""
    return lambda text: {**make(text), "model": model}


CASES = {
    "chat": ("/v1/chat/completions", chat),
    "parts": ("/v1/chat/completions", parts),
    "completions": ("/v1/completions", completions),
    "completion list": ("/v1/completions", completion_list),
    "embeddings": ("/v1/embeddings", embeddings),
    "moderations": ("/v1/moderations", moderations),
    "messages": ("/v1/messages", messages),
    "responses": ("/v1/responses", responses),
    "response items": ("/v1/responses", response_items),
    "google": ("/v1beta/models/gemini-fake:generateContent", google),
    "google of gpt": ("/v1beta/models/gpt-fake:generateContent", google),
    "chat of claude": ("/v1/chat/completions", to("claude-fake", chat)),
    "messages of gpt": ("/v1/messages", to("gpt-fake", messages)),
    "responses of claude": ("/v1/responses", to("claude-fake", responses)),
}
#: The calls with a text as the answer.
TRANSLATED = ["google of gpt", "chat of claude", "messages of gpt", "responses of claude"]
SPEAKING = ["chat", "parts", "completions", "messages", "google", "responses", "response items", *TRANSLATED]
STREAMS = ["chat", "completions", "messages", "google", "responses", *TRANSLATED]

cases = pytest.mark.parametrize("name", CASES)
streams = pytest.mark.parametrize("name", STREAMS)


def call(setup: Setup, mode: str, name: str, text: str, checked: bool = True, **more: Any) -> Outcome:
    path, make = CASES[name]
    if name.startswith("google") and more.pop("stream", False):
        path = path.replace(":generateContent", ":streamGenerateContent?alt=sse")
    return setup.call(mode, path, {**make(text), **more}, checked)


def said(name: str, outcome: Outcome) -> str:
    """The answer of the model that the client received."""
    body, name = outcome.body, name.split(" ")[0]
    if name in ("chat", "parts"):
        return str(body["choices"][0]["message"]["content"])
    if name == "completions":
        return str(body["choices"][0]["text"])
    if name == "messages":
        return str(body["content"][0]["text"])
    if name == "google":
        return str(body["candidates"][0]["content"]["parts"][0]["text"])
    return str(body["output"][0]["content"][0]["text"])


def streamed(name: str, outcome: Outcome) -> str:
    """The streamed answer of the model that the client received."""
    name = name.split(" ")[0]
    if name == "chat":
        pieces = [choice["delta"].get("content") for event in outcome.events for choice in event["choices"]]
    elif name == "completions":
        pieces = [choice.get("text") for event in outcome.events for choice in event["choices"]]
    elif name == "messages":
        deltas = [event["delta"] for event in outcome.events if event["type"] == "content_block_delta"]
        pieces = [delta.get("text") for delta in deltas]
    elif name == "google":
        contents = [candidate["content"] for event in outcome.events for candidate in event.get("candidates", [])]
        pieces = [part.get("text") for content in contents for part in content["parts"] if not part.get("thought")]
    else:
        pieces = [event["delta"] for event in outcome.events if event["type"] == "response.output_text.delta"]
    return "".join(piece or "" for piece in pieces)


class TestRequests:
    @cases
    def test_checked(self, setup: Setup, mode: str, name: str) -> None:
        outcome = call(setup, mode, name, TEXT)
        assert outcome.status == 200, outcome.text
        assert len(outcome.sent) == 1
        assert MASKED in outcome.sent[0]
        assert "ann@example.com" not in outcome.sent[0]
        assert MASKED in outcome.answers[0]
        line = json.loads(outcome.answers[0].split(" - ", 1)[1])
        assert (line["is_valid"], line["outcome"], line["scanners"]["Anonymize"] > 0) == (False, "masked", True)
        assert MASKED in line["sanitized_prompt"]
        assert "vault" not in "".join(outcome.answers)
        if name in SPEAKING:
            assert said(name, outcome).rstrip() == f"You said: {TEXT}"
            assert len(outcome.answers) == 2
            # The values in an answer are restored, so it is not logged.
            assert "ann@example.com" not in "".join(outcome.answers)

    @cases
    def test_unchecked(self, setup: Setup, choosing: str, name: str) -> None:
        outcome = call(setup, choosing, name, TEXT, checked=False)
        assert outcome.status == 200, outcome.text
        assert TEXT in outcome.sent[0]
        assert outcome.answers == []

    @cases
    def test_blocked(self, setup: Setup, mode: str, name: str) -> None:
        outcome = call(setup, mode, name, BAD)
        assert outcome.status == 400
        assert "The request was blocked by guard: BanSubstrings" in outcome.body["error"]["message"]
        assert outcome.sent == []
        assert len(outcome.answers) == 1
        line = json.loads(outcome.answers[0].split(" - ", 1)[1])
        assert (line["sanitized_prompt"], line["is_valid"], line["outcome"]) == ("", False, "blocked")
        assert line["scanners"]["BanSubstrings"] > 0

    @cases
    def test_passes_unchecked(self, setup: Setup, choosing: str, name: str) -> None:
        outcome = call(setup, choosing, name, BAD, checked=False)
        assert outcome.status == 200
        assert BAD in outcome.sent[0]
        assert outcome.answers == []

    def test_the_whole_conversation_is_checked_and_rewritten(self, setup: Setup) -> None:
        body = chat("Thank you.")
        body["messages"][1:1] = [
            {"role": "user", "content": "I am ann@example.com"},
            {"role": "assistant", "content": "Hello ann@example.com"},
        ]
        body["messages"][0]["content"] = "Mails go to ann@example.com"
        outcome = setup.call("all", "/v1/chat/completions", body)
        assert outcome.status == 200
        assert "ann@example.com" not in outcome.sent[0]
        assert outcome.sent[0].count("[REDACTED_EMAIL_ADDRESS_1]") == 3

    @pytest.mark.parametrize(("path", "make"), [CASES["messages"], CASES["responses"]])
    def test_the_system_prompt_beside_messages_is_checked(self, setup: Setup, path: str, make: Any) -> None:
        key = "system" if path == "/v1/messages" else "instructions"
        outcome = setup.call("all", path, {**make("Hello"), key: "Mails go to ann@example.com"})
        assert outcome.status == 200
        assert "Mails go to [REDACTED_EMAIL_ADDRESS_1]" in outcome.sent[0]

    def test_an_injected_tool_definition_is_blocked(self, setup: Setup) -> None:
        tool = {"type": "function", "function": {"name": "look", "description": "Ask the zebra.", "parameters": {}}}
        outcome = setup.call("all", "/v1/chat/completions", {**chat("Hello"), "tools": [tool]})
        assert outcome.status == 400
        assert "BanSubstrings[tool_definition]" in outcome.body["error"]["message"]

    def test_an_unreadable_message_is_rejected(self, setup: Setup) -> None:
        body = {"model": "gpt-fake", "messages": [{"role": "nobody", "content": "Hello"}]}
        outcome = setup.call("all", "/v1/chat/completions", body)
        assert outcome.status == 400
        assert "/messages/0/role" in outcome.text
        assert outcome.sent == []

    @pytest.mark.parametrize(
        "more",
        [
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": {"enum": [BAD]}}}},
            {"prediction": {"type": "content", "content": BAD}},
            {"documents": [{"title": BAD}]},
            {"web_search_options": {"user_location": {"approximate": {"city": BAD}}}},
        ],
    )
    def test_other_fields_are_checked(self, setup: Setup, more: dict[str, Any]) -> None:
        for name in ("chat", "responses", "completions", "embeddings"):
            outcome = call(setup, "all", name, "Hello.", **more)
            assert (outcome.status, outcome.sent) == (400, []), name
            assert "blocked by guard: BanSubstrings" in outcome.text, name

    def test_other_fields_without_findings_pass(self, setup: Setup) -> None:
        for name in ("chat", "responses", "completions", "embeddings"):
            outcome = call(setup, "all", name, "Hello.", documents=[{"title": "A page about the weather in Rome"}])
            assert outcome.status == 200, outcome.text

    def test_other_fields_are_masked(self, setup: Setup) -> None:
        prediction = {"type": "content", "content": TEXT}
        outcome = call(setup, "all", "chat", "Hello.", prediction=prediction, temperature=0.5, stop=["\n"])
        assert outcome.status == 200, outcome.text
        sent = json.loads(outcome.sent[0])
        assert (sent["prediction"]["content"], sent["temperature"], sent["stop"]) == (MASKED, 0.5, ["\n"])

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/v1/responses/compact", {"model": "gpt-fake", "input": BAD}),
            ("/v1/videos", {"model": "gpt-fake", "prompt": BAD}),
            ("/v1/vector_stores/vs_1/search", {"query": BAD}),
            ("/v1/images/generations", {"model": "gpt-fake", "prompt": BAD}),
            ("/v1/audio/speech", {"model": "gpt-fake", "input": BAD, "voice": "alloy"}),
            ("/v1/rerank", {"model": "gpt-fake", "query": "Hello.", "documents": [{"text": "Hello.", "title": BAD}]}),
        ],
    )
    def test_rare_calls_are_blocked(self, setup: Setup, path: str, body: dict[str, Any]) -> None:
        outcome = setup.call("all", path, body)
        assert outcome.status >= 400, outcome.text
        assert outcome.sent == []
        assert "blocked by guard" in outcome.text

    @pytest.mark.parametrize(
        ("path", "body"),
        [
            ("/v1beta/interactions", {"model": "gpt-fake", "input": "Hello."}),
            ("/anthropic/v1/messages", messages("Hello.")),
        ],
    )
    def test_unknown_calls_are_refused(self, setup: Setup, path: str, body: dict[str, Any]) -> None:
        outcome = setup.call("all", path, body)
        assert outcome.status >= 400, outcome.text
        assert outcome.sent == []
        assert "guard cannot check calls of type" in outcome.text

    def test_texts_at_the_provider_are_told(self, setup: Setup) -> None:
        state = {"previous_response_id": "resp_67ccd2bed1ec8190b14f964abc054267"}
        line = call(setup, "all", "responses", "Hello.", **state).answers[0]
        assert json.loads(line.split(" - ", 1)[1])["unread"]["state_elsewhere"] == ["previous_response_id"]
        line = call(
            setup, "all", "google", "Hello.", cachedContent="cachedContents/a", tools=[{"googleSearch": {}}]
        ).answers[0]
        unread = json.loads(line.split(" - ", 1)[1])["unread"]
        assert sorted(unread["state_elsewhere"]) == ["cachedContent", "google_search"]
        assert "unread" not in json.loads(call(setup, "all", "chat", "Hello.").answers[0].split(" - ", 1)[1])

    def test_token_ids_are_not_checked(self, setup: Setup) -> None:
        outcome = setup.call("all", "/v1/embeddings", {"model": "embed-fake", "input": [1, 2, 3]})
        assert outcome.status == 200
        assert json.loads(outcome.sent[0])["input"] == [1, 2, 3]
        assert outcome.answers == []

    @pytest.mark.parametrize("metadata", [{}, {"permissions": {"enable_guard_check": "yes"}}, {"permissions": "x"}])
    def test_only_true_enables_the_check(self, setup: Setup, metadata: dict[str, Any]) -> None:
        proxy = setup.proxies["request-specific"]
        headers = {"authorization": "Bearer sk-other"}
        body = {**chat(BAD), "metadata": metadata}
        assert setup.client.post(f"{proxy.url}/v1/chat/completions", json=body, headers=headers).status_code == 200

    def test_metadata_does_not_enable_the_check_by_key(self, setup: Setup) -> None:
        body = {**chat(BAD), "metadata": {"permissions": {"enable_guard_check": False}}}
        assert setup.call("key-specific", "/v1/chat/completions", body).status == 400


class TestAudio:
    @pytest.mark.parametrize("checked", [True, False])
    def test_prompt(self, setup: Setup, mode: str, checked: bool) -> None:
        checked = checked or mode == "all"
        body = {"model": "whisper-fake", "prompt": TEXT}
        outcome = setup.call(mode, "/v1/audio/transcriptions", body, checked, b"SOUND:Hello there.:END")
        assert outcome.status == 200, outcome.text
        assert (MASKED if checked else TEXT) in outcome.sent[0]
        assert outcome.body["text"] == "Hello there."
        assert len(outcome.answers) == (2 if checked else 0)

    def test_blocked_prompt(self, setup: Setup, mode: str) -> None:
        body = {"model": "whisper-fake", "prompt": BAD}
        outcome = setup.call(mode, "/v1/audio/transcriptions", body, True, b"SOUND:Hello.:END")
        assert outcome.status == 400
        assert outcome.sent == []

    @pytest.mark.parametrize("checked", [True, False])
    def test_transcript(self, setup: Setup, mode: str, checked: bool) -> None:
        checked = checked or mode == "all"
        body = {"model": "whisper-fake"}
        outcome = setup.call(mode, "/v1/audio/transcriptions", body, checked, b"SOUND:I saw a giraffe.:END")
        assert outcome.status == 200
        blocked = "The answer was blocked by guard: BanSubstrings."
        assert outcome.body["text"] == (blocked if checked else "I saw a giraffe.")


class TestAnswers:
    @pytest.mark.parametrize("name", SPEAKING)
    def test_blocked(self, setup: Setup, mode: str, name: str) -> None:
        outcome = call(setup, mode, name, ASK_FOR_BLOCKED)
        assert outcome.status == 400
        assert "The answer was blocked by guard: BanSubstrings." in outcome.body["error"]["message"]
        assert "giraffe" not in outcome.text
        assert len(outcome.sent) == 1

    @pytest.mark.parametrize("name", SPEAKING)
    def test_unchecked(self, setup: Setup, name: str) -> None:
        outcome = call(setup, "key-specific", name, ASK_FOR_BLOCKED, checked=False)
        assert "giraffe" in said(name, outcome)

    @pytest.mark.parametrize("name", ["chat", "messages", "google", "google of gpt", "responses"])
    def test_tool_calls_are_restored(self, setup: Setup, name: str) -> None:
        outcome = call(setup, "all", name, f"{ASK_FOR_CALL} {TEXT}")
        assert MASKED in outcome.sent[0]
        if name == "chat":
            arguments = json.loads(outcome.body["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"])
        elif name == "messages":
            arguments = outcome.body["content"][0]["input"]
        elif name.startswith("google"):
            arguments = outcome.body["candidates"][0]["content"]["parts"][0]["functionCall"]["args"]
        else:
            arguments = json.loads(outcome.body["output"][0]["arguments"])
        assert arguments == {"text": f"{ASK_FOR_CALL} {TEXT}"}

    def test_clients_cannot_use_the_vault_of_another_call(self, setup: Setup) -> None:
        proxy = setup.proxies["all"]
        headers = {"authorization": "Bearer sk-other", "x-litellm-call-id": "the-same-id"}
        for text, expected in ((TEXT, TEXT), (MASKED, MASKED)):
            reply = setup.client.post(f"{proxy.url}/v1/chat/completions", json=chat(text), headers=headers)
            assert reply.json()["choices"][0]["message"]["content"] == f"You said: {expected}"


class TestStreams:
    @streams
    def test_restored(self, setup: Setup, mode: str, name: str) -> None:
        outcome = call(setup, mode, name, TEXT, stream=True)
        assert outcome.status == 200, outcome.text
        assert MASKED in outcome.sent[0]
        assert streamed(name, outcome) == f"You said: {TEXT}"
        assert "REDACTED" not in outcome.text
        assert len(outcome.answers) == 2

    @streams
    def test_unchecked(self, setup: Setup, name: str) -> None:
        outcome = call(setup, "key-specific", name, ASK_FOR_BLOCKED, checked=False, stream=True)
        assert "giraffe" in streamed(name, outcome)
        assert outcome.answers == []

    @streams
    def test_blocked(self, setup: Setup, mode: str, name: str) -> None:
        outcome = call(setup, mode, name, ASK_FOR_BLOCKED, stream=True)
        assert "giraffe" not in outcome.text
        assert "Ask me more" not in outcome.text
        assert "The answer was blocked by guard: BanSubstrings." in outcome.text

    @streams
    def test_blocked_request(self, setup: Setup, name: str) -> None:
        outcome = call(setup, "all", name, BAD, stream=True)
        assert outcome.status == 400
        assert outcome.sent == []

    def test_function_calls_of_google_are_restored(self, setup: Setup) -> None:
        outcome = call(setup, "all", "google", f"{ASK_FOR_CALL} {TEXT}", stream=True)
        parts = [part for event in outcome.events for part in event["candidates"][0]["content"]["parts"]]
        assert parts == [{"functionCall": {"name": "note", "args": {"text": f"{ASK_FOR_CALL} {TEXT}"}}}]
        assert outcome.events[-1]["candidates"][0]["finishReason"] == "STOP"

    @pytest.mark.parametrize("name", ["chat", "messages", "responses"])
    def test_tool_calls_are_restored(self, setup: Setup, name: str) -> None:
        outcome = call(setup, "all", name, f"{ASK_FOR_CALL} {TEXT}", stream=True)
        events = outcome.events
        if name == "chat":
            deltas = [choice["delta"] for event in events for choice in event["choices"]]
            calls = [call for delta in deltas for call in delta.get("tool_calls") or []]
            assert [call["function"]["name"] for call in calls] == ["note"]
            arguments = "".join(call["function"]["arguments"] for call in calls)
            assert events[-1]["choices"][0]["finish_reason"] == "tool_calls"
        elif name == "messages":
            deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
            arguments = "".join(delta["partial_json"] for delta in deltas)
            kinds = [event["type"] for event in events]
            assert (
                kinds.index("content_block_start")
                < kinds.index("content_block_delta")
                < kinds.index("content_block_stop")
            )
        else:
            arguments = events[-1]["response"]["output"][0]["arguments"]
            assert "REDACTED" not in outcome.text
        assert json.loads(arguments) == {"text": f"{ASK_FOR_CALL} {TEXT}"}

    def test_a_disconnected_client_ends_the_checks(self, setup: Setup) -> None:
        proxy = setup.proxies["all"]
        headers = {"authorization": "Bearer sk-other"}
        path = "/analyze/output/stream"
        with setup.client.stream(
            "POST", f"{proxy.url}/v1/chat/completions", json={**chat(ASK_FOR_MUCH), "stream": True}, headers=headers
        ) as reply:
            # The iterator keeps the connection open.
            lines = reply.iter_lines()
            assert any("And so on." in line for line in lines)
            assert setup.front.paths.count(path) == 1
        assert setup.upstream.is_left.wait(20)
        for _ in range(200):
            if path not in setup.front.paths:
                break
            time.sleep(0.1)
        assert path not in setup.front.paths

    def test_events_of_responses_agree(self, setup: Setup) -> None:
        events = call(setup, "all", "responses", TEXT, stream=True).events
        text = f"You said: {TEXT}"
        done = next(event for event in events if event["type"] == "response.output_text.done")
        assert done["text"] == text
        assert events[-1]["response"]["output"][0]["content"][0]["text"] == text
        numbers = [event["sequence_number"] for event in events if "sequence_number" in event]
        assert numbers == sorted(set(numbers))


class TestToolResults:
    """The results of search, of vector stores and of MCP tools are judged as texts of a tool."""

    SEARCHES = ("/v1/search/search-fake", "/v1/vector_stores/vs_fake/search")
    PLACES = ("text", "resource", "blob", "link", "structured", "key")

    def use_tool(self, setup: Setup, mode: str, question: str, place: str, checked: bool = True) -> Outcome:
        call = {"server_id": "tools_fake", "name": "look", "arguments": {"question": question, "place": place}}
        return setup.call(mode, "/mcp-rest/tools/call", call, checked)

    def shown(self, outcome: Outcome) -> str:
        """What the client received, with decoded base64."""
        blobs = re.findall(r'"blob": ?"([^"]*)"', outcome.text)
        return outcome.text + "".join(base64.b64decode(blob).decode() for blob in blobs)

    @pytest.mark.parametrize("path", SEARCHES)
    def test_of_a_search(self, setup: Setup, path: str) -> None:
        plain = setup.call("all", path, {"query": "Where do lions live?"})
        assert plain.status == 200, plain.text
        assert "They live in Africa." in plain.text
        masked = setup.call("all", path, {"query": ASK_FOR_MAIL})
        assert masked.status == 200, masked.text
        assert "Write to [REDACTED_EMAIL_ADDRESS_1], please." in masked.text
        assert "ann@example.com" not in masked.text
        assert "Write to" not in "".join(masked.answers)
        blocked = setup.call("all", path, {"query": ASK_FOR_STRIPES})
        assert (blocked.status, "zebra" in blocked.text) == (400, False)
        assert "The result of the tool was blocked by guard: BanSubstrings" in blocked.text

    @pytest.mark.parametrize("path", SEARCHES)
    def test_of_a_search_without_guard(self, setup: Setup, path: str) -> None:
        # The question is checked by the same route of guard, so its first reply passes.
        with setup.front.answering("200 OK", "{}", only="/analyze/documents", after=1):
            outcome = setup.call("all", path, {"query": "Where do lions live?"})
        assert outcome.status == 500, outcome.text
        assert "Guard could not check the result of the tool" in outcome.text
        assert "Africa" not in outcome.text

    @pytest.mark.parametrize("place", PLACES)
    def test_of_an_mcp_tool(self, setup: Setup, place: str) -> None:
        plain = self.use_tool(setup, "all", "Where do lions live?", place)
        assert plain.status == 200, plain.text
        assert "They live in Africa." in self.shown(plain)
        assert plain.body["isError"] is False
        masked = self.use_tool(setup, "all", ASK_FOR_MAIL, place)
        assert "Write to [REDACTED_EMAIL_ADDRESS_1], please." in self.shown(masked)
        assert "ann@example.com" not in self.shown(masked)
        assert masked.body["isError"] is False
        blocked = self.use_tool(setup, "all", ASK_FOR_STRIPES, place)
        assert "zebra" not in self.shown(blocked)
        assert "The result of the tool was blocked by guard: BanSubstrings" in blocked.text
        assert blocked.body["isError"] is True

    @pytest.mark.parametrize("place", ["text", "structured"])
    def test_of_an_mcp_tool_over_mcp(self, setup: Setup, place: str) -> None:
        headers = {"authorization": "Bearer sk-other", "accept": "application/json, text/event-stream"}
        headers["x-litellm-api-key"] = headers["authorization"]

        def use(question: str) -> str:
            params = {"name": "tools_fake-look", "arguments": {"question": question, "place": place}}
            request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
            return setup.client.post(f"{setup.proxies['all'].url}/mcp/", json=request, headers=headers).text

        assert "They live in Africa." in use("Where do lions live?")
        assert "Write to [REDACTED_EMAIL_ADDRESS_1], please." in use(ASK_FOR_MAIL)
        blocked = use(ASK_FOR_STRIPES)
        assert "The result of the tool was blocked by guard: BanSubstrings" in blocked
        assert "zebra" not in blocked

    @pytest.mark.parametrize(("path", "field"), [("/v1/chat/completions", "messages"), ("/v1/responses", "input")])
    def test_of_an_mcp_tool_that_litellm_runs(self, setup: Setup, path: str, field: str) -> None:
        server = {"type": "mcp", "server_label": "animals", "server_url": "litellm_proxy/mcp/tools_fake"}

        def sent_for(question: str) -> str:
            messages = [{"role": "user", "content": f"{ASK_FOR_CALL}{LOOK_UP}{question}"}]
            body = {"model": "gpt-fake", field: messages, "tools": [{**server, "require_approval": "never"}]}
            outcome = setup.call("all", path, body)
            assert outcome.status == 200, outcome.text
            return "\n".join(text for text in outcome.sent if '"model"' in text)

        assert "They live in Africa." in sent_for("Where do lions live?")
        assert "Write to [REDACTED_EMAIL_ADDRESS_1], please." in sent_for(ASK_FOR_MAIL)
        blocked = sent_for(ASK_FOR_STRIPES)
        assert "The result of the tool was blocked by guard: BanSubstrings" in blocked
        assert "zebra" not in blocked

    def test_of_an_mcp_tool_without_guard(self, setup: Setup) -> None:
        with setup.front.answering("200 OK", "{}", only="/analyze/documents"):
            outcome = self.use_tool(setup, "all", "Where do lions live?", "structured")
        assert "Guard could not check the result of the tool" in outcome.text
        assert "Africa" not in outcome.text
        assert outcome.body["isError"] is True

    def test_of_an_mcp_tool_in_other_modes(self, setup: Setup) -> None:
        for mode in ("key-specific", "request-specific"):
            assert "zebra" in self.use_tool(setup, mode, ASK_FOR_STRIPES, "text", checked=False).text
            assert "zebra" not in self.use_tool(setup, mode, ASK_FOR_STRIPES, "text").text


class TestGoogle:
    """What only Google's format has."""

    def test_the_whole_conversation_is_checked_and_rewritten(self, setup: Setup) -> None:
        body = {
            "contents": [
                {"role": "user", "parts": [{"text": "I am ann@example.com"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "note", "args": {"to": "ann@example.com"}}}]},
                {
                    "role": "user",
                    "parts": [{"functionResponse": {"name": "note", "response": {"ok": "ann@example.com"}}}],
                },
                {"role": "user", "parts": [{"text": "Thank you."}]},
            ],
            "system_instruction": {"parts": [{"text": "Mails go to ann@example.com"}]},
            "generationConfig": {"temperature": 0, "stopSequences": ["\n\n"]},
            "safetySettings": [{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "threshold": "BLOCK_NONE"}],
        }
        outcome = setup.call("all", "/v1beta/models/gemini-fake:generateContent", body)
        assert outcome.status == 200, outcome.text
        assert "ann@example.com" not in outcome.sent[0]
        assert outcome.sent[0].count("[REDACTED_EMAIL_ADDRESS_1]") == 4

    @pytest.mark.parametrize(
        ("more", "check"),
        [
            ({"tools": [{"functionDeclarations": [{"name": "a", "description": BAD}]}]}, "tool_definition"),
            ({"generationConfig": {"responseSchema": {"type": "STRING", "description": BAD}}}, "tool_definition"),
            ({"contents": [{"parts": [{"functionResponse": {"name": "a", "response": {"b": BAD}}}]}]}, "tool"),
        ],
    )
    def test_all_places_are_checked(self, setup: Setup, more: dict[str, Any], check: str) -> None:
        outcome = setup.call("all", "/v1beta/models/gemini-fake:generateContent", {**google("Hello."), **more})
        assert (outcome.status, outcome.sent) == (400, []), outcome.text
        assert f"BanSubstrings[{check}]" in outcome.text


class TestOtherApis:
    """Calls whose answer no hook gets: with `check_request`, which is the setting of the proxy by key, guard judges the request."""

    def use(self, setup: Setup, text: str) -> Outcome:
        return setup.call("key-specific", "/anthropic/v1/messages", {**messages(text), "model": "claude-fake"})

    def test_a_pass_through_request_is_checked(self, setup: Setup) -> None:
        plain = self.use(setup, "Hello.")
        assert (plain.status, len(plain.sent)) == (200, 1), plain.text
        # No hook gets the answer, so no value is restored in it.
        masked = self.use(setup, TEXT)
        assert MASKED in masked.sent[0]
        assert "ann@example.com" not in masked.sent[0]
        assert said("messages", masked) == f"You said: {MASKED}"
        blocked = self.use(setup, BAD)
        assert (blocked.status, blocked.sent) == (400, []), blocked.text
        assert "The request was blocked by guard: BanSubstrings" in blocked.text

    @pytest.mark.parametrize(
        "body",
        [
            {"contents": [{"role": "user", "parts": [{"text": BAD}]}]},
            {"prompt": [BAD, "Hello."]},
            {"input": {"text": BAD}},
            {"query": "Hello.", "documents": [{"title": BAD}]},
            {"settings": {"examples": [{"note": BAD}]}},
        ],
    )
    def test_all_places_of_any_body_are_checked(self, setup: Setup, body: dict[str, Any]) -> None:
        outcome = setup.call("key-specific", "/anthropic/v1/anything", body)
        assert (outcome.status, outcome.sent) == (400, []), outcome.text
        assert "blocked by guard: BanSubstrings" in outcome.text

    def test_a_pass_through_answer_is_not_checked(self, setup: Setup) -> None:
        assert "giraffe" in said("messages", self.use(setup, ASK_FOR_BLOCKED))

    def test_a_form_is_refused(self, setup: Setup) -> None:
        outcome = setup.call("key-specific", "/anthropic/v1/forms", {"purpose": "a"}, True, b"Hello.")
        assert (outcome.status, outcome.sent) == (400, []), outcome.text
        assert "guard cannot check calls of type pass_through_endpoint" in outcome.text

    def test_an_interaction_is_checked(self, setup: Setup) -> None:
        for given in (BAD, [{"type": "text", "text": BAD}]):
            outcome = setup.call("key-specific", "/v1beta/interactions", {"model": "gemini-fake", "input": given})
            assert (outcome.status, outcome.sent) == (400, []), outcome.text
            assert "blocked by guard" in outcome.text

    def test_realtime_is_refused(self, setup: Setup) -> None:
        for mode in ("all", "key-specific"):
            url = setup.proxies[mode].url.replace("http", "ws", 1)
            headers = {"authorization": f"Bearer {CHECKED_KEY}"}
            with connect(f"{url}/v1/realtime?model=gpt-fake", additional_headers=headers, proxy=None) as socket:
                assert "guard cannot check calls of type _arealtime" in str(socket.recv(10))


class TestMcpTools:
    """The descriptions and schemas of MCP tools are judged when LiteLLM lists them."""

    def listed(self, setup: Setup, mode: str, key: str) -> dict[str, str]:
        headers = {"authorization": f"Bearer {key}"}
        reply = setup.client.get(f"{setup.proxies[mode].url}/mcp-rest/tools/list", headers=headers)
        assert reply.status_code == 200, reply.text
        return {tool["name"]: tool["description"] for tool in reply.json()["tools"]}

    def test_tools_are_hidden_and_masked(self, setup: Setup) -> None:
        masked = "Writes to [REDACTED_EMAIL_ADDRESS_1]."
        for mode in ("all", "key-specific"):
            assert self.listed(setup, mode, CHECKED_KEY) == {"look": "Looks it up.", "mail": masked}
        assert set(self.listed(setup, "key-specific", "sk-other")) == {"look", "mail", "bad", "worse"}

    def test_no_tool_is_listed_without_guard(self, setup: Setup) -> None:
        with setup.front.answering("200 OK", "{}"):
            assert self.listed(setup, "all", CHECKED_KEY) == {}


class TestGuardIsDown:
    """Without a valid reply of guard nothing passes."""

    ANSWERS = (
        ("", ""),
        ("200 OK", "hello"),
        ("200 OK", "{}"),
        ("200 OK", '{"is_valid": true, "scanners": {}}'),
        ("200 OK", '{"is_valid": false, "outcome": "passed", "scanners": {}, "sanitized_prompt": ""}'),
        ("500 Internal Server Error", '{"detail": "A scanner failed."}'),
        ("503 Service Unavailable", "busy"),
        ("302 Found", ""),
    )

    def refuses(self, setup: Setup, name: str) -> None:
        outcome = call(setup, "all", name, "Hello")
        assert outcome.status == 500, outcome.text
        assert "Guard could not check the request" in outcome.text
        assert outcome.sent == []

    @pytest.mark.parametrize(("status", "body"), ANSWERS)
    def test_an_invalid_reply_blocks(self, setup: Setup, status: str, body: str) -> None:
        with setup.front.answering(status, body):
            self.refuses(setup, "chat")

    @cases
    def test_requests(self, setup: Setup, name: str) -> None:
        with setup.front.answering("200 OK", "{}"):
            self.refuses(setup, name)

    @streams
    def test_answers(self, setup: Setup, name: str) -> None:
        with setup.front.answering("200 OK", "{}", only="/analyze/output"):
            outcome = call(setup, "all", name, ASK_FOR_BLOCKED)
        assert outcome.status == 500, outcome.text
        assert "Guard could not check the answer" in outcome.text
        assert "giraffe" not in outcome.text

    @streams
    @pytest.mark.parametrize(("status", "body"), [ANSWERS[0], ANSWERS[1], ANSWERS[6]])
    def test_streams(self, setup: Setup, name: str, status: str, body: str) -> None:
        with setup.front.answering(status, body, only="/analyze/output/stream"):
            outcome = call(setup, "all", name, "Hello", stream=True)
        assert "Guard could not check the answer" in outcome.text
        assert "You" not in outcome.text

    def test_audio(self, setup: Setup) -> None:
        with setup.front.answering("200 OK", "{}"):
            body = {"model": "whisper-fake"}
            outcome = setup.call("all", "/v1/audio/transcriptions", body, True, b"SOUND:I saw a giraffe.:END")
        assert "giraffe" not in outcome.text
        assert "Guard could not check the answer" in outcome.text
