"""The errors that the client raises. A text whose check raised an error was not checked, and must be blocked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from .reports import Report


class GuardError(Exception):
    """The base class of all errors of this package."""


class GuardUnavailableError(GuardError):
    """The server could not be reached, did not answer in time, or broke the connection."""


class GuardReplyError(GuardError):
    """The server sent a reply that is not a valid reply of guard, so the verdict is unknown."""


class GuardProblemError(GuardError):
    """The server rejected a request, with Problem Details (RFC 9457), which quote nothing of the request."""

    def __init__(self, status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        #: The problem, as a sentence.
        self.detail = (
            _text(problem.get("detail"))
            or _text(problem.get("message"))
            or f"The guard server answered with status {status}."
        )
        errors = problem.get("errors")
        #: The invalid values, each with ``pointer`` (a JSON pointer into the body) and ``detail``.
        self.errors: Sequence[Mapping[str, Any]] = errors if isinstance(errors, list) else []
        #: The seconds to wait before a retry, if the server sent them.
        self.retry_after = retry_after
        issues = "".join(
            f" {error.get('pointer')} {error.get('detail')}." for error in self.errors if isinstance(error, dict)
        )
        super().__init__(f"{status}: {self.detail}{issues}")


class GuardBlockedError(GuardError):
    """
    A check failed, or a person should judge the text first: the request must not be sent, or the answer must not be shown.

    The message names the failed checks, or the ids of the reviews.
    """

    def __init__(self, part: Literal["request", "answer"], report: Report) -> None:
        self.part = part
        self.report = report
        if report.outcome == "review":
            reviews = f" (review {', '.join(report.review_ids)})" if report.review_ids else ""
            super().__init__(f"The {part} is held by guard until a person has approved it{reviews}.")
            return
        failing = [name for name, score in report.results_score.items() if score > 0]
        # A text is also blocked if full coverage is required and a part of it was not scanned.
        super().__init__(f"The {part} was blocked by guard: {', '.join(failing) or 'incomplete coverage'}.")


def unavailable(reason: str, cause: BaseException | None = None) -> GuardUnavailableError:
    """Creates the error of a server without a reply. The message names the type of the cause only, which may quote texts."""
    suffix = "" if cause is None else f" ({type(cause).__name__})"
    error = GuardUnavailableError(f"The guard server {reason}{suffix}.")
    error.__cause__ = cause
    return error


def invalid_reply(reason: str) -> GuardReplyError:
    """Creates the error of a reply that cannot be read. ``reason`` must not quote the reply."""
    return GuardReplyError(f"The guard server sent an invalid reply: {reason}.")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
