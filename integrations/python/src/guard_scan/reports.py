"""Reports of the server. A reply that is incomplete raises GuardReplyError, so a missing field never passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union, cast

from .errors import GuardBlockedError, invalid_reply

#: The decision about a text: no check failed; the failing parts were removed; a person should judge the text; the text must be blocked.
Outcome = Literal["passed", "masked", "review", "blocked"]
OUTCOMES = ("passed", "masked", "review", "blocked")

#: A message, a content part or a tool definition, in the format of OpenAI, Anthropic, Google or MCP.
Item = dict[str, Any]
Content = Union[str, list[Any]]
#: The return values of llm-guard's ``scan_prompt`` and ``scan_output``: the text, and by check whether it passed and its score.
Triple = Union[str, dict[str, bool], dict[str, float]]


@dataclass(frozen=True)
class Report:
    """The fields of all reports."""

    #: The decision about the text.
    outcome: Outcome
    #: Whether all checks passed. If the outcome is ``masked``, the sanitized text may be used although a check failed. If it is ``review``,
    #: the text may be used only if it is valid.
    is_valid: bool
    #: Risk scores by check. A check with a score above 0 failed.
    results_score: dict[str, float]
    #: Findings by check. Offsets count Unicode code points, as ``str`` does.
    findings: dict[str, list[Item]] = field(repr=False)
    #: How much of the texts was scanned.
    coverage: dict[str, Any] = field(repr=False)
    #: The whole reply, with the names of the HTTP API.
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def results_valid(self) -> dict[str, bool]:
        """Whether the text passed, by check."""
        return {name: score <= 0 for name, score in self.results_score.items()}

    @property
    def is_blocked(self) -> bool:
        """Whether the text must not be used: it is blocked, or held until a person has approved it."""
        return self.outcome == "blocked" or (self.outcome == "review" and not self.is_valid)

    @property
    def review_ids(self) -> list[str]:
        """The ids of the reviews of texts that a person should judge."""
        reviews = self.raw.get("reviews")
        return [review["id"] for review in reviews] if isinstance(reviews, list) else []


@dataclass(frozen=True)
class InputReport(Report):
    """A report on texts that go to a model."""

    #: The sealed vault with the replaced values. Pass the latest one with the answer and with the next turn. None without replaced values.
    vault: str | None = field(repr=False)

    def raise_if_blocked(self) -> None:
        """Raises GuardBlockedError if the texts must not be sent."""
        if self.is_blocked:
            raise GuardBlockedError("request", self)


@dataclass(frozen=True)
class PromptReport(InputReport):
    """The report on a prompt. It unpacks like llm-guard's result: ``sanitized_prompt, results_valid, results_score``."""

    sanitized_prompt: str = field(repr=False)

    def __iter__(self) -> Iterator[Triple]:
        return iter((self.sanitized_prompt, self.results_valid, self.results_score))


@dataclass(frozen=True)
class ConversationReport(InputReport):
    """The report on a conversation."""

    #: The latest user message, sanitized.
    sanitized_prompt: str = field(repr=False)
    #: All messages, sanitized. So are the tools and the system prompt.
    sanitized_messages: list[Item] = field(repr=False)
    sanitized_tools: list[Item] | None = field(repr=False)
    sanitized_system: Content | None = field(repr=False)
    #: The other fields of the request, sanitized.
    sanitized_fields: dict[str, Any] | None = field(repr=False)


@dataclass(frozen=True)
class DocumentReport:
    """The report on one document."""

    is_valid: bool
    results_score: dict[str, float]
    findings: dict[str, list[Item]] = field(repr=False)
    #: The document, sanitized.
    sanitized_text: str = field(repr=False)
    #: The result in the HTTP API's form. ``id`` identifies the document, and ``masked`` lists the injections that were cut out.
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class DocumentsReport(InputReport):
    """The report on several documents."""

    documents: list[DocumentReport] = field(repr=False)


@dataclass(frozen=True)
class OutputReport(Report):
    """The report on an reply. It unpacks like llm-guard's result: ``sanitized_output, results_valid, results_score``."""

    sanitized_output: str = field(repr=False)
    #: The tool calls, sanitized.
    sanitized_tool_calls: list[Item] = field(repr=False)

    def __iter__(self) -> Iterator[Triple]:
        return iter((self.sanitized_output, self.results_valid, self.results_score))

    def raise_if_blocked(self) -> None:
        """Raises GuardBlockedError if the answer must not be shown."""
        if self.is_blocked:
            raise GuardBlockedError("answer", self)


def read_prompt(body: object, rewrite: bool, prompt: str) -> PromptReport:
    reply = _Reply(body)
    return PromptReport(**reply.input(), sanitized_prompt=reply.text("sanitized_prompt") if rewrite else prompt)


