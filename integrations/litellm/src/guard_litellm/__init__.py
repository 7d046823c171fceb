"""The callback ``guard_litellm.guard_moderations`` of the LiteLLM proxy, which has guard check what goes to models and comes from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .callback import GuardModerations

    guard_moderations: GuardModerations

__all__ = ["guard_moderations"]


def __getattr__(name: str) -> Any:
    # Only who names the callback needs LiteLLM and the variables of the environment. Without them the proxy does not start.
    if name != "guard_moderations":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .callback import GuardModerations

    instance = globals()[name] = GuardModerations()
    return instance
