"""The project, region and zone of a resource or a function: its own, or the provider's default."""

from __future__ import annotations

from typing import Any

from gcpx.gcp.settings import Settings
from gcpx.model.rules import Violation


def place_or_default(settings: Settings, name: str, values: dict[str, Any]) -> Any:
    """Return the `project`, `region` or `zone` of inputs, arguments or a query or, without one, the provider's.

    The value has the form that the user wrote, such as `regions/us-east1`. It may be unknown; it is None if neither is
    set.
    """
    return values.get(name) or getattr(settings, name)


def require_place(settings: Settings, name: str, values: dict[str, Any], alternative: str = "") -> list[Violation]:
    """Require a `project`, `region` or `zone` in inputs, arguments or a query, or in the provider's settings."""
    return [] if place_or_default(settings, name, values) else [missing_place(name, alternative)]


def require_project(settings: Settings, values: dict[str, Any]) -> list[Violation]:
    """Require a project in inputs, arguments or a query, or in the provider's settings."""
    return require_place(settings, "project", values)


def missing_place(name: str, alternative: str = "") -> Violation:
    """Say that `project`, `region` or `zone` is required, and where it can be set.

    `alternative` is another way to give it with the inputs of this resource: `name the instance by its URL`.
    """
    here = f"set it here, {alternative}," if alternative else "set it here,"
    return name, f"is required: {here} or {how_to_set(name)}"


def how_to_set(name: str) -> str:
    """Say how to set the provider's `project`, `region` or `zone`."""
    return (
        f"set a default with `pulumi config set gcpx:{name}`, with the variable GOOGLE_{name.upper()}, or with "
        f"--gcpx:{name} for `pulumi do`"
    )
