"""Links to resources, and the paths that they stand for."""

from __future__ import annotations

import re


def path_of(link: str, project: str) -> str:
    """Return the path, `projects/...`, of the resource that a full or partial URL names; `project` completes it."""
    path = re.sub(r"^https?://[^/]+/compute/[a-z0-9]+/", "", link).strip("/")
    return path if path.startswith("projects/") else f"projects/{project}/{path}"


def last_part(link: str) -> str:
    """Return the last part of a URL or path, which is a resource's name."""
    return link.rpartition("/")[2]


def scope_of(path: str) -> str:
    """Return the scope in the path of a resource in a zone or region, such as `zones/us-east1-b`."""
    return "/".join(path.split("/")[2:4])
