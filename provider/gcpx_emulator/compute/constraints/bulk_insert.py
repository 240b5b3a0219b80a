"""Many instances in one call: their names, their number, and where they go."""

from __future__ import annotations

import re
from typing import Any, Final

from gcpx_emulator.core.constraints import NAME, NAME_WORDS, Rule, at_least, like
from gcpx_emulator.core.discovery import Json

BULK: Final = ("compute.instances.bulkInsert", "compute.regionInstances.bulkInsert")
_REQUEST: Final = "BulkInsertInstanceResource"
_LONGEST_RUN: Final = 18
_SOLE_TENANT: Final = "compute.googleapis.com/node"


def _has_one_run(pattern: Any) -> bool:
    runs = re.findall("#+", pattern)
    return len(runs) == 1 and len(runs[0]) <= _LONGEST_RUN


def _makes_names(pattern: Any) -> bool:
    return NAME.fullmatch(pattern.replace("#", "0")) is not None


def _numbers_suffice(request: Json) -> bool:
    digits = (request.get("namePattern") or "").count("#")
    return not digits or int(request.get("count") or 1) < 10**digits


def _least_is_within(request: Json) -> bool:
    count = request.get("count") or len(request.get("perInstanceProperties") or ()) or None
    return count is None or int(request.get("minCount") or 0) <= int(count)


RULES: Final = (
    Rule(schema=_REQUEST, field="count", words="Must be at least 1.", holds=at_least(1)),
    Rule(schema=_REQUEST, field="minCount", words="Must not be negative.", holds=at_least(0)),
    Rule(schema=_REQUEST, field="minCount", words="Must not be above count.", holds=_least_is_within, across=True),
    Rule(schema=_REQUEST, field="namePattern", words="Must hold one run of at most 18 #.", holds=_has_one_run),
    Rule(schema=_REQUEST, field="namePattern", words=f"Must make names of instances. {NAME_WORDS}", holds=_makes_names),
    Rule(
        schema=_REQUEST,
        field="namePattern",
        words="Has too few # for the names that are needed.",
        holds=_numbers_suffice,
        across=True,
    ),
    Rule(schema=_REQUEST, field="perInstanceProperties{}", words=NAME_WORDS, holds=like(NAME)),
    Rule(
        schema="LocationPolicy",
        field="locations{}",
        words="Must be written zones/ZONE.",
        holds=like(r"(?:https://[^/]+/compute/\w+/)?(?:projects/[^/]+/)?zones/[^/\s]+"),
    ),
    Rule(
        schema="LocationPolicyLocationConstraints", field="maxCount", words="Must not be negative.", holds=at_least(0)
    ),
    Rule(
        schema="AttachedDisk",
        field="initializeParams.sourceSnapshot",
        words="Instances cannot be created in bulk from a snapshot; use an image.",
        holds=lambda _source: False,
        only=BULK,
    ),
    Rule(
        schema="SchedulingNodeAffinity",
        field="key",
        words="Instances on sole-tenant nodes cannot be created in bulk.",
        holds=lambda key: not key.startswith(_SOLE_TENANT),
        only=BULK,
    ),
)
