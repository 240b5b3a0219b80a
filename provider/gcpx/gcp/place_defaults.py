"""Project, region and zone of a resource or a function: its own, or the provider's default."""

from __future__ import annotations

from typing import Any

from gcpx.gcp.settings import Settings
from gcpx.model.rules import Failure


def place_or_default(settings: Settings, name: str, values: dict[str, Any]) -> Any:
    """Give `project`, `region` or `zone` from inputs, which may be unknown, else from the provider's settings."""
    return values.get(name) or getattr(settings, name)


def missing_place(name: str) -> Failure:
    """Say that `project`, `region` or `zone` is required, and where it can be set."""
    words = (
        f"is required: set it here, or for everything with `pulumi config set gcpx:{name}`; `pulumi do` reads no stack "
        f"configuration, so set GOOGLE_{name.upper()} for it, or pass --gcpx:{name}"
    )
    return name, words


def require_project(settings: Settings, values: dict[str, Any]) -> list[Failure]:
    """Require a project, of inputs, arguments or a query, or of the provider."""
    return [] if place_or_default(settings, "project", values) else [missing_place("project")]
