"""Find out why a bulk creation created fewer instances than asked for, from the operations of its instances."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.creation.causes import Quota, Reason, reason_of_error, reason_of_operation
from gcpx.compute.bulk_instances.fleet import Fleet
from gcpx.compute.operation_outcome import Outcome
from gcpx.errors import safe_message
from gcpx.gcp.apis import COMPUTE
from gcpx.gcp.errors import ApiError
from gcpx.gcp.list_method import ListMethod
from gcpx.gcp.request import Request
from gcpx.model.call import Call
from gcpx.model.links import name_of

_OPERATION_FIELDS: Final = "operationGroupId,zone,error(errors(code,message,errorDetails))"
_PATIENCE: Final = 10.0
"""Seconds of retries; few, because the shortfall can also be reported without its causes."""


@attrs.frozen
class Diagnosis:
    """The reasons of one bulk creation that fell short.

    Attributes:
        machine_type: what the request asked for; it stands in for a machine type that Google does not name.
    """

    call: Call
    fleet: Fleet
    machine_type: str

    def of_refusal(self, error: ApiError, count: int) -> Counter[Reason]:
        """Return why Google refused a request for this many instances."""
        return self._completed(Counter({reason_of_error(error): count}))

    def of_outcome(self, outcome: Outcome, count: int) -> Counter[Reason]:
        """Return why an operation created fewer instances than the `count` that was asked for.

        An instance whose own operation does not give the reason gets that of the whole operation. If operations cannot
        be read, all instances get that one.
        """
        failed = {
            name_of(name): status.get("failedToCreateVmCount", 0) for name, status in outcome.per_location.items()
        }
        failed = {zone: number for zone, number in failed.items() if number}
        whole = reason_of_operation(outcome.operation)
        if not failed:
            return self._completed(Counter({whole: count}))
        found, problem = self._of_instances(outcome.operation.get("operationGroupId"), list(failed))
        if outcome.error is not None:  # Google has then deleted what it had created, and its errors say only that
            found = Counter({reason: times for reason, times in found.items() if not reason.is_cancellation})
        if problem and not whole.message:
            whole = attrs.evolve(whole, message=f"the reasons could not be read ({problem})")
        for zone, number in failed.items():
            unexplained = number - sum(times for reason, times in found.items() if reason.zone == zone)
            if unexplained > 0:
                found[attrs.evolve(whole, zone=zone)] += unexplained
        return self._completed(found)

    def _of_instances(self, group: str | None, zones: list[str]) -> tuple[Counter[Reason], str]:
        """Count the reasons in the operations of the instances; also say what went wrong, if reading them failed."""
        found: Counter[Reason] = Counter()
        try:
            for operation in self._failed_operations(group, zones):
                found[reason_of_operation(operation)] += 1
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the shortfall itself is reported
            return found, safe_message(error, "the operations of the instances")
        return found, ""

    def _failed_operations(self, group: str | None, zones: list[str]) -> Iterator[dict[str, Any]]:
        for zone in zones if group else ():
            path = f"beta/projects/{self.fleet.project}/zones/{zone}/operations"
            query = {"filter": f'operationGroupId = "{group}"'}
            google = self.fleet.google
            listed = ListMethod(google=google, path=path, query=query, fields=_OPERATION_FIELDS, patience=_PATIENCE)
            for page in listed.pages(self.call):
                # The filter is not relied on: a server that ignores it lists other operations, too.
                same = (item for item in page.get("items", ()) if item.get("operationGroupId") == group)
                yield from (item for item in same if item.get("error"))

    def _completed(self, found: Counter[Reason]) -> Counter[Reason]:
        """Add machine types and the usage of quotas where Google's errors leave them out."""
        completed: Counter[Reason] = Counter()
        for reason, number in found.items():
            quota = self._with_usage(reason.quota) if reason.quota else None
            machine_type = reason.machine_type or self.machine_type
            completed[attrs.evolve(reason, quota=quota, machine_type=machine_type)] += number
        return completed

    def _with_usage(self, quota: Quota) -> Quota:
        """Add limit and usage of a quota from the region, if it is one of the region's."""
        metric = quota.name.partition("-per-")[0]
        path, query = f"beta/projects/{self.fleet.project}/regions/{self.fleet.region}", {"fields": "quotas"}
        try:
            region = self.fleet.google.send(
                Request(api=COMPUTE, method="GET", path=path, query=query, patience=_PATIENCE), self.call
            )
            known = {item.get("metric"): item for item in region.get("quotas", ())}.get(metric, {})
        except Exception:  # noqa: BLE001 - the message only says less
            return quota
        limit = known.get("limit") if quota.limit is None else quota.limit
        return attrs.evolve(quota, limit=limit, usage=known.get("usage"))
