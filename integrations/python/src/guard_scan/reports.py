"""What the server says of texts. Whatever is not a complete answer of guard raises GuardReplyError: no missing field ever passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union, cast

from .errors import GuardBlockedError, GuardReplyError

#: What becomes of a text: nothing failed; what failed was taken out of it; nothing of it may go on.
Outcome = Literal["passed", "masked", "blocked"]
OUTCOMES = ("passed", "masked", "blocked")

#: A message, a part of one, or the definition of a tool, in the format of OpenAI, Anthropic or MCP.
Item = dict[str, Any]
Content = Union[str, list[Any]]
#: What llm-guard's ``scan_prompt`` and ``scan_output`` return: the text, whether it passed and the score, by check.
Triple = Union[str, dict[str, bool], dict[str, float]]


@dataclass(frozen=True)
class Report:
    """What all answers of the server have in common."""

    #: What becomes of the text. With ``blocked`` nothing of it may go on.
    outcome: Outcome
    #: Whether all checks passed. A text that failed may still go on when its outcome is ``masked``.
    is_valid: bool
    #: Risk scores by the name of the check: a score below 0 passes, and one above 0 fails.
    results_score: dict[str, float]
    #: Why the checks decided as they did, by check. Offsets count Unicode code points, as ``str`` does.
    findings: dict[str, list[Item]] = field(repr=False)
    #: How much was looked at.
    coverage: dict[str, Any] = field(repr=False)
    #: The whole answer, with the names of the HTTP API.
    raw: Mapping[str, Any] = field(repr=False)

    @property
    def results_valid(self) -> dict[str, bool]:
        """Whether the text passed, by check."""
        return {name: score <= 0 for name, score in self.results_score.items()}

    @property
    def is_blocked(self) -> bool:
        return self.outcome == "blocked"


@dataclass(frozen=True)
class InputReport(Report):
    """What is said of something that goes to a model."""

    #: What was replaced, sealed. Hand the latest one in with the answer and with the next turn. None when nothing was replaced.
    vault: str | None = field(repr=False)

    def raise_if_blocked(self) -> None:
        """Raises GuardBlockedError when nothing of the texts may go on."""
        if self.is_blocked:
            raise GuardBlockedError("request", self)


@dataclass(frozen=True)
class PromptReport(InputReport):
    """What is said of a prompt. It unpacks as what llm-guard returns: ``sanitized_prompt, results_valid, results_score``."""

    sanitized_prompt: str = field(repr=False)

    def __iter__(self) -> Iterator[Triple]:
        return iter((self.sanitized_prompt, self.results_valid, self.results_score))


@dataclass(frozen=True)
class ConversationReport(InputReport):
    """What is said of a conversation."""

    #: The latest user message as it may be sent on.
    sanitized_prompt: str = field(repr=False)
    #: All messages, tools and the system prompt as they may be sent on.
    sanitized_messages: list[Item] = field(repr=False)
    sanitized_tools: list[Item] | None = field(repr=False)
    sanitized_system: Content | None = field(repr=False)


@dataclass(frozen=True)
class DocumentReport:
    """What is said of one document as it was given."""

    is_valid: bool
    results_score: dict[str, float]
    findings: dict[str, list[Item]] = field(repr=False)
    #: The document as it may be used.
    sanitized_text: str = field(repr=False)
    #: The whole answer, with the names of the HTTP API: ``id``, and ``masked`` where injections were cut out.
    raw: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class DocumentsReport(InputReport):
    """What is said of documents, each by itself, and of all together."""

    documents: list[DocumentReport] = field(repr=False)


@dataclass(frozen=True)
class OutputReport(Report):
    """What is said of an answer. It unpacks as what llm-guard returns: ``sanitized_output, results_valid, results_score``."""

    sanitized_output: str = field(repr=False)
    #: The tool calls as they may be made.
    sanitized_tool_calls: list[Item] = field(repr=False)

    def __iter__(self) -> Iterator[Triple]:
        return iter((self.sanitized_output, self.results_valid, self.results_score))

    def raise_if_blocked(self) -> None:
        """Raises GuardBlockedError when the answer must not be shown."""
        if self.is_blocked:
            raise GuardBlockedError("answer", self)


def read_prompt(body: object, rewrite: bool, prompt: str) -> PromptReport:
    answer = _Answer(body)
    return PromptReport(**answer.input(), sanitized_prompt=answer.text("sanitized_prompt") if rewrite else prompt)


def read_conversation(body: object, rewrite: bool, request: Mapping[str, Any]) -> ConversationReport:
    answer = _Answer(body)
    messages, tools, system = request["messages"], request.get("tools"), request.get("system")
    if not rewrite:
        texts = {"sanitized_messages": messages, "sanitized_tools": tools, "sanitized_system": system}
        return ConversationReport(**answer.input(), sanitized_prompt="", **texts)
    return ConversationReport(
        **answer.input(),
        sanitized_prompt=answer.text("sanitized_prompt"),
        sanitized_messages=answer.items("sanitized_messages", len(messages)),
        sanitized_tools=answer.items("sanitized_tools", len(tools)) if tools else tools,
        sanitized_system=answer.content("sanitized_system") if system else system,
    )


def read_documents(body: object, rewrite: bool, documents: list[Any]) -> DocumentsReport:
    answer = _Answer(body)
    results = []
    for given, item in zip(documents, answer.items("documents", len(documents))):
        document = _Answer(item)
        text = given if isinstance(given, str) else given["text"]
        # Without rewriting the server gives texts back only where it cut injections out.
        sanitized = document.text("sanitized_text") if rewrite or "sanitized_text" in document.body else text
        scores, findings = document.scores(), document.findings()
        results.append(DocumentReport(document.flag("is_valid"), scores, findings, sanitized, document.body))
    return DocumentsReport(**answer.input(scores=_worst(results)), documents=results)


def read_output(body: object, rewrite: bool, output: str, tool_calls: list[Item]) -> OutputReport:
    answer = _Answer(body)
    calls = answer.items("sanitized_tool_calls", len(tool_calls)) if rewrite and tool_calls else tool_calls
    text = answer.text("sanitized_output") if rewrite else output
    return OutputReport(**answer.common(), sanitized_output=text, sanitized_tool_calls=calls)


def read_verdict(body: object) -> Report:
    """Reads what is said of a text that is not in the answer, such as one that came in pieces."""
    return Report(**_Answer(body).common())


def _worst(documents: list[DocumentReport]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for document in documents:
        for name, score in document.results_score.items():
            scores[name] = max(score, scores.get(name, score))
    return scores


class _Answer:
    """Reads the fields of an answer, and refuses what they must not be. Errors name the field and quote nothing."""

    def __init__(self, body: object) -> None:
        if not isinstance(body, dict):
            raise GuardReplyError("The server's answer is no JSON object.")
        self.body: dict[str, Any] = body

    def _of(self, name: str, kind: tuple[type, ...]) -> Any:
        value = self.body.get(name)
        if not isinstance(value, kind):
            raise GuardReplyError(f"The server's answer has no valid {name}.")
        return value

    def flag(self, name: str) -> bool:
        return bool(self._of(name, (bool,)))

    def text(self, name: str) -> str:
        return str(self._of(name, (str,)))

    def content(self, name: str) -> Content:
        return cast(Content, self._of(name, (str, list)))

    def items(self, name: str, size: int) -> list[Item]:
        items = self._of(name, (list,))
        if len(items) != size or not all(isinstance(item, dict) for item in items):
            raise GuardReplyError(f"The server's answer has no valid {name}.")
        return cast(list[Item], items)

    def scores(self) -> dict[str, float]:
        scores = self._of("scanners", (dict,))
        if not all(isinstance(score, (int, float)) and not isinstance(score, bool) for score in scores.values()):
            raise GuardReplyError("The server's answer has no valid scanners.")
        return cast(dict[str, float], scores)

    def findings(self) -> dict[str, list[Item]]:
        return cast(dict[str, list[Item]], self._of("findings", (dict,))) if "findings" in self.body else {}

    def common(self, scores: dict[str, float] | None = None) -> dict[str, Any]:
        outcome, is_valid = self.text("outcome"), self.flag("is_valid")
        if outcome not in OUTCOMES or (outcome == "passed") != is_valid:
            raise GuardReplyError("The server's answer has no valid outcome.")
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
