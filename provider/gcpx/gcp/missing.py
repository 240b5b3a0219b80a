"""What Google did not find, as the input that names it, with what to do about it."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from gcpx.errors import ProviderError
from gcpx.gcp.client import COMPUTE, Google, Request
from gcpx.gcp.errors import ApiError, NotFound, OperationFailed, Rejected
from gcpx.model.call import Call
from gcpx.model.links import name_of
from gcpx.model.values import Path, format_path

_MISSING = re.compile(r"resource '(?:https?://[^']*/)?(projects/([^/']+)/[^']+)' (?:was not found|does not exist)")
_PLACES = {"regions": "region", "zones": "zone"}


def explained(google: Google, call: Call, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
    """Say of a resource that Google did not find what names it, and what to do; other errors stay as they are."""
    if not isinstance(error, NotFound | Rejected | OperationFailed):
        return error
    found = _MISSING.search(str(error))
    if found is None:
        return error
    name, project = name_of(found[1]), found[2]
    collection = found[1].split("/")[-2]
    path = next((format_path(path) for path, value in _texts(inputs) if name_of(value) == name), "")
    words = f"must name something that exists: create it first, correct {path}, or run `pulumi refresh` if it is gone"
    if collection in _PLACES:
        path = path or _PLACES[collection]
        words = f"must be a {_PLACES[collection]} of {project}{did_you_mean(google, call, project, collection, name)}"
    return type(error)(f"{path}: {words} ({error})", status=error.status, reason=error.reason) if path else error


def did_you_mean(google: Google, call: Call, project: str, collection: str, name: str) -> str:
    """Suggest the region or zone of a project that is written most like a name."""
    path = f"v1/projects/{project}/{collection}"
    request = Request(api=COMPUTE, method="GET", path=path, query={"fields": "items(name)"}, patience=0.0)
    try:
        suggestion = close_to(name, google.send(request, call))
    except ApiError:
        return ""
    return f"; {suggestion}" if suggestion else ""


def close_to(name: str, listed: dict[str, Any]) -> str:
    """Suggest the name in a list of Google's that is written most like another."""
    names = [str(item.get("name")) for item in listed.get("items", ())]
    return next((f"did you mean {close}?" for close in difflib.get_close_matches(name, names, n=1)), "")


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Give every text of inputs with its path."""
    if isinstance(value, str):
        yield path, value.partition("?")[0]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, item in items:
        yield from _texts(item, (*path, part))
