"""Operations as Compute Engine's API shows them."""

from __future__ import annotations

import copy
from typing import Final

import attrs

from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.effects import Effect
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.operations import Progress

_PENDING_SHARE: Final = 0.2
"""The part of an operation's time in which it is pending."""
_FULL_TYPES: Final = frozenset({"compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert"})
"""The insertions whose operations have the method's ID as their type.

Source: operations of Google that were recorded in 2016, 2019 and 2026 for global templates; those of node templates
and node groups (2024) are named likewise. No operation of a regional template was recorded. All other operations are
named like their method: insertions of machine images (2020), instances (2018 to 2026), disks and images (2013), and
deletions, also of templates (2026).
"""
_FAILURE: Final = "_failure"
"""The field of the kept body with the result that the operation will have, if it fails."""


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
        effects: on the store when it ends, unless it fails.
        failure: the result if it fails: {"errors": [...]} and, optionally, httpErrorStatusCode and httpErrorMessage.
        details: more fields of the operation, such as warnings.
    """

    kind: str
    target: str
    target_id: str
    effects: list[Effect] = attrs.Factory(list)
    failure: Json | None = None
    details: Json = attrs.Factory(dict)

    def outcome(self) -> tuple[Json, list[Effect]]:
        """Return the part of the operation's body that keeps its failure, if it has one, and its effects."""
        return ({_FAILURE: self.failure}, []) if self.failure else ({}, self.effects)


def show(body: Json, progress: Progress) -> Json:
    """Write an operation as the API shows it at a moment."""
    shown = {name: value for name, value in body.items() if name != _FAILURE}
    if progress.share < 1:
        return _with_instance_counts(shown, progress) | _unfinished(progress)
    done = {"status": "DONE", "progress": 100, "startTime": _start_time(progress), "endTime": timestamp(progress.ends)}
    return shown | done | _error(body.get(_FAILURE))


def _unfinished(progress: Progress) -> Json:
    if progress.share < _PENDING_SHARE:
        return {"status": "PENDING", "progress": 0}
    return {"status": "RUNNING", "progress": int(progress.share * 100), "startTime": _start_time(progress)}


def _start_time(progress: Progress) -> str:
    return timestamp(progress.begins + _PENDING_SHARE * (progress.ends - progress.begins))


def _error(failure: Json | None) -> Json:
    if failure is None:
        return {}
    return {
        "error": {"errors": failure["errors"]},
        "httpErrorStatusCode": failure.get("httpErrorStatusCode", 400),
        "httpErrorMessage": failure.get("httpErrorMessage", "BAD REQUEST"),
    }


def _with_instance_counts(body: Json, progress: Progress) -> Json:
    """Show how many instances an unfinished bulk creation has created in each zone."""
    if "instancesBulkInsertOperationMetadata" not in body:
        return body
    shown = copy.deepcopy(body)
    for zone in shown["instancesBulkInsertOperationMetadata"]["perLocationStatus"].values():
        created = int(zone["createdVmCount"] * progress.share)
        zone |= {"status": "CREATING", "deletedVmCount": 0, "createdVmCount": created}
    return shown
