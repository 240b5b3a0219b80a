"""Resources and functions of one project."""

from __future__ import annotations

from typing import Any

from gcpx.errors import ProviderError
from gcpx.gcp.client import Google
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.missing import explained
from gcpx.gcp.place_defaults import place_or_default, require_project
from gcpx.model.call import Call
from gcpx.model.function import Function
from gcpx.model.links import Home
from gcpx.model.places import PROJECT
from gcpx.model.resource import Live, Resource
from gcpx.model.rules import Failure


class InProject(Resource):
    """A resource whose project is its own or the provider's."""

    def __init__(self, google: Google, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups

    def problems(self, inputs: dict[str, Any]) -> list[Failure]:
        """Require a project; if it is the provider's, in the right form."""
        project = self._project(inputs)
        if project and not inputs.get("project") and not PROJECT[0].fullmatch(project):
            return [("project", f"must be {PROJECT[1]}; correct gcpx:project or its variable")]
        return require_project(self._google.settings, inputs)

    def query_problems(self, query: dict[str, Any]) -> list[Failure]:
        """Require a project to list."""
        return require_project(self._google.settings, query)

    def defaults(self) -> dict[str, Any]:
        """Leave out the provider's project."""
        return {"project": self._google.settings.project}

    def explained(self, call: Call, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
        """Name the input that something that is missing is named by."""
        return explained(self._google, call, inputs, error)

    def home(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Home:
        """Complete names by project, and by region where the resource has one."""
        return Home.of(inputs, outputs, project=self._google.settings.project)

    def _is_other(self, call: Call, found: dict[str, Any]) -> bool:
        """Tell whether something else took the name that ours had: its number is another."""
        known = call.last.get("numericId")
        return known is not None and str(found.get("id")) != known

    def _unread(self, resource_id: str, known: dict[str, Any], operation: dict[str, Any]) -> Live:
        """Describe what an operation made, or may have made, by its number, which no later one of its name has."""
        return Live.unread(resource_id, {**known, "numericId": operation.get("targetId")})

    def _project(self, inputs: dict[str, Any]) -> Any:
        return place_or_default(self._google.settings, "project", inputs)


class InProjectFunction(Function):
    """A function whose project is its own or the provider's."""

    def __init__(self, google: Google) -> None:
        self._google = google

    def problems(self, arguments: dict[str, Any]) -> list[Failure]:
        """Require a project."""
        return require_project(self._google.settings, arguments)

    def _project(self, arguments: dict[str, Any]) -> Any:
        return place_or_default(self._google.settings, "project", arguments)
