"""A fake of OpenAI's, Anthropic's and Google's APIs. The model repeats its prompt, and reacts to some words."""

from __future__ import annotations

import base64
import json
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: The prompt for an answer that the scanners of the tests block.
ASK_FOR_BLOCKED = "Which animal is tall?"
BLOCKED_ANSWER = "That is easy to say. It is the giraffe, of course. Ask me more."
#: The prompt for a tool call with the whole prompt.
ASK_FOR_CALL = "Use the tool."
#: Follows the prompt above and precedes a question, for a call of an MCP tool.
LOOK_UP = " Look up: "
#: A question whose answer by a search or a tool is blocked, although the question is not.
ASK_FOR_STRIPES = "Which animal has stripes?"
#: A question whose answer by a search or a tool has a mail address.
ASK_FOR_MAIL = "Who keeps the lions?"
#: The prompt for an answer that takes a minute.
ASK_FOR_MUCH = "Tell me everything."


class Upstream(ThreadingHTTPServer):
    """The server, which records its requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: list[str] = []
        #: Set when a proxy disconnects before the end of an answer.
        self.is_left = threading.Event()

    def handle_error(self, *_: object) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # A client that disconnects is not an error.
            traceback.print_exc()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def running_upstream() -> Iterator[Upstream]:
    server = Upstream()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Upstream
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        # A client of MCP asks for a stream of events, which a server need not have.
        self.send_response(405)
        self.send_header("content-length", "0")
        self.end_headers()

    do_DELETE = do_GET

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers["content-length"])).decode("utf-8", "replace")
        self.server.bodies.append(raw)
        name = self.path.split("?")[0].removeprefix("/v1/").strip("/").replace("/", "_")
        # Google's method is behind a colon: `models/gemini-fake:generateContent`.
        name = name.rpartition(":")[2]
        body = {} if name == "audio_transcriptions" else json.loads(raw)
        if name == "audio_transcriptions":
            # The audio contains the transcript as text.
            self._answer({"text": raw.split("SOUND:")[1].split(":END")[0]})
        elif name == "mcp" and "id" not in body:
            self.send_response(202)
            self.send_header("content-length", "0")
            self.end_headers()
        elif name == "streamGenerateContent":
            self._stream(self.on_generateContent_stream(body))
        elif body.get("stream"):
            self._stream(getattr(self, f"on_{name}_stream")(body))
        else:
            self._answer(getattr(self, f"on_{name}")(body))

    def _answer(self, answer: dict[str, Any]) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterator[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        try:
            for event in events:
                kind = event.get("type")
                head = f"event: {kind}\n" if kind else ""
                self.wfile.write(f"{head}data: {json.dumps(event)}\n\n".encode())
                self.wfile.flush()
            if self.path != "/v1/messages" and "generateContent" not in self.path.replace("streamG", "g"):
                self.wfile.write(b"data: [DONE]\n\n")
        except OSError:
            self.server.is_left.set()
        self.close_connection = True

    # The routes of tools find texts for a question.

    def on_search(self, body: dict[str, Any]) -> dict[str, Any]:
        found = {"title": "A page", "url": "https://example.org/a-page", "snippet": _found(body["query"])}
        return {"object": "search", "results": [{"title": "Lions", "url": "", "snippet": "They sleep a lot."}, found]}

    def on_vector_stores_vs_fake_search(self, body: dict[str, Any]) -> dict[str, Any]:
        content = [{"type": "text", "text": _found(body["query"])}]
        found = {"file_id": "file_1", "filename": "animals.md", "score": 0.9, "attributes": {}, "content": content}
        return {
            "object": "vector_store.search_results.page",
            "search_query": body["query"],
            "data": [found],
            "has_more": False,
            "next_page": None,
        }

    def on_mcp(self, body: dict[str, Any]) -> dict[str, Any]:
        if body["method"] == "initialize":
            server = {"name": "tools", "version": "1"}
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}
        elif body["method"] == "tools/list":
            schema = {"type": "object", "properties": {"question": {"type": "string"}, "place": {"type": "string"}}}
            striped = {"type": "object", "properties": {"a": {"type": "string", "description": "Ask the zebra."}}}
            result = {
                "tools": [
                    {"name": "look", "description": "Looks it up.", "inputSchema": schema},
                    {"name": "mail", "description": "Writes to ann@example.com.", "inputSchema": schema},
                    {"name": "bad", "description": "Ask the zebra.", "inputSchema": schema},
                    {"name": "worse", "description": "Looks it up.", "inputSchema": striped},
                ]
            }
        elif body["method"] == "tools/call":
            result = _tool_result(**body["params"]["arguments"])
        else:
            return {"jsonrpc": "2.0", "id": body["id"], "error": {"code": -32601, "message": "unknown method"}}
        return {"jsonrpc": "2.0", "id": body["id"], "result": result}

    def on_chat_completions(self, body: dict[str, Any]) -> dict[str, Any]:
        said = _said(body["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": _reply(said)}
        if ASK_FOR_CALL in said:
            message = {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "call_1", "type": "function", "function": _call(said)}],
            }
        choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if ASK_FOR_CALL in said else "stop"}
        return {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": USAGE}

    def on_chat_completions_stream(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        said = _said(body["messages"])
        base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}

        def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
            return {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        yield chunk({"role": "assistant", "content": ""})
        if ASK_FOR_CALL in said:
            call = _call(said)
            first = {"name": call["name"], "arguments": ""}
            yield chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": first}]})
            for piece in _pieces(call["arguments"]):
                yield chunk({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        elif ASK_FOR_MUCH in said:
            for _ in range(600):
                yield chunk({"content": "And so on. "})
                time.sleep(0.1)
        else:
            for piece in _pieces(_reply(said)):
                yield chunk({"content": piece})
        yield chunk({}, "tool_calls" if ASK_FOR_CALL in said else "stop")

    def on_completions(self, body: dict[str, Any]) -> dict[str, Any]:
        prompts = body["prompt"] if isinstance(body["prompt"], list) else [body["prompt"]]
        choices = [
            {"index": index, "text": _reply(str(prompt)), "finish_reason": "stop", "logprobs": None}
            for index, prompt in enumerate(prompts)
        ]
        return {"id": "t", "object": "text_completion", "created": 1, "model": "m", "choices": choices, "usage": USAGE}

    def on_completions_stream(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for piece in [*_pieces(_reply(body["prompt"])), ""]:
            choice = {"index": 0, "text": piece, "finish_reason": None if piece else "stop", "logprobs": None}
            yield {"id": "t", "object": "text_completion", "created": 1, "model": "m", "choices": [choice]}

    def on_embeddings(self, body: dict[str, Any]) -> dict[str, Any]:
        data = [{"object": "embedding", "index": 0, "embedding": [0.5]}]
        return {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}

    def on_moderations(self, body: dict[str, Any]) -> dict[str, Any]:
        return {"id": "m", "model": "m", "results": [{"flagged": False, "categories": {}, "category_scores": {}}]}

    def on_messages(self, body: dict[str, Any]) -> dict[str, Any]:
        said = _said(body["messages"])
        content: dict[str, Any] = {"type": "text", "text": _reply(said)}
        if ASK_FOR_CALL in said:
            call = _call(said)
            content = {
                "type": "tool_use",
                "id": "toolu_1",
                "name": call["name"],
                "input": json.loads(call["arguments"]),
            }
        return {
            **_message([content]),
            "stop_reason": "tool_use" if ASK_FOR_CALL in said else "end_turn",
        }

    def on_messages_stream(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        said = _said(body["messages"])
        yield {"type": "message_start", "message": _message([])}
        if ASK_FOR_CALL in said:
            call = _call(said)
            block: dict[str, Any] = {"type": "tool_use", "id": "toolu_1", "name": call["name"], "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _pieces(call["arguments"])]
        else:
            block = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(_reply(said))]
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        reason = "tool_use" if ASK_FOR_CALL in said else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 1}}
        yield {"type": "message_stop"}

    def on_generateContent(self, body: dict[str, Any]) -> dict[str, Any]:
        said = _said_to_google(body)
        part: dict[str, Any] = {"text": _reply(said)}
        if ASK_FOR_CALL in said:
            call = _call(said)
            part = {"functionCall": {"name": call["name"], "args": json.loads(call["arguments"])}}
        return _google([part], "STOP")

    def on_generateContent_stream(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        said = _said_to_google(body)
        if ASK_FOR_CALL in said:
            yield self.on_generateContent(body)
            return
        for piece in _pieces(_reply(said)):
            yield _google([{"text": piece}])
        yield _google([{"text": ""}], "STOP")

    def on_responses(self, body: dict[str, Any]) -> dict[str, Any]:
        said = body["input"] if isinstance(body["input"], str) else _said(body["input"])
        return _response([_item(said)])

    def on_responses_stream(self, body: dict[str, Any]) -> Iterator[dict[str, Any]]:
        said = body["input"] if isinstance(body["input"], str) else _said(body["input"])
        item = _item(said)
        for number, event in enumerate(_response_events(item)):
            yield {**event, "sequence_number": number}


USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _said(messages: list[dict[str, Any]]) -> str:
    content = messages[-1].get("content")
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content or [])


def _said_to_google(body: dict[str, Any]) -> str:
    return " ".join(part.get("text", "") for part in body["contents"][-1]["parts"])


def _google(parts: list[dict[str, Any]], finish: str | None = None) -> dict[str, Any]:
    candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    ended = {"finishReason": finish} if finish else {}
    return {"candidates": [{**candidate, **ended}], "usageMetadata": usage, "modelVersion": "m", "responseId": "r"}


def _reply(said: str) -> str:
    return BLOCKED_ANSWER if ASK_FOR_BLOCKED in said else f"You said: {said}"


def _call(said: str) -> dict[str, str]:
    _, is_look_up, question = said.partition(f"{ASK_FOR_CALL}{LOOK_UP}")
    if is_look_up:
        return {"name": "tools_fake-look", "arguments": json.dumps({"question": question, "place": "text"})}
    return {"name": "note", "arguments": json.dumps({"text": said})}


def _pieces(text: str) -> list[str]:
    return [text[start : start + 3] for start in range(0, len(text), 3)]


def _message(content: list[dict[str, Any]]) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def _item(said: str) -> dict[str, Any]:
    if ASK_FOR_CALL in said:
        return {"type": "function_call", "id": "fc_1", "call_id": "call_1", "status": "completed", **_call(said)}
    part = {"type": "output_text", "text": _reply(said), "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def _found(question: str) -> str:
    """What a search or a tool finds."""
    if question == ASK_FOR_STRIPES:
        return "It is the zebra, of course."
    return "Write to ann@example.com, please." if question == ASK_FOR_MAIL else "They live in Africa."


def _tool_result(question: str, place: str) -> dict[str, Any]:
    """The result of an MCP tool, with the answer in a place of it."""
    text = _found(question)
    encoded = base64.b64encode(text.encode()).decode()
    hello = {"type": "text", "text": "Here it is."}
    resource: dict[str, Any] = {"uri": "file:///a.md", "mimeType": "text/markdown"}
    content = {
        "text": {"type": "text", "text": text},
        "resource": {"type": "resource", "resource": {**resource, "text": text}},
        "blob": {"type": "resource", "resource": {**resource, "blob": encoded}},
        "link": {"type": "resource_link", "name": "a", "uri": "file:///a.md", "description": text},
    }
    result: dict[str, Any] = {"content": [hello, *([content[place]] if place in content else [])]}
    if place == "structured":
        result["structuredContent"] = {"answer": {"text": text}}
    if place == "key":
        result["structuredContent"] = {text: 1}
    return result


def _response(output: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2},
    }


def _response_events(item: dict[str, Any]) -> Iterator[dict[str, Any]]:
    at = {"output_index": 0, "item_id": item["id"]}
    yield {"type": "response.created", "response": {**_response([]), "status": "in_progress"}}
    if item["type"] == "function_call":
        yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, "arguments": ""}}
        for piece in _pieces(item["arguments"]):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"]}
    else:
        part = item["content"][0]
        at["content_index"] = 0
        yield {"type": "response.output_item.added", "output_index": 0, "item": {**item, "content": []}}
        yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
        for piece in _pieces(part["text"]):
            yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
        yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
        yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": _response([item])}
