"""Fleet IDs, which say how gcpx finds the members of a fleet.

A fleet ID (`fleetId`) has one of three forms:

- a value of the label `gcpx-bulk`, which gcpx sets on the instances that it creates: `web-1a2b3c4`;
- another label: `labels/KEY=VALUE`;
- a pattern of instance names, in which each `#` stands for one digit: `namePattern/web-###`.
"""

from __future__ import annotations

import re
from typing import Final

FLEET_ID_SOURCE: Final = "[fleet_id.py](provider/gcpx/compute/bulk_instances/fleet_id.py): fleet IDs"
"""The source of rules about fleet IDs, which gcpx defines itself, as a link in RULES.md."""
TRACKING_LABEL: Final = "gcpx-bulk"
"""The label by which gcpx finds the members of a fleet, unless the fleet ID says otherwise."""
GENERATION_LABEL: Final = "gcpx-generation"
"""The label that shows which properties a member of a rolling fleet was created with, or was last changed to."""
FALLBACK_LABEL: Final = "gcpx-fallback"
"""The label that shows which of the fleet's fallbacks a member was created with: its index."""
RESERVED_LABELS: Final = frozenset({TRACKING_LABEL, GENERATION_LABEL, FALLBACK_LABEL})
"""The labels that gcpx sets on members, and that programs must not set."""
FLEET_ID: Final = (
    re.compile(r"[a-z0-9][-_a-z0-9]{0,62}|labels/[a-z][-_a-z0-9]{0,62}=[-_a-z0-9]{0,63}|namePattern/[-a-z0-9#]{1,63}"),
    "a label value of lower-case letters, digits, hyphens and underscores, labels/KEY=VALUE or namePattern/PATTERN",
)


def is_tracked(fleet_id: str) -> bool:
    """Return whether the members are found by gcpx's own label.

    >>> is_tracked("crew"), is_tracked("labels/role=worker"), is_tracked("namePattern/web-#")
    (True, False, False)
    """
    return "/" not in fleet_id


def membership_labels(fleet_id: str) -> dict[str, str]:
    """Return the label that every member has, as a map; empty if the members are found by their names.

    >>> membership_labels("crew"), membership_labels("labels/role=worker"), membership_labels("namePattern/web-#")
    ({'gcpx-bulk': 'crew'}, {'role': 'worker'}, {})
    """
    kind, _, rest = fleet_id.partition("/")
    if kind == "labels" and rest:
        key, _, value = rest.partition("=")
        return {key: value}
    return {} if rest else {TRACKING_LABEL: fleet_id}


def membership_pattern(fleet_id: str) -> str | None:
    """Return the pattern that the name of every member fits; None if the members are found by a label.

    >>> membership_pattern("namePattern/web-###")
    'web-###'
    """
    kind, _, pattern = fleet_id.partition("/")
    return pattern if kind == "namePattern" else None


def pattern_expression(pattern: str) -> str:
    """Write a name pattern as a regular expression that Google's filters and Python read in the same way.

    >>> pattern_expression("web###")
    'web[0-9]{3}'
    """
    runs = re.findall(r"#+|[^#]+", pattern)
    return "".join(f"[0-9]{{{len(run)}}}" if run[0] == "#" else re.escape(run) for run in runs)
