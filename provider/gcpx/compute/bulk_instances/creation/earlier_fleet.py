"""The fleet that an interrupted run of the same resource created, under the fleet ID that was generated then."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from gcpx.compute.bulk_instances.fleet import Fleet, region_of
from gcpx.compute.bulk_instances.fleet_id import TRACKING_LABEL
from gcpx.compute.earlier_insertions import EarlierInsertions, orphan_warning
from gcpx.compute.importable_resources import ImportableResources
from gcpx.compute.operation_outcome import Outcome
from gcpx.errors import ProviderError
from gcpx.gcp.list_method import scopes_in
from gcpx.model.call import Call
from gcpx.model.links import name_of


class EarlierFleetError(ProviderError):
    """An interrupted run created the instances, for a fleet with another generated ID.

    Attributes:
        fleet: that fleet.
    """

    code = "ABORTED"

    def __init__(self, fleet: Fleet) -> None:
        super().__init__(f"an interrupted run has created {fleet.resource_id}; run `pulumi up` again to take it over")
        self.fleet = fleet


@attrs.frozen
class BulkCreationGroup:
    """The operations of one bulk creation.

    Attributes:
        id: the ID that they share; empty if Google gave none.
        zones: the names of the zones in which instances were to be created.
    """

    id: str
    zones: list[str]

    @classmethod
    def of(cls, group: str | None, locations: Mapping[str, object]) -> BulkCreationGroup:
        """Take the group from the values of `operationGroupId` and `perLocationStatus`."""
        return cls(group or "", [name_of(name) for name in locations])

    @classmethod
    def of_outcome(cls, outcome: Outcome) -> BulkCreationGroup:
        """Take the group from the end of a bulk creation."""
        return cls.of(outcome.operation.get("operationGroupId"), outcome.per_location)


def earlier_fleet(call: Call, fleet: Fleet, group: BulkCreationGroup) -> Fleet | None:
    """Find the fleet whose instances a bulk creation has created; None if none of them exists any more.

    Raises:
        ApiError: it cannot be determined.
    """
    created = created_ids(call, fleet, group)
    if not created:
        return None
    instances = ImportableResources(
        google=fleet.google,
        project=fleet.project,
        version="beta",
        collection="instances",
        fields="id,zone,labels",
        filter=f"labels.{TRACKING_LABEL}:*",
        needs=scopes_in(fleet.region),
    ).read_all(call)
    found = (item for item in instances if item["id"] in created and region_of(item) == fleet.region)
    first = next(found, None)
    return None if first is None else attrs.evolve(fleet, id=first["labels"][TRACKING_LABEL])


def created_ids(call: Call, fleet: Fleet, group: BulkCreationGroup) -> set[str]:
    """Return the IDs of the instances that a bulk creation has created, from their operations; raises `ApiError`."""
    return fleet.operations.targets_of_group(call, group.zones if group.id else (), group.id)


def raise_if_earlier(call: Call, fleet: Fleet, group: BulkCreationGroup) -> None:
    """Raise EarlierFleetError if an interrupted run made a bulk creation, and not this run for this fleet.

    Raises the same as `earlier_fleet`, too.
    """
    earlier = None if fleet.members(call) else earlier_fleet(call, fleet, group)
    if earlier is not None and earlier.id != fleet.id:
        raise EarlierFleetError(earlier)


def warn_of_earlier_fleets(call: Call, fleet: Fleet, insertions: EarlierInsertions) -> None:
    """Warn of fleets with other generated IDs that interrupted runs of the resource created and that no state has."""
    if not call.autonamed or not call.provider_id:
        return
    known = {fleet.resource_id, *call.shown}
    for operation in insertions.of_resource(call, fleet.operations, f"regions/{fleet.region}"):
        try:
            outcome = Outcome.of("bulk insert", operation)
            earlier = earlier_fleet(call, fleet, BulkCreationGroup.of_outcome(outcome))
        except ProviderError:
            continue
        if earlier is None or call.urn_of(earlier.resource_id) is not None:
            continue
        if not {earlier.resource_id, earlier.id} & known:
            known.add(earlier.resource_id)
            call.warn(orphan_warning(call, earlier.resource_id, _deletion(earlier)))


def _deletion(fleet: Fleet) -> str:
    listed = (
        f"gcloud compute instances list --project={fleet.project} --filter=labels.{TRACKING_LABEL}={fleet.id} --uri"
    )
    return f"{listed} | xargs gcloud compute instances delete --quiet"
