"""The errors that the client raises. A text whose check raised one was not checked, and must not go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .reports import Report


class GuardError(Exception):
    """Everything that this package raises."""


class GuardUnavailableError(GuardError):
    """The server cannot be reached, or did not answer in time."""


class GuardReplyError(GuardError):
    """The server answered something that is no answer of guard, so nobody knows what it says of the text."""


class GuardProblemError(GuardError):
    """The server refused a request, with Problem Details (RFC 9457). They quote nothing of the request."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        #: What is wrong, in a sentence.
        self.detail = _text(problem.get("detail")) or _text(problem.get("message")) or f"The server answered {status}."
        errors = problem.get("errors")
        #: The values at fault, each with ``pointer`` (a JSON pointer into the body) and ``detail``.
        self.errors: Sequence[Mapping[str, Any]] = errors if isinstance(errors, list) else []
        #: After how many seconds the server wants to be asked again, if it said so.
        self.retry_after = retry_after
        faults = "".join(
            f" {error.get('pointer')} {error.get('detail')}." for error in self.errors if isinstance(error, dict)
        )
        super().__init__(f"{status}: {self.detail}{faults}")


class GuardBlockedError(GuardError):
    """A check failed, so that a request must not be sent, or an answer must not be shown. The message names the checks."""

    def __init__(self, part: Literal["request", "answer"], report: Report) -> None:
        self.part = part
        self.report = report
        failing = [name for name, score in report.results_score.items() if score > 0]
        # A text may fail although no check did, because something of it was not looked at.
        super().__init__(f"The {part} was blocked by guard: {', '.join(failing) or 'incomplete coverage'}.")


def with_cause(error: GuardUnavailableError, cause: BaseException) -> GuardUnavailableError:
    error.__cause__ = cause
    return error


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
