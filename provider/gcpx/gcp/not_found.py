"""Adds to errors the input that Google refuses, or that names a missing resource, with a suggestion."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from gcpx.errors import ProviderError, UserError
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.errors import ApiError, NotFound, OperationFailed, Rejected
from gcpx.gcp.request import COMPUTE, Request
from gcpx.model.context import Context
from gcpx.model.links import name_of, path_of
from gcpx.model.values import Path, format_path

_MISSING = re.compile(r"resource '([^']+)' (?:was not found|does not exist)")
_INVALID = re.compile(r"[Ii]nvalid value for field 'resource\.([\w.\[\]-]{1,300})'")
_STEP = re.compile(r"[\w-]+")
_PATH = re.compile(r"projects/([^/]+)/.+")
_PLACES = {"regions": "region", "zones": "zone"}
"""Collections of places, with the input that names a place."""


def explain_not_found(
    google: GoogleClient, context: Context, inputs: Mapping[str, Any], error: ProviderError
) -> ProviderError:
    """Return an error that begins with the path of the input at fault: Google refuses it, or its resource is missing.

    `inputs` are the inputs of the creation or update that raised `error`, without secrets and unknowns. Errors that
    concern no single input are returned unchanged.
    """
    if not isinstance(error, NotFound | Rejected | OperationFailed):
        return error
    invalid = _INVALID.search(error.message)
    refused = _path_of_field(inputs, invalid[1]) if invalid else ()
    if refused:
        return error.with_message(f"{format_path(refused)}: {error.message}")
    found = _MISSING.search(str(error))
    link = path_of(found[1]) if found else ""
    parts = _PATH.fullmatch(link)
    if parts is None:
        return error
    project = parts[1]
    name, collection = name_of(link), link.split("/")[-2]
    path = next((format_path(path) for path, value in _texts(inputs) if name_of(value) == name), "")
    words = (
        f"must name something that exists: create it first, correct {path}, or run `pulumi refresh` if it was deleted"
    )
    if collection in _PLACES:
        path = path or _PLACES[collection]
        words = f"must be a {_PLACES[collection]} of {project}{_did_you_mean(google, context, link)}"
    return error.with_message(f"{path}: {words} ({error.message})") if path else error


def _path_of_field(inputs: Mapping[str, Any], field: str) -> Path:
    """Return the path of the single input that corresponds to a field of Google's request; empty if there is none.

    Google may omit the parent object of a bulk creation's list: `disks[0]` is `instanceProperties.disks[0]`.
    """
    steps = tuple(int(step) if step.isdigit() else step for step in _STEP.findall(field))
    places = [(), *((name,) for name, value in inputs.items() if isinstance(value, dict))]
    found = [(*place, *steps) for place in places if _has(inputs, (*place, *steps))]
    return found[0] if len(found) == 1 else ()


def _has(value: Any, path: Path) -> bool:
    """Return whether inputs have something at a path."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return False
    return bool(path)


def suggest(name: str, response: dict[str, Any]) -> str:
    """Return "did you mean" with the most similar name in a list response; empty if no name is similar."""
    names = [str(item.get("name")) for item in response.get("items", ())]
    close = difflib.get_close_matches(name, names)
    swapped = [found for found in close if sorted(found) == sorted(name)]  # most likely two letters changed places
    return next((f"did you mean {found}?" for found in (*swapped, *close)), "")


def _did_you_mean(google: GoogleClient, context: Context, link: str) -> str:
    """Suggest a region or zone in place of one that does not exist, by its link `projects/P/regions/R`."""
    collection, _, name = link.rpartition("/")
    query = {"fields": "items(name)"}
    try:
        request = Request(api=COMPUTE, method="GET", path=f"v1/{collection}", query=query, patience=0.0)
        suggestion = suggest(name, google.send(request, context))
    except (ApiError, UserError):  # UserError if Google's link is not a path
        return ""
    return f"; {suggestion}" if suggestion else ""


def _texts(value: Any, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield every string in inputs with its path, up to a question mark."""
    if isinstance(value, str):
        yield path, value.partition("?")[0]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, item in items:
        yield from _texts(item, (*path, part))
