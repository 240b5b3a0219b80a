"""The forms of projects, regions and zones, and of the parts of links."""

from __future__ import annotations

import re
from typing import Final

from gcpx.model.patterns import Part

_NAME: Final = r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?"
_PREFIX: Final = r"(?:https?://[^/\s]+/(?:compute/)?(?:v1|beta)/)?(?:projects/[^/\s]+/)?"
PROJECT_ID: Final = (
    r"(?:(?:[-a-z0-9]{1,63}\.)*(?:[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?):)?"
    r"(?:[0-9]{1,19}|[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)"
)
"""An ID, also with a domain, or a number, as Google's API description allows in a request's path."""
PROJECT: Final = (
    re.compile(PROJECT_ID),
    "the ID or number of a project: lower-case letters, digits and hyphens, such as my-project",
)
REGION: Final = (
    re.compile(rf"(?:{_PREFIX}regions/)?(?![-a-z0-9]*\d-[a-z]$){_NAME}"),
    "a region such as us-east1, also as regions/us-east1 or its URL; us-east1-b is a zone",
)
ZONE: Final = (
    re.compile(rf"(?:{_PREFIX}zones/)?(?![a-z]+(?:-[a-z]+)+\d+$){_NAME}"),
    "a zone such as us-east1-b, also as zones/us-east1-b or its URL; us-east1 is a region",
)
LINK_PARTS: Final = {
    "PROJECT": Part(PROJECT_ID, "the ID or number of a project"),
    "REGION": Part(r"[^/\s?#]+", "a region, such as us-east1"),
    "ZONE": Part(r"[^/\s?#]+", "a zone, such as us-east1-b"),
    "NAME": Part(r"[^/\s?#]+", "a name without spaces"),
}
"""The parts of links, by the words that stand for them in `patterns.form`."""