def read_conversation(body: object, rewrite: bool, request: Mapping[str, Any]) -> ConversationReport:
    reply = _Reply(body)
    messages, tools, system = request["messages"], request.get("tools"), request.get("system")
    fields = request.get("fields")
    if not rewrite:
        texts = {"sanitized_messages": messages, "sanitized_tools": tools, "sanitized_system": system}
        return ConversationReport(**reply.input(), sanitized_prompt="", **texts, sanitized_fields=fields)
    return ConversationReport(
        **reply.input(),
        sanitized_prompt=reply.text("sanitized_prompt"),
        sanitized_messages=reply.items("sanitized_messages", len(messages)),
        sanitized_tools=reply.items("sanitized_tools", len(tools)) if tools else tools,
        sanitized_system=reply.content("sanitized_system") if system else system,
        sanitized_fields=reply.fields("sanitized_fields", fields) if fields else fields,
    )


def read_documents(body: object, rewrite: bool, documents: list[Any]) -> DocumentsReport:
    reply = _Reply(body)
    results = []
    for given, item in zip(documents, reply.items("documents", len(documents))):
        document = _Reply(item)
        text = given if isinstance(given, str) else given["text"]
        # Without rewriting the server returns a text only if it cut injections out.
        sanitized = document.text("sanitized_text") if rewrite or "sanitized_text" in document.body else text
        scores, findings = document.scores(), document.findings()
        results.append(DocumentReport(document.flag("is_valid"), scores, findings, sanitized, document.body))
    return DocumentsReport(**reply.input(scores=_worst(results)), documents=results)


def read_output(body: object, rewrite: bool, output: str, tool_calls: list[Item]) -> OutputReport:
    reply = _Reply(body)
    calls = reply.items("sanitized_tool_calls", len(tool_calls)) if rewrite and tool_calls else tool_calls
    text = reply.text("sanitized_output") if rewrite else output
    return OutputReport(**reply.common(), sanitized_output=text, sanitized_tool_calls=calls)


def read_verdict(body: object) -> Report:
    """Reads the report on a text that the reply does not contain, because it was streamed."""
    return Report(**_Reply(body).common())


def _worst(documents: list[DocumentReport]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for document in documents:
        for name, score in document.results_score.items():
            scores[name] = max(score, scores.get(name, score))
    return scores


class _Reply:
    """Reads and validates the fields of a reply. Errors name the field and quote nothing."""

    def __init__(self, body: object) -> None:
        if not isinstance(body, dict):
            raise invalid_reply("it is not a JSON object")
        self.body: dict[str, Any] = body

    def _of(self, name: str, kind: tuple[type, ...]) -> Any:
        value = self.body.get(name)
        if not isinstance(value, kind):
            raise invalid_reply(name)
        return value

    def flag(self, name: str) -> bool:
        return bool(self._of(name, (bool,)))

    def text(self, name: str) -> str:
        return str(self._of(name, (str,)))

    def content(self, name: str) -> Content:
        return cast(Content, self._of(name, (str, list)))

    def fields(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        fields = self._of(name, (dict,))
        if any(key not in fields for key in given):
            raise invalid_reply(name)
        return cast(dict[str, Any], fields)

    def items(self, name: str, size: int) -> list[Item]:
        items = self._of(name, (list,))
        if len(items) != size or not all(isinstance(item, dict) for item in items):
            raise invalid_reply(name)
        return cast(list[Item], items)

    def scores(self) -> dict[str, float]:
        scores = self._of("scanners", (dict,))
        if not all(isinstance(score, (int, float)) and not isinstance(score, bool) for score in scores.values()):
            raise invalid_reply("scanners")
        return cast(dict[str, float], scores)

    def findings(self) -> dict[str, list[Item]]:
        return cast(dict[str, list[Item]], self._of("findings", (dict,))) if "findings" in self.body else {}

    def common(self, scores: dict[str, float] | None = None) -> dict[str, Any]:
        outcome, is_valid = self.text("outcome"), self.flag("is_valid")
        if outcome not in OUTCOMES or (outcome != "review" and (outcome == "passed") != is_valid):
            raise invalid_reply("outcome")
        return {
            "outcome": outcome,
            "is_valid": is_valid,
            "results_score": self.scores() if scores is None else scores,
            "findings": self.findings(),
            "coverage": self._of("coverage", (dict,)) if "coverage" in self.body else {},
            "raw": self.body,
        }

    def input(self, scores: dict[str, float] | None = None) -> dict[str, Any]:
        vault = self.text("vault") if self.body.get("vault") is not None else None
        return {**self.common(scores), "vault": vault}
