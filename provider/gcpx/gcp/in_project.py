"""What the resources and functions of one project share."""

from __future__ import annotations

from typing import Any

from gcpx.errors import ProviderError
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.not_found import explain_not_found
from gcpx.gcp.place_defaults import place_or_default, require_project
from gcpx.model.call import Call
from gcpx.model.function import Function
from gcpx.model.links import Location
from gcpx.model.resource import Live, Resource
from gcpx.model.rules import Violation


class InProject(Resource):
    """A resource in its own project or, by default, in the provider's."""

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups

    def problems(self, inputs: dict[str, Any]) -> list[Violation]:
        """Require a project."""
        return require_project(self._google.settings, inputs)

    def query_problems(self, query: dict[str, Any]) -> list[Violation]:
        """Require a project to list the resources of."""
        return require_project(self._google.settings, query)

    def provider_defaults(self) -> dict[str, Any]:
        """Give the provider's project, which an import leaves out."""
        return {"project": self._google.settings.project}

    def explain_error(self, call: Call, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
        """Name the input that names a missing resource."""
        return explain_not_found(self._google, call, inputs, error)

    def location(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Location:
        """Complete names by project, and by region where the resource has one."""
        return Location.of(inputs, outputs, project=self._google.settings.project)

    def _project(self, values: dict[str, Any]) -> Any:
        """Return the project of inputs or of a query, as it is written, or the provider's."""
        return place_or_default(self._google.settings, "project", values)

    def _unread(self, resource_id: str, known: dict[str, Any], operation: dict[str, Any]) -> Live:
        """Describe what an operation created, or may have created, by its numeric ID, which is never used again.

        Google writes the ID as text. A value of another type is part of a malformed response, and may be anything.
        """
        target = operation.get("targetId")
        return Live.unread(resource_id, {**known, "numericId": target if isinstance(target, str) and target else None})


class InProjectFunction(Function):
    """A function that reads from the project in its arguments or, by default, from the provider's."""

    def __init__(self, google: GoogleClient) -> None:
        self._google = google

    def problems(self, arguments: dict[str, Any]) -> list[Violation]:
        """Require a project."""
        return require_project(self._google.settings, arguments)

    def _project(self, arguments: dict[str, Any]) -> Any:
        """Return the project of arguments, as it is written, or the provider's."""
        return place_or_default(self._google.settings, "project", arguments)
