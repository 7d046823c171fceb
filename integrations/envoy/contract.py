"""Calls guard-scan ext-proc with messages that are generated from Envoy's protocol files, and prints what it answers, as JSON.

Argument: the port of gRPC.
"""

import json
import queue
import sys
import threading

import grpc
from envoy_data_plane.envoy.config.core.v3 import HeaderMap, HeaderValue
from envoy_data_plane.envoy.extensions.filters.http.ext_proc.v3 import ProcessingModeBodySendMode as Mode
from envoy_data_plane.envoy.service.ext_proc.v3 import (
    HttpBody,
    HttpHeaders,
    HttpTrailers,
    ProcessingRequest,
    ProcessingResponse,
    ProtocolConfiguration,
)

METHOD = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"
PARTS = (
    "request_headers",
    "response_headers",
    "request_body",
    "response_body",
    "request_trailers",
    "response_trailers",
    "immediate_response",
)


class Call:
    """One call: the messages about an HTTP request and its response."""

    def __init__(self, channel: grpc.Channel, mode: Mode) -> None:
        self.messages: queue.Queue[ProcessingRequest | None] = queue.Queue()
        self.first = ProtocolConfiguration(request_body_mode=mode, response_body_mode=mode)
        process = channel.stream_stream(
            METHOD, request_serializer=bytes, response_deserializer=ProcessingResponse.parse
        )
        self.replies = process(iter(self.messages.get, None), timeout=20)

    def send(self, **part: object) -> "Call":
        self.messages.put(ProcessingRequest(protocol_config=self.first, **part))
        self.first = None
        return self

    def headers(self, side: str, pseudo: dict[str, str], content_type: str = "application/json") -> "Call":
        values = {**pseudo, "content-type": content_type}
        pairs = [HeaderValue(key=key, raw_value=value.encode()) for key, value in values.items()]
        return self.send(**{f"{side}_headers": HttpHeaders(headers=HeaderMap(headers=pairs))})

    def body(self, side: str, body: object, end: bool = True) -> "Call":
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send(**{f"{side}_body": HttpBody(body=data, end_of_stream=end)})

    def next(self) -> dict[str, object]:
        reply = next(self.replies)
        part = next(name for name in PARTS if getattr(reply, name) is not None)
        content = getattr(reply, part)
        shown: dict[str, object] = {"part": part}
        if part == "immediate_response":
            return {**shown, "status": int(content.status.code), "body": json.loads(content.body)}
        response = getattr(content, "response", None)
        if response and response.header_mutation:
            options = response.header_mutation.set_headers
            shown["set"] = sorted(option.header.key for option in options)
        if response and response.body_mutation:
            mutation = response.body_mutation
            if mutation.streamed_response:
                shown |= {"body": mutation.streamed_response.body.decode(), "end": mutation.streamed_response.end_of_stream}
            else:
                shown["body"] = (mutation.body or b"").decode()
        if reply.dynamic_metadata:
            shown["outcome"] = reply.dynamic_metadata.fields["guard"].struct_value.fields["outcome"].string_value
        return shown

    def status(self) -> str:
        self.messages.put(None)
        return self.replies.code().name


def chat(content: str) -> dict[str, object]:
    return {"model": "m", "messages": [{"role": "user", "content": content}]}


def answer(content: str) -> dict[str, object]:
    return {"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}


REQUEST = {":method": "POST", ":path": "/v1/chat/completions"}
RESPONSE = {":status": "200"}


def buffered(channel: grpc.Channel) -> list[object]:
    call = Call(channel, Mode.BUFFERED)
    seen: list[object] = [call.headers("request", REQUEST).next()]
    seen.append(call.body("request", chat("Write to ann@example.org.")).next())
    seen.append(call.headers("response", RESPONSE).next())
    seen.append(call.body("response", answer("To [REDACTED_EMAIL_ADDRESS_1].")).next())
    return [*seen, call.status()]


def duplex(channel: grpc.Channel) -> list[object]:
    call = Call(channel, Mode.FULL_DUPLEX_STREAMED).headers("request", REQUEST)
    call.body("request", chat("Hi."), end=False).send(request_trailers=HttpTrailers())
    seen: list[object] = [call.next()["part"] for _ in range(3)]
    call.headers("response", RESPONSE).body("response", answer("Hi."))
    seen += [call.next() for _ in range(3)]
    return [*seen, call.status()]


def refused(channel: grpc.Channel) -> list[object]:
    call = Call(channel, Mode.BUFFERED)
    call.headers("request", REQUEST).next()
    return [call.body("request", chat("This is forbidden.")).next(), call.status()]


def half_closed(channel: grpc.Channel) -> str:
    call = Call(channel, Mode.FULL_DUPLEX_STREAMED).headers("request", REQUEST)
    return call.body("request", b'{"model":', end=False).status()


def cancelled(channel: grpc.Channel) -> str:
    call = Call(channel, Mode.FULL_DUPLEX_STREAMED).headers("request", REQUEST)
    threading.Timer(0.1, call.replies.cancel).start()
    return call.replies.code().name


def oversized(channel: grpc.Channel) -> str:
    call = Call(channel, Mode.BUFFERED)
    call.headers("request", REQUEST).next()
    return call.body("request", b"x" * 3_000_000).replies.code().name


with grpc.insecure_channel(f"127.0.0.1:{sys.argv[1]}") as channel:
    checks = (buffered, duplex, refused, half_closed, cancelled, oversized)
    json.dump({check.__name__: check(channel) for check in checks}, sys.stdout)
