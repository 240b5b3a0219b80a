"""Checks of inputs against Google at preview, for users who set `validateOnline`.

Unknown values are skipped, and so are forms that only Google can read. The checks of one service are in the service's
package, built on `OnlineChecks`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import attrs

from gcpx.gcp.in_project import Lookups
from gcpx.gcp.not_found import suggest
from gcpx.gcp.request import COMPUTE, Api
from gcpx.model.context import Context
from gcpx.model.fields import Failure
from gcpx.model.links import name_of, path_of
from gcpx.model.values import UNKNOWN, Path

OnlineCheck = Callable[[], list[Failure]]
"""One request to Google; returns the failures that follow from the response."""
_FULL_LINK: Final = re.compile(r"projects/([^/]+)/(?:global|(region|zone)s/([^/]+))/\w+/(?:family/)?[^/]+")
"""A link with its project; the groups are project, kind of place and place."""
_NO_PROJECT: Final = "must name a project that exists; {} does not exist: correct it"


def missing(name: str, path: Path) -> Failure:
    """Return the failure of an input that names a missing resource."""
    return Failure(
        path,
        f"must name something that exists; {name} does not exist: correct it, or create it first; if this program "
        "creates it, refer to the output `id` of that resource instead",
    )


@attrs.frozen
class OnlineChecks:
    """The online checks of one resource, which share its location.

    Attributes:
        lookups: the cached responses of this run.
        context: the engine's call; checks that cannot be made become its warnings.
        project: the resource's project; None if it is not known yet. Then only links that name a project are checked.
        region: the resource's region; None for a global resource, or if it is not known.
        project_path: the input that names the project.
    """

    lookups: Lookups
    context: Context
    project: str | None
    region: str | None = None
    project_path: Path = ("project",)

    def run(self, inputs: Mapping[str, Any], checks: Iterable[OnlineCheck]) -> list[Failure]:
        """Check project and region first and, if both exist, everything else in parallel.

        `inputs` may contain unknowns; an unknown project, region or zone causes a warning.
        """
        for name in ("project", "region", "zone"):
            if inputs.get(name) is UNKNOWN:
                self.context.warn(f"validateOnline: {name} is not known yet, so nothing in it is checked")
        failures = self._check_project() or self.check_region(self.region or "", ("region",))
        if failures:
            return failures
        return [failure for found in self.context.side_by_side(lambda check: check(), checks) for failure in found]

    def _check_project(self) -> list[Failure]:
        if not self.project or self.get(f"beta/projects/{self.project}") is not None:
            return []
        words = _NO_PROJECT.format(self.project)
        has_default = self.project_path == ("project",)
        return [Failure(self.project_path, f"{words} here or in gcpx:project" if has_default else words)]

    def check_region(self, name: str, path: Path) -> list[Failure]:
        """Check that the project has a region; `name` is a name or a link, and may be empty."""
        return self._check_place(self.project, "region", name_of(name), path)

    def check_zone(self, zone: str, path: Path) -> list[Failure]:
        """Check that the project has a zone and, for a regional resource, that the zone is in its region."""
        name = name_of(zone)
        failures = self._check_place(self.project, "zone", name, path)
        if failures or not name or not self.region or name.startswith(f"{self.region}-"):
            return failures
        return [Failure(path, f"must be a zone of {self.region}; {name} is in another region: change one of them")]

    def _check_place(self, project: str | None, kind: str, name: str, path: Path) -> list[Failure]:
        collection = f"beta/projects/{project}/{kind}s"
        if not name or not project or self.get(f"{collection}/{name}") is not None:
            return []
        listed = self.get(collection, fields="items(name)")
        if listed is None:
            return [Failure(path, _NO_PROJECT.format(project))]
        hint = suggest(name, listed) or f"gcpx:compute:listRegions lists regions and their {kind}s"
        return [Failure(path, f"must be a {kind} of {project}; {name} does not exist: {hint}")]

    def check_link(self, link: str, collection: str, path: Path) -> list[Failure]:
        """Check that the resource of a link exists; if not, blame its zone or region if that does not exist either.

        The resource's project completes a link without a project. `collection`, such as `global/networks`, completes a
        bare name, which is skipped without a collection.
        """
        given = path_of(link)
        if given and not given.startswith("projects/"):
            is_placed = given.startswith(("global/", "regions/", "zones/"))
            bare = given if is_placed else f"{collection}/{given}" if collection else ""
            given = f"projects/{self.project}/{bare}" if self.project else ""
        full = _FULL_LINK.fullmatch(given)
        failures = self.check_exists(given, f"beta/{given}", path) if full else []
        if full and failures:
            return self._check_place(full[1], full[2], full[3] or "", path) or failures
        return []

    def check_exists(self, name: str, resource: str, path: Path, *, api: Api = COMPUTE, **query: Any) -> list[Failure]:
        """Check that a resource exists, by its path with the version; `name` is its name in messages."""
        return [] if self.get(resource, api=api, **query) is not None else [missing(name, path)]

    def get(self, path: str, *, api: Api = COMPUTE, **query: Any) -> dict[str, Any] | None:
        """Read a resource, as `Lookups.get` does: None if it does not exist, and `{}` if the request fails."""
        return self.lookups.get(self.context, path, api=api, **query)
