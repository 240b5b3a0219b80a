"""The work of operations: what an operation does, and how Compute shows it until and after its end."""

from __future__ import annotations

import copy
from typing import Final

import attrs

from gcpx_emulator.core.clock import pacific_timestamp
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Effect, Operation, Progress

QUICK: Final = frozenset({"compute.subnetworks.patch", "setDiskAutoDelete", "setLabels"})
"""The types of operations that are done from the first response.

Source: operations of Google that were recorded from 2016 to 2026; one of the setLabels was running (2019). A patch of a
subnetwork was recorded in 2018.
"""
_PENDING: Final = frozenset({"reset", "resizeDisk", "setMachineType", "setPrivateIpGoogleAccess", "setTags", "start"})
"""The types of operations that are pending at first; all others are running from the first response.

Source: the first responses of Google that were recorded, for `start` in 2019, for `setPrivateIpGoogleAccess` in 2018,
for the others before.
"""
_PENDING_SHARE: Final = 0.2
"""The fraction of an operation's time during which it is pending."""
_FULL_TYPES: Final = frozenset({"compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert"})
"""The insertions whose operations have the method's ID as their type.

Source: operations of Google that were recorded in 2016, 2019 and 2026 for global templates; those of node templates
and node groups (2024) have the same form. No operation of a regional template was recorded. All other operations are
named like their method: insertions of machine images (2020), instances (2018 to 2026), disks and images (2013), and
deletions, also of templates (2026).
"""
_FAILURE: Final = "_failure"
"""The field of a stored operation with its failure, which it shows at its end."""


def insertion_type(method: str) -> str:
    """Return the type that Google gives the operation of an insertion, by the method's ID."""
    return method if method in _FULL_TYPES else "insert"


@attrs.frozen(kw_only=True)
class Work:
    """The work of an operation.

    Attributes:
        kind: the operation's type, such as `insert`.
        target: the path of the resource that it works on.
        target_id: that resource's numeric ID.
        effects: changes of the store when the operation ends, unless it fails.
        undoing: changes of the store when the operation ends, if it fails.
        failure: {"errors": [...]} and, optionally, httpErrorStatusCode and httpErrorMessage; None if it succeeds.
        details: more fields of the operation, such as warnings.
    """

    kind: str
    target: str
    target_id: str
    effects: list[Effect] = attrs.Factory(list)
    undoing: list[Effect] = attrs.Factory(list)
    failure: Json | None = None
    details: Json = attrs.Factory(dict)


def url_of(path: str, version: str) -> str:
    """Return the full URL of a path in a version of the API."""
    return f"https://www.googleapis.com/compute/{version}/{path}"


def operation_body(work: Work, operation: Operation, version: str) -> Json:
    """Write the stored fields of an operation, with links of a version of the API."""
    kind, parent = (
        operation.scope.partition("/")[0].removesuffix("s"),
        f"projects/{operation.project}/{operation.scope}",
    )
    return {
        "kind": "compute#operation",
        "name": operation.name,
        "operationType": work.kind,
        "targetLink": url_of(work.target, version),
        "targetId": work.target_id,
        "selfLink": url_of(f"{parent}/operations/{operation.name}", version),
        **({} if kind == "global" else {kind: url_of(parent, version)}),
        **work.details,
        "insertTime": pacific_timestamp(operation.begins),
        **({_FAILURE: work.failure} if work.failure else {}),
    }


def shown_operation(body: Json, progress: Progress) -> Json:
    """Write an operation as the API shows it at a moment."""
    shown, share = {name: value for name, value in body.items() if name != _FAILURE}, progress.share
    waits = _PENDING_SHARE if body["operationType"] in _PENDING else 0.0
    if share < waits:
        return shown | {"status": "PENDING", "progress": 0}
    started = pacific_timestamp(progress.begins + waits * (progress.ends - progress.begins))
    if share < 1:
        running = {"status": "RUNNING", "progress": int(share * 100), "startTime": started}
        return _with_instance_counts(shown, share) | running
    done = {"status": "DONE", "progress": 100, "startTime": started, "endTime": pacific_timestamp(progress.ends)}
    return shown | done | _error(body.get(_FAILURE))


def _error(failure: Json | None) -> Json:
    if failure is None:
        return {}
    return {
        "error": {"errors": failure["errors"]},
        "httpErrorStatusCode": failure.get("httpErrorStatusCode", 400),
        "httpErrorMessage": failure.get("httpErrorMessage", "BAD REQUEST"),
    }


def _with_instance_counts(body: Json, share: float) -> Json:
    """Show how many instances an unfinished bulk creation has created in each zone."""
    if "instancesBulkInsertOperationMetadata" not in body:
        return body
    shown = copy.deepcopy(body)
    for zone in shown["instancesBulkInsertOperationMetadata"]["perLocationStatus"].values():
        created = int(zone["createdVmCount"] * share)
        zone |= {"status": "CREATING", "deletedVmCount": 0, "createdVmCount": created}
    return shown
