"""Links between resources, and the paths they stand for."""

from __future__ import annotations

import re


def path_of(link: str, project: str) -> str:
    """Reduce a full or partial URL to the path a resource is kept under."""
    path = re.sub(r"^https?://[^/]+/compute/[a-z0-9]+/", "", link).strip("/")
    return path if path.startswith("projects/") else f"projects/{project}/{path}"
