"""Which of the instances that match a fleet's ID are its members. The others are strangers, and are left alone.

A label or a name proves nothing: anybody can copy them to another instance, for example with a member's machine image,
and two fleets may match the same instances. Google gives a numeric ID only once. So an instance is a member if

- the state has its numeric ID,
- or a bulk creation of this resource made it. A bulk creation of an interrupted run is recognized by its request ID. Its
  operation and those that created the single instances share a group ID; the targets of the latter are the numeric IDs
  of the instances,
- or the user has asked for everything that matches: by an import, or by a refresh of a fleet whose ID is a label or a
  name pattern that the user has chosen.

Operations are read only if an instance is neither in the state nor just created. Google keeps them for some weeks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from gcpx.compute.operation_fields import moment
from gcpx.compute.operations import Operations
from gcpx.compute.request_ids import resource_mark
from gcpx.model.call import Call
from gcpx.model.links import name_of

_Instance = dict[str, Any]
"""An instance as the API returns it (REST JSON)."""
_CLOCK_SKEW: Final = 2.0
"""Seconds by which the times of operations and of instances may differ, because different machines write them."""


@attrs.frozen
class _Creation:
    """A bulk creation that this run began, or that an earlier run began and this run found.

    Attributes:
        group: the ID that its operations share; empty if Google gave none.
        created: how many instances it created, by zone; None if that is not known, or if an earlier run began it.
    """

    group: str
    created: Counter[str] | None


@attrs.define
class Membership:
    """What one call of the engine has found out about the instances that match a fleet's ID.

    Attributes:
        strangers: the instances of the last list that are not members, by numeric ID.
    """

    strangers: dict[str, _Instance] = attrs.Factory(dict)
    _members: set[str] = attrs.Factory(set)
    """The numeric IDs of members."""
    _creations: list[_Creation] = attrs.Factory(list)
    """The bulk creations since the last list."""
    _groups: list[str] = attrs.Factory(list)
    """The group IDs of all bulk creations of the call, because a list may not show yet what they have created."""
    _has_read_operations: bool = False

    def take_in(self, instances: Iterable[_Instance]) -> None:
        """Make instances members; `instances` may also be elements of the output `members`."""
        self._members |= {str(item["id"]) for item in instances}

    def add_creation(self, operation: Mapping[str, Any], created: Counter[str] | None = None) -> None:
        """Take a bulk creation whose instances the next list shows.

        Args:
            operation: its operation (REST JSON).
            created: how many instances it created, by zone, if this run has begun it.
        """
        self._creations.append(_Creation(operation.get("operationGroupId") or "", created))

    def members_among(self, call: Call, operations: Operations, region: str, found: list[_Instance]) -> list[_Instance]:
        """Return the members among the instances that match.

        Args:
            call: the engine's call, whose last outputs have the members of the state.
            operations: the operations of the fleet's project.
            region: the name of the fleet's region.
            found: the instances that match, as they were just listed.

        Raises:
            ApiError: operations cannot be listed, and so it cannot be told whether an instance is a member.
        """
        self.take_in(item for item in call.last.get("members") or () if item.get("id"))
        creations, self._creations = self._creations, []
        self._groups += [creation.group for creation in creations]
        outside = self._outside(found)
        if self._are_just_created(outside, creations):
            self.take_in(outside)
        elif outside:
            self._read_operations(call, operations, region, outside)
        self.strangers = {str(item["id"]): item for item in self._outside(outside)}
        return [item for item in found if str(item["id"]) in self._members]

    def _outside(self, found: list[_Instance]) -> list[_Instance]:
        return [item for item in found if str(item["id"]) not in self._members]

    def _are_just_created(self, outside: list[_Instance], creations: list[_Creation]) -> bool:
        """Return whether there are exactly as many new instances in each zone as Google says that this run created.

        Returns False once operations have been read in this call.
        """
        if self._has_read_operations or not all(creation.created is not None for creation in creations):
            return False
        created = sum((creation.created or Counter() for creation in creations), Counter[str]())
        return Counter(name_of(item["zone"]) for item in outside) == created

    def _read_operations(self, call: Call, operations: Operations, region: str, outside: list[_Instance]) -> None:
        """Make those instances members that bulk creations of this run, or of interrupted runs, have created."""
        self._has_read_operations = True
        self._take_in_created(call, operations, self._groups, outside)
        new = [item for item in self._outside(outside) if str(item["id"]) not in self.strangers]
        if new:
            self._take_in_created(call, operations, _earlier_groups(call, operations, region, new), new)

    def _take_in_created(
        self, call: Call, operations: Operations, groups: Iterable[str], instances: list[_Instance]
    ) -> None:
        for group in filter(None, groups):
            self.take_in(created_in_group(call, operations, group, self._outside(instances)))


def created_in_group(call: Call, operations: Operations, group: str, instances: list[_Instance]) -> list[_Instance]:
    """Return those instances that the operations of a group have created; raises `ApiError`."""
    zones = sorted({name_of(item["zone"]) for item in instances})
    targets = operations.targets_of_group(call, zones, group)
    return [item for item in instances if str(item["id"]) in targets]


def _earlier_groups(call: Call, operations: Operations, region: str, instances: list[_Instance]) -> list[str]:
    """Return the group IDs of the resource's bulk creations that may have created one of the instances.

    Without a provider's ID, which tells stacks apart, only the last creation of the state is known to be this resource's.
    """
    if not call.provider_id:
        return [call.last.get("operationGroupId") or ""]
    begun = operations.begun_by_requests(call, f"regions/{region}", resource_mark(call))
    fitting = (operation for operation in begun if any(_may_have_created(operation, item) for item in instances))
    return [operation.get("operationGroupId") or "" for operation in fitting]


def _may_have_created(operation: Mapping[str, Any], instance: _Instance) -> bool:
    """Return whether an instance was created while an operation was under way; true if that cannot be told."""
    created, begun = instance.get("creationTimestamp"), operation.get("insertTime")
    if not created or not begun:
        return True
    earliest, ended = moment(begun) - _CLOCK_SKEW, operation.get("endTime")
    return earliest <= moment(created) and (not ended or moment(created) <= moment(ended) + _CLOCK_SKEW)
