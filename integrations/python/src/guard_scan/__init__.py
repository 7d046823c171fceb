"""A client of guard, which scans the prompts and answers of large language models."""

from .client import AsyncGuard, Guard
from .errors import GuardBlockedError, GuardError, GuardProblemError, GuardReplyError, GuardUnavailableError
from .process import GuardProcess, GuardProcessError
from .reports import (
    ConversationReport,
    DocumentReport,
    DocumentsReport,
    InputReport,
    Outcome,
    OutputReport,
    PromptReport,
    Report,
)
from .stream import OutputStream

__all__ = [
    "AsyncGuard",
    "ConversationReport",
    "DocumentReport",
    "DocumentsReport",
    "Guard",
    "GuardBlockedError",
    "GuardError",
    "GuardProblemError",
    "GuardProcess",
    "GuardProcessError",
    "GuardReplyError",
    "GuardUnavailableError",
    "InputReport",
    "Outcome",
    "OutputReport",
    "OutputStream",
    "PromptReport",
    "Report",
]
