"""``guard_litellm.guard_moderations``: a callback of the LiteLLM proxy that checks requests and answers with guard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .callback import GuardModerations

    guard_moderations: GuardModerations

__all__ = ["guard_moderations"]


def __getattr__(name: str) -> Any:
    # Lazy, because the callback requires LiteLLM and environment variables, without which the proxy does not start.
    if name != "guard_moderations":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .callback import GuardModerations

    instance = globals()[name] = GuardModerations()
    return instance
