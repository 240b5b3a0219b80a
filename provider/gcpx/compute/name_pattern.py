"""The form that names of Compute Engine resources have."""

from __future__ import annotations

import re
from typing import Final

NAME: Final = (
    re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?"),
    "1 to 63 lower-case letters, digits and hyphens, beginning with a letter and not ending in a hyphen",
)
"""The form of a name (RFC 1035), and the same in words; network tags have it, too."""
