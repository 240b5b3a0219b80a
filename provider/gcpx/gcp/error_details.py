"""What the details of Google's errors say: reasons, links, quotas, places, translations, and APIs that are not enabled.

Values are REST JSON of any shape, because an error response may come from another server.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_ENABLING: Final = re.compile(r"/apis/api/([\w.-]+)/overview\?project=([\w.:-]+)")
"""What the link to the page that enables an API contains: the API and the project."""
_SERVICE_AND_CONSUMER: Final = re.compile(r"([\w.-]+) projects/([\w.:-]+)")
"""The same in the metadata of an error. Both become part of a command, so they contain nothing else."""


def with_hints(message: str, error: Mapping[str, Any]) -> str:
    """Add what the details of an error say to its message."""
    return " ".join((message, *hints(error.get("details"))))


def hints(details: Any) -> Iterator[str]:
    """Yield the links and quotas in the details of an error, each as a sentence."""
    for detail in objects(details):
        for link in objects(object_of(detail.get("help") or detail).get("links")):
            yield f"See {link.get('url')} ({link.get('description', 'help')})."
        quota = object_of(detail.get("quotaInfo"))
        if quota:
            yield _quota(quota)


def reasons_of(error: Mapping[str, Any]) -> list[str]:
    """Return the reasons of an error: those of its errors, then those of its details."""
    items = (*objects(error.get("errors")), *objects(error.get("details")))
    return [str(item["reason"]) for item in items if item.get("reason")]


def disabled_api(details: Any) -> tuple[str, str] | None:
    """Return an API that is not enabled, such as `compute.googleapis.com`, and its project; None if none is named."""
    for detail in objects(details):
        metadata = object_of(detail.get("metadata"))
        named = _SERVICE_AND_CONSUMER.fullmatch(f"{metadata.get('service')} {metadata.get('consumer')}")
        links = [_ENABLING.search(str(link.get("url"))) for link in objects(detail.get("links"))]
        found = next(filter(None, (named if detail.get("reason") == "SERVICE_DISABLED" else None, *links)), None)
        if found is not None:
            return found[1], found[2]
    return None


def _quota(quota: dict[str, Any]) -> str:
    """Name a quota, and its limit if it is known."""
    name = quota.get("metricName") or quota.get("limitName") or "a quota"
    place = ", ".join(f"{key} {value}" for key, value in object_of(quota.get("dimensions")).items())
    limit = quota.get("limit")
    given = f"{limit:,.15g}" if isinstance(limit, int | float) else limit
    exceeded = f"The quota that is used up is {name}" if given is None else f"The limit of {name} is {given}"
    return f"{exceeded}{f' in {place}' if place else ''}."


def location(item: Mapping[str, Any]) -> str:
    """Name the field of the request that caused an error, if Google does."""
    return f" (caused by the field `{item['location']}`)" if item.get("location") else ""


def localized(item: Mapping[str, Any]) -> str:
    """Return the message of an operation's error, in the user's language if Google gives that."""
    for detail in objects(item.get("errorDetails")):
        text = object_of(detail.get("localizedMessage")).get("message")
        if text:
            return str(text)
    return str(item.get("message", "no message"))


def objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list in a response; anything else than a list is empty."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_of(value: Any) -> dict[str, Any]:
    """Return an object of a response; anything else is empty."""
    return value if isinstance(value, dict) else {}
