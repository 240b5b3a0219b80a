"""Constraints of bulk creations: names, numbers and locations of instances."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx_emulator.compute.constraints.methods import BULK_INSERT
from gcpx_emulator.compute.names import NAME, NAME_MESSAGE
from gcpx_emulator.core.constraints import Constraint, at_least, between, matches
from gcpx_emulator.core.json_data import Json

_REQUEST: Final = "BulkInsertInstanceResource"
_LONGEST_RUN: Final = 18
_MOST_INSTANCES: Final = 5000
_SOLE_TENANT: Final = "compute.googleapis.com/node"
_ZONE: Final = r"(?:https://[^/]+/compute/\w+/)?(?:projects/[^/]+/)?zones/[^/\s]+"


def _has_one_run(pattern: Any) -> bool:
    runs = re.findall("#+", pattern)
    return len(runs) == 1 and len(runs[0]) <= _LONGEST_RUN


def _makes_names(pattern: Any) -> bool:
    return NAME.fullmatch(pattern.replace("#", "0")) is not None


def _has_enough_digits(request: Json) -> bool:
    digits = (request.get("namePattern") or "").count("#")
    return not digits or int(request.get("count") or 1) < 10**digits


def _minimum_is_within_count(request: Json) -> bool:
    count = request.get("count") or len(request.get("perInstanceProperties") or ()) or None
    return count is None or int(request.get("minCount") or 0) <= int(count)


CONSTRAINTS: Final = (
    Constraint(_REQUEST, "count", f"Must be between 1 and {_MOST_INSTANCES}.", between(1, _MOST_INSTANCES)),
    Constraint(_REQUEST, "minCount", "Must not be negative.", at_least(0)),
    Constraint(_REQUEST, "minCount", "Must not be above count.", _minimum_is_within_count, of_object=True),
    Constraint(_REQUEST, "namePattern", "Must hold one run of at most 18 #.", _has_one_run),
    Constraint(_REQUEST, "namePattern", f"Must make names of instances. {NAME_MESSAGE}", _makes_names),
    Constraint(
        _REQUEST, "namePattern", "Has too few # for the names that are needed.", _has_enough_digits, of_object=True
    ),
    Constraint(_REQUEST, "perInstanceProperties{}", NAME_MESSAGE, matches(NAME)),
    Constraint("LocationPolicy", "locations{}", "Must be written zones/ZONE.", matches(_ZONE)),
    Constraint("LocationPolicyLocationConstraints", "maxCount", "Must not be negative.", at_least(0)),
    Constraint(
        "AttachedDisk",
        "initializeParams.sourceSnapshot",
        "Instances cannot be created in bulk from a snapshot; use an image.",
        lambda _snapshot: False,
        methods=BULK_INSERT,
    ),
    Constraint(
        "SchedulingNodeAffinity",
        "key",
        "Instances on sole-tenant nodes cannot be created in bulk.",
        lambda key: not key.startswith(_SOLE_TENANT),
        methods=BULK_INSERT,
    ),
)
