"""What the lists of Compute's resources share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gcpx.gcp.client import Google
from gcpx.gcp.list_method import ListMethod
from gcpx.gcp.place_defaults import place_or_default
from gcpx.model.call import Call


def listing(google: Google, query: dict[str, Any], path: str, mask: str) -> ListMethod:
    """Ask for what a list of IDs needs, and no more; `{}` in the path stands for the project."""
    asked = {"filter": query.get("filter") or None, "fields": f"{mask},nextPageToken"}
    return ListMethod(google=google, path=path.format(place_or_default(google.settings, "project", query)), query=asked)


def scoped(
    google: Google, call: Call, query: dict[str, Any], scope: str, names: tuple[str, str, str], token: str, size: int
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
