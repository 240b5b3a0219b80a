"""Deletes everything that a verification created, even after an interruption."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from gcpx.errors import ProviderError
from gcpx.gcp.errors import NotFound
from gcpx.gcp.request import OSLOGIN, PUBSUB, STORAGE
from verify_google.place import Place

_ROUNDS: Final = 5
"""The number of searches: resources that were being created at the interruption appear late."""


def clean(place: Place, say: Callable[[str], None]) -> list[str]:
    """Delete everything with the place's prefix; return what is left, and why."""
    left: list[str] = []
    for _ in range(_ROUNDS):
        try:
            _let_operations_end(place)
            found = list(_found(place))
        except ProviderError as error:
            left = [f"what exists could not be listed; look for {place.prefix}: {error}"]
            continue
        left = [f"{path}: {problem}" for path, delete in found if (problem := _problem(delete, path, say))]
        if not found:
            return []
    return left


def _problem(delete: Callable[[], Any], path: str, say: Callable[[str], None]) -> str:
    """Delete something; return the reason of a failure."""
    say(f"deleting {path}")
    try:
        delete()
    except NotFound:
        return ""
    except ProviderError as error:
        return str(error)
    return ""


def _scopes(place: Place) -> list[str]:
    return [f"zones/{place.zone}", f"regions/{place.region}", "global"]


def _let_operations_end(place: Place) -> None:
    """Wait for running operations on resources of the verification."""
    for scope in _scopes(place):
        for item in _items(place, f"v1/projects/PROJECT/{scope}/operations"):
            if item.get("status") != "DONE" and f"/{place.prefix}" in item.get("targetLink", ""):
                try:
                    place.done(item)
                except ProviderError:
                    continue


_Deletion = tuple[str, Callable[[], Any]]


def _found(place: Place) -> Iterator[_Deletion]:
    """Find existing resources, in the order of their deletion."""
    zone, region = f"zones/{place.zone}", f"regions/{place.region}"
    for version, path in (
        ("v1", f"{zone}/instances"),
        ("v1", f"{zone}/disks"),
        ("beta", "global/machineImages"),
        ("v1", f"{region}/instanceTemplates"),
        ("v1", "global/instanceTemplates"),
    ):
        collection = f"{version}/projects/PROJECT/{path}"
        for item in _items(place, collection):
            if item["name"].startswith(place.prefix):
                one = f"{collection}/{item['name']}"
                yield one, lambda one=one, version=version: place.done(place.call("DELETE", one), version)
    for bucket in _items(place, "v1/b", api=STORAGE, project=place.project, prefix=place.prefix):
        if bucket["name"].startswith(place.prefix):
            path = f"v1/b/{bucket['name']}"
            for item in _items(place, f"{path}/notificationConfigs", api=STORAGE):
                one = f"{path}/notificationConfigs/{item['id']}"
                yield one, lambda one=one: place.call("DELETE", one, api=STORAGE)
            yield path, lambda path=path: place.call("DELETE", path, api=STORAGE)
    for topic in _items(place, "v1/projects/PROJECT/topics", api=PUBSUB, field="topics"):
        if topic["name"].rpartition("/")[2].startswith(place.prefix):
            yield topic["name"], lambda name=topic["name"]: place.call("DELETE", f"v1/{name}", api=PUBSUB)
    key = place.facts.get("key")
    if key is not None:
        path = f"v1alpha/users/{place.user}/sshPublicKeys/{key}"
        if _exists(place, path):
            yield path, lambda: place.call("DELETE", path, api=OSLOGIN)


def _exists(place: Place, path: str) -> bool:
    try:
        place.call("GET", path, api=OSLOGIN)
    except NotFound:
        return False
    return True


def _items(place: Place, path: str, field: str = "items", **query: Any) -> Iterator[dict[str, Any]]:
    """Return the items of all pages."""
    token: str | None = None
    while token != "":
        page = place.call("GET", path, pageToken=token, **query)
        yield from page.get(field, [])
        token = page.get("nextPageToken", "")
