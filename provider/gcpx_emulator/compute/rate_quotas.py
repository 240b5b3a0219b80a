"""The groups of methods that share a rate quota.

Source: Compute Engine documentation, "Compute Engine API rate quotas".
"""

from __future__ import annotations

from typing import Final

from gcpx_emulator.core.discovery import Method
from gcpx_emulator.core.rates import RateQuota, declare_rate_quotas

_HEAVY: Final = RateQuota(
    "heavyWeightReads",
    "Heavy-weight read requests",
    "heavy_weight_read_requests",
    "HeavyWeightReadRequestsPerMinutePerProject",
)
_LISTS: Final = RateQuota("lists", "List requests", "list_requests", "ListRequestsPerMinutePerProject")
_MUTATIONS: Final = RateQuota("mutations", "Queries", "default", "defaultPerMinutePerProject")
_OPERATIONS: Final = RateQuota(
    "operationReads", "Operation read requests", "operation_read_requests", "OperationReadRequestsPerMinutePerProject"
)
_READS: Final = RateQuota("reads", "Read requests", "read_requests", "ReadRequestsPerMinutePerProject")
_HEAVY_WAITS: Final = frozenset({"compute.regionOperations.wait", "compute.zoneOperations.wait"})


def _quota_of(method: Method) -> RateQuota:
    _, resource, verb = method.id.split(".")
    if verb == "aggregatedList" or method.id in _HEAVY_WAITS:
        return _HEAVY
    if verb == "list":
        return _LISTS
    if resource.endswith("Operations") and verb in {"get", "wait"}:
        return _OPERATIONS
    return _READS if method.http_method == "GET" or resource == "advice" else _MUTATIONS


declare_rate_quotas("compute", (_HEAVY, _LISTS, _MUTATIONS, _OPERATIONS, _READS), _quota_of)
