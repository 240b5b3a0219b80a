"""Links to resources: their parts, and whether two of them name the same resource."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Final

import attrs

_HOST_AND_VERSION = re.compile(r"^https?://[^/]+/(?:compute/)?(?:v1|beta|alpha|v1beta|v1alpha)/|^//[^/]+/")
_PARTS = re.compile(
    r"(?:projects/(?P<project>[^/]+)/)?(?:(?P<kind>global)/|(?P<scope>regions|zones)/(?P<place>[^/]+)/)?"
)
_PLACES = {"regions": "region", "zones": "zone"}
"""The attribute of a location that completes `regions` or `zones` in a link."""
PLACES: Final = ("project", "region", "zone")


@attrs.frozen
class Location:
    """A resource's location, which completes its short names; None if it is not known."""

    project: str | None = None
    region: str | None = None
    zone: str | None = None

    @classmethod
    def of(cls, *values: Mapping[str, Any], **settings: str | None) -> Location:
        """Take project, region and zone each from the first of `values` that has it, otherwise from the settings."""
        found = {name: next((item for item in (value.get(name) for value in values) if item), settings.get(name))
                 for name in PLACES}  # fmt: skip
        return cls(**{name: name_of(value) if isinstance(value, str) else None for name, value in found.items()})


NO_LOCATION = Location()


@attrs.frozen
class _Link:
    """The parts of a link; `scope` is `global`, `regions` or `zones`, and empty if the link has none."""

    project: str | None
    scope: str
    place: str | None
    rest: tuple[str, ...]
    number: str


def name_of(link: Any) -> str:
    """Return the name at the end of a link, which is enough for zones, regions and machine types.

    >>> name_of("regions/us-east1")
    'us-east1'
    """
    return str(link).strip().rstrip("/").rpartition("/")[2]


def path_of(link: str) -> str:
    """Reduce a self link or an ID to its path: without host, API version and query.

    >>> path_of("https://www.googleapis.com/compute/v1/projects/p/global/images/i")
    'projects/p/global/images/i'
    """
    path = re.sub(r"^(?:https?:)?//[^/]+/", "", link.strip()).partition("?")[0].strip("/")
    return re.sub(r"^(?:compute/)?(?:v1|beta|alpha)/(?=projects/)", "", path)


def in_version(version: str, link: str) -> str:
    """Return a link to a resource of Compute with another API version; other texts stay unchanged.

    >>> in_version("v1", "https://www.googleapis.com/compute/beta/projects/p/global/images/i")
    'https://www.googleapis.com/compute/v1/projects/p/global/images/i'
    >>> in_version("v1", "https://networksecurity.googleapis.com/beta/projects/p/locations/global/policies/i")
    'https://networksecurity.googleapis.com/beta/projects/p/locations/global/policies/i'
    """
    return re.sub(r"^(https?://[^/]+/compute/)(?:v1|beta|alpha)(?=/projects/)", rf"\g<1>{version}", link)


def same_link(
    one: str,
    other: str,
    bare: str,
    locations: tuple[Location, Location] = (NO_LOCATION, NO_LOCATION),
    *,
    sure: bool = False,
) -> bool:
    """Return whether two links name the same resource.

    `bare` is the collection of a bare name, such as `global/networks`. A link's location completes the link. If a part
    is known on one side only, or one side has a project's number and the other an ID, the links are the same unless
    `sure` is set.
    """
    if one == other and locations[0] == locations[1]:
        return True
    left, right = _parsed(one, bare), _parsed(other, bare)
    short, long = sorted((left.rest, right.rest), key=len)
    if long[-len(short) :] != short or (left.number and right.number and left.number != right.number):
        return False
    scopes = {left.scope, right.scope} - {""}
    if len(scopes) > 1:
        return False
    place = _PLACES.get(scopes.pop() if scopes else "", "")
    places = (left.place or getattr(locations[0], place, None), right.place or getattr(locations[1], place, None))
    projects = (left.project or locations[0].project, right.project or locations[1].project)
    if sure:
        return places[0] == places[1] and projects[0] == projects[1]
    return (places[0] == places[1] or None in places) and (
        projects[0] == projects[1]
        or None in projects
        or (all(projects) and str(projects[0]).isdigit() != str(projects[1]).isdigit())
    )


@functools.lru_cache(maxsize=4096)
def _parsed(link: str, bare: str) -> _Link:
    """Split a link into its parts; a bare name gets the collection `bare` and its scope."""
    path, _, number = link.strip().partition("?uniqueId=")
    path = _HOST_AND_VERSION.sub("", path).strip("/")
    found = _PARTS.match(path)
    assert found is not None  # noqa: S101 - every part may be left out
    rest = tuple(path[found.end() :].split("/"))
    scope, _, collection = bare.rpartition("/")
    if len(rest) == 1:
        rest = (collection, *rest)
    return _Link(found["project"], found["kind"] or found["scope"] or scope, found["place"], rest, number)
