"""Rules within an update policy."""

from __future__ import annotations

from typing import Any, Final

from gcpx.model.numbers import as_integer_or_percentage
from gcpx.model.rules import Violation, rule, text

SOURCE: Final = "[declaration.py](provider/gcpx/compute/bulk_instances/rollout/declaration.py): rolling updates"
"""The source of rules about update policies, which gcpx defines itself, as a link in RULES.md."""
ACTIONS: Final = ("REFRESH", "RESTART", "REPLACE")
"""What a rollout can do to a member, the least disruptive first."""
_AT_ONCE: Final = (None, "REPLACE_ALL")
"""The strategies without a rollout."""


@rule("the other properties of updatePolicy require strategy: ROLLING", SOURCE)
def rollouts_need_the_rolling_strategy(values: dict[str, Any]) -> list[Violation]:
    """Refuse settings that would have no effect."""
    if values.get("strategy") not in _AT_ONCE:
        return []
    given = sorted(name for name, value in values.items() if name != "strategy" and value is not None)
    return [(name, "requires strategy: ROLLING") for name in given]


@rule("maxSurge and maxUnavailable must not both be 0", SOURCE)
def replacing_needs_an_instance_to_spare(values: dict[str, Any]) -> list[Violation]:
    """Refuse a policy under which no member could ever be changed."""
    surge = values.get("maxSurge")
    if not _is_zero(values.get("maxUnavailable")) or not (surge is None or _is_zero(surge)):
        return []
    return [("maxUnavailable", "must be at least 1 if maxSurge is 0, because no member could be changed otherwise")]


@rule("keepNames requires maxSurge: 0", SOURCE)
def names_are_kept_without_surge(values: dict[str, Any]) -> list[Violation]:
    """Refuse a surge, whose instances would need names that are still in use."""
    if values.get("keepNames") is not True or not has_surge(values):
        return []
    return [("maxSurge", "must be 0 with keepNames, because the old instance has to free its name first")]


@rule("minimalAction must not be more disruptive than mostDisruptiveAction", SOURCE)
def least_action_is_not_above_the_most(values: dict[str, Any]) -> list[Violation]:
    """Refuse a policy that asks for more than it allows."""
    least, most = text(values, "minimalAction") or ACTIONS[0], text(values, "mostDisruptiveAction") or ACTIONS[-1]
    if not {least, most} <= set(ACTIONS) or ACTIONS.index(least) <= ACTIONS.index(most):
        return []
    return [("minimalAction", f"must not be more disruptive than mostDisruptiveAction, which is {most}")]


def has_surge(policy: dict[str, Any]) -> bool:
    """Return whether an update policy allows more members than `count`; false if that is unknown or malformed."""
    surge = policy.get("maxSurge")
    return as_integer_or_percentage(surge) is not None and not _is_zero(surge)


def _is_zero(value: Any) -> bool:
    return as_integer_or_percentage(value) in {0, "0%"}
