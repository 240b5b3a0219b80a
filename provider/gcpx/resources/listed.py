"""What the lists of Compute's resources share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gcpx.errors import UserError
from gcpx.google.client import Google, Waiting
from gcpx.google.listing import Listing

SET_PROJECT: Final = (
    "set it here, or for all calls with `pulumi config set gcpx:project`; `pulumi do` reads no stack configuration, so "
    "set GOOGLE_PROJECT for it, or pass --gcpx:project"
)


def project_of(google: Google, query: dict[str, Any]) -> str:
    """Give the project to list."""
    project = query.get("project") or google.settings.project
    if not project:
        raise UserError(f"project is required: {SET_PROJECT}")
    return str(project)


def listing(google: Google, query: dict[str, Any], path: str, mask: str) -> Listing:
    """Ask for what a list of IDs needs, and no more; `{}` in the path stands for the project."""
    asked = {"filter": query.get("filter") or None, "fields": f"{mask},nextPageToken"}
    return Listing(google=google, path=path.format(project_of(google, query)), query=asked)


def scoped(
    google: Google, call: Waiting, query: dict[str, Any], scope: str, names: tuple[str, str, str], token: str, size: int
) -> tuple[list[dict[str, Any]], str]:
    """Read a page of one scope's list, or without a scope of the aggregated one; gives items and the next token.

    `names` are the API's version, the collection, and the fields of each item.
    """
    version, collection, fields = names
    project = f"{version}/projects/{{}}"
    if scope:
        page = listing(google, query, f"{project}/{scope}/{collection}", f"items({fields})").page(call, token, size)
        items = page.get("items", [])
    else:
        mask = f"items/*({collection}({fields}))"
        page = listing(google, query, f"{project}/aggregated/{collection}", mask).page(call, token, size)
        items = list(grouped(page, collection))
    return items, page.get("nextPageToken", "")


def grouped(page: dict[str, Any], collection: str) -> Iterator[dict[str, Any]]:
    """Give the items of every scope of an aggregated page."""
    for group in page.get("items", {}).values():
        yield from group.get(collection, ())
