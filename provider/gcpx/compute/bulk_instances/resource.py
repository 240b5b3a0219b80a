"""BulkInstances: a fleet of instances that is created in one call and scaled in place.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`, and the methods of `instances`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute.bulk_instances.bulk_insert import describe_progress
from gcpx.compute.bulk_instances.creation.created_members import members_after
from gcpx.compute.bulk_instances.creation.earlier_fleet import EarlierFleetError, earlier_fleet, warn_of_earlier_fleets
from gcpx.compute.bulk_instances.creation.fallback_rules import fallback_zones_are_in_the_region
from gcpx.compute.bulk_instances.creation.instances import create_instances, created_earlier
from gcpx.compute.bulk_instances.creation.wanted import Wanted
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel, BulkInstancesQuery
from gcpx.compute.bulk_instances.fleet import TIMEOUT, Fleet, Instance, region_of
from gcpx.compute.bulk_instances.fleet_id import FLEET_ID, GENERATION_LABEL, TRACKING_LABEL, is_tracked
from gcpx.compute.bulk_instances.imported_inputs import imported_inputs
from gcpx.compute.bulk_instances.names import explained_refusal, have_too_few_names
from gcpx.compute.bulk_instances.online_checks import fleet_checks
from gcpx.compute.bulk_instances.outputs import imported_fleet, last_creation_outputs, live_fleet, unread_fleet
from gcpx.compute.bulk_instances.region_zones import RegionZones
from gcpx.compute.bulk_instances.rollout.generation import creation_generation, generation_label, generation_output
from gcpx.compute.bulk_instances.rollout.last_update import after_last_update
from gcpx.compute.bulk_instances.rollout.outputs import kept_outputs, unfinished_rollout
from gcpx.compute.bulk_instances.rollout.policy import is_rolling
from gcpx.compute.bulk_instances.rollout.preview import announce
from gcpx.compute.bulk_instances.rollout.update import FleetUpdate
from gcpx.compute.bulk_instances.shortfall import report_shortfall
from gcpx.compute.bulk_instances.size import FleetSize, is_parked
from gcpx.compute.bulk_instances.source_template_rules import regional_template_is_in_the_region
from gcpx.compute.bulk_instances.strangers import name_new_members, naming_strangers, what_matches
from gcpx.compute.earlier_insertions import EarlierInsertions
from gcpx.compute.importable_resources import ImportableResources
from gcpx.compute.lost_responses import wait_for_insertions
from gcpx.compute.operation_outcome import Outcome, created_instances
from gcpx.compute.operations import Wait
from gcpx.errors import ProviderError
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.in_project import InProject
from gcpx.gcp.list_method import any_scope, scopes_in
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.gcp.place_defaults import missing_place, place_or_default
from gcpx.model.call import Call
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import Location, name_of, path_of
from gcpx.model.naming import AUTONAMED, UNREAD, Autoname
from gcpx.model.resource import InvalidId, ListedResource, Live, Page, PartialError
from gcpx.model.rules import Violation, text
from gcpx.model.values import Path

_ID: Final = re.compile(
    r"projects/(?P<project>[^/]+)/regions/(?P<region>[^/]+)/"
    r"(?:bulkInstances/(?P<tracked>[^/]+)|(?P<found_by>labels/[^/]+=[^/]*|namePattern/[^/]+))"
)
_ROLLED: Final = frozenset({"instanceProperties", "instanceFlexibilityPolicy", "sourceInstanceTemplate"})
"""The inputs whose changes reach the members in batches, if the update policy is ROLLING."""


class FleetIdTakenError(ProviderError):
    """The fleet ID of a new fleet matches instances that the resource did not create."""

    code = "ALREADY_EXISTS"

    def __init__(self, fleet: Fleet, reason: str, advice: str) -> None:
        super().__init__(f"fleetId: must match no existing instance in {fleet.region}: {reason}. {advice}")


class BulkInstances(InProject):
    """Fleets by tracking label, by another label, or by name pattern."""

    token = "gcpx:compute:BulkInstances"
    model = BulkInstancesModel
    query = BulkInstancesQuery
    autoname = Autoname(property="fleetId", pattern=FLEET_ID[0], max_length=63)
    in_place = frozenset(
        {("count",), ("minCount",), ("perInstanceProperties",), ("locationPolicy",), ("onStopped",), ("updatePolicy",)}
        | {("fallbacks",), ("placement",)}
        | {("instanceProperties", name) for name in ("labels", "tags", "metadata")}
    )
    id_forms = (
        "projects/PROJECT/regions/REGION/bulkInstances/FLEET",
        "projects/PROJECT/regions/REGION/namePattern/PATTERN",
        "projects/PROJECT/regions/REGION/labels/KEY=VALUE",
    )
    operation_timeout = TIMEOUT

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        super().__init__(google, lookups)
        self._creating: dict[str, str] = {}
        """The resource IDs of the fleets that are being created, with the URNs of their resources."""
        self._zones = RegionZones()
        self._earlier = EarlierInsertions(self.token)

    def problems(self, inputs: dict[str, Any]) -> list[Violation]:
        """Require a project and a region; with the provider's region, check the template's too."""
        failures, region = super().problems(inputs), place_or_default(self._google.settings, "region", inputs)
        if not region:
            return [*failures, missing_place("region")]
        if inputs.get("region"):
            return failures
        placed = {**inputs, "region": region}
        return failures + regional_template_is_in_the_region(placed) + fallback_zones_are_in_the_region(placed)

    def provider_defaults(self) -> dict[str, Any]:
        """Return the provider's project and region, which an import leaves out."""
        region = self._google.settings.region
        return {**super().provider_defaults(), "region": name_of(region) if region else None}

    def location(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Location:
        """Complete short names with the fleet's project and region."""
        return Location.of(inputs, outputs, project=self._google.settings.project, region=self._google.settings.region)

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Violation]:
        """Check that what the inputs name exists, and that the region's quotas allow the instances to create."""
        location = self.location(inputs, {})
        checks = OnlineChecks(self._lookups, call, location.project, location.region)
        return checks.run(inputs, fleet_checks(checks, olds, inputs))

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return the region and the explicit fleet ID; fleets of named instances share one, as names may be in use."""
        if inputs.get("perInstanceProperties"):
            return ()
        return None if inputs.get(AUTONAMED) else (name_of(text(inputs, "region")), inputs.get("fleetId"))

    def must_delete_first(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Also delete the old fleet first if one would find the members of the other, or if there are too few names for both."""
        same_id = not new.get(AUTONAMED) and new.get("fleetId") == old.get("fleetId")
        both_by_tracking_label = "/" not in f"{old.get('fleetId')}{new.get('fleetId')}"
        cannot_coexist = same_id or not both_by_tracking_label or have_too_few_names(old, new)
        return cannot_coexist or super().must_delete_first(old, new)

    def changes_in_place(self, path: Path, inputs: dict[str, Any]) -> bool:
        """Also change the properties of instances in place, if the update policy is ROLLING."""
        return super().changes_in_place(path, inputs) or (is_rolling(inputs) and path[0] in _ROLLED)

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Predict project and region."""
        return {name: inputs.get(name) or default for name, default in self.provider_defaults().items()}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Create all instances; none for a parked fleet. Take over those that an interrupted run has created."""
        try:
            return self._create(call, self._fleet(inputs), inputs)
        except EarlierFleetError as error:
            return self._create(call, error.fleet, {**inputs, "fleetId": error.fleet.id})

    def _create(self, call: Call, fleet: Fleet, inputs: dict[str, Any]) -> Live:
        size, names = FleetSize.of(inputs), list(inputs.get("perInstanceProperties") or {})
        generation = creation_generation(call, fleet, inputs)
        wanted = Wanted(count=size.wanted, names=names, labels=generation_label(generation))
        with self._reserve(call, fleet):
            adopted = self._has_own_instances(call, fleet, inputs, wanted)
            if is_parked(inputs):
                return live_fleet(call, fleet, [], inputs, generation_output(generation))
            wanted = attrs.evolve(wanted, begun=adopted)
            with naming_strangers(call, fleet):
                return attrs.evolve(self._grow(call, fleet, inputs, wanted), adopted=adopted)

    def settle(self, call: Call, resource_id: str) -> None:
        """Wait for what interrupted creations and updates are still creating."""
        known = {item.get("id") for item in call.last.get("members") or ()}

        def is_shown(outcome: Outcome) -> bool:
            fleet = self._parse(resource_id)
            fleet.look_in(outcome.per_location)
            new = [member for member in fleet.members(call) if str(member["id"]) not in known]
            return len(new) >= created_instances(outcome.per_location).total()

        fleet, wait = self._parse(resource_id), Wait("bulk insert", TIMEOUT, describe_progress)
        wait_for_insertions(call, fleet.operations, f"regions/{fleet.region}", wait, is_shown)

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Read the fleet from its members; None if it has none, unless it is parked.

        An import takes in everything that matches the ID, and describes it as inputs, too.
        """
        fleet = self._parse(resource_id)
        with naming_strangers(call, fleet):
            members = self._members_read(call, fleet, is_import=inputs is None)
        if not members and not is_parked(inputs or {}):
            return None
        if inputs is None:
            return imported_fleet(call, fleet, members, imported_inputs(call, fleet, members))
        known = {**last_creation_outputs(call.last), **kept_outputs(call.last, inputs, members)}
        live, unfinished = (
            live_fleet(call, fleet, members, inputs, known),
            unfinished_rollout(call.last, inputs, members),
        )
        if unfinished:
            raise PartialError(live, unfinished)
        return live

    def announce_update(self, call: Call, old: dict[str, Any], new: dict[str, Any]) -> None:
        """Say what an update does, and to which members."""
        announce(*after_last_update(call, old, new), new)

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Delete surplus members, start or replace stopped ones, change those that are behind, create missing ones."""
        call, old = after_last_update(call, old, new)
        fleet = self._parse(resource_id)
        with naming_strangers(call, fleet):
            return FleetUpdate(call, fleet, old, new).run()

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete every member."""
        fleet = self._parse(resource_id)
        with naming_strangers(call, fleet):
            fleet.delete(call, fleet.members(call))

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List the fleets that gcpx created, by the label of their instances; on one page, because fleets span pages."""
        del token, size
        project, wanted = self._project(query), name_of(query.get("region") or "")
        instances = ImportableResources(
            google=self._google,
            project=project,
            version="beta",
            collection="instances",
            fields="zone,labels",
            filter=f"labels.{TRACKING_LABEL}:*",
            needs=scopes_in(wanted) if wanted else any_scope,
        ).read_all(call)
        fleets = dict.fromkeys((region_of(instance), instance["labels"][TRACKING_LABEL]) for instance in instances)
        return Page([
            ListedResource(Fleet(self._google, project, region, fleet_id).resource_id, fleet_id)
            for region, fleet_id in fleets
            if wanted in {"", region}
        ])  # fmt: skip

    def _members_read(self, call: Call, fleet: Fleet, *, is_import: bool) -> list[Instance]:
        """List the members; an import adds what matches, and so does a refresh of a fleet whose ID is a label or a pattern.

        Not after a creation or an update whose result was not read: that is to be finished first.
        """
        if not is_import and (is_tracked(fleet.id) or call.last.get(UNREAD)):
            return fleet.members(call)
        found = fleet.matching(call)
        name_new_members(call, fleet, found)
        return found

    @contextmanager
    def _reserve(self, call: Call, fleet: Fleet) -> Iterator[None]:
        """Reserve the ID of a fleet while it is being created; refuse one that another resource has reserved."""
        if self._creating.setdefault(fleet.resource_id, call.urn) != call.urn:
            words = "another resource is creating instances that match it"
            raise FleetIdTakenError(fleet, words, "Choose another ID")
        try:
            yield
        finally:
            self._creating.pop(fleet.resource_id, None)

    def _has_own_instances(self, call: Call, fleet: Fleet, inputs: dict[str, Any], wanted: Wanted) -> bool:
        """Return whether an earlier run whose response was lost created instances; refuse those of anyone else."""
        found = fleet.matching(call)
        if not found:
            return False
        own = created_earlier(call, fleet, inputs, wanted, found)
        fleet.membership.take_in(own)
        if not own or len(found) > wanted.count or fleet.members_among(call, found) != found:
            raise FleetIdTakenError(
                fleet, what_matches(found, own), how_to_manage(call, fleet.resource_id, "choose another ID")
            )
        return True

    def _grow(self, call: Call, fleet: Fleet, inputs: dict[str, Any], wanted: Wanted) -> Live:
        """Create the instances of a new fleet, and read it back."""
        unread = partial(unread_fleet, fleet, inputs, call.last)
        with keeping_state(unread) as progress:
            creation = create_instances(call, fleet, inputs, [], wanted)
            if creation.refusal is not None:
                warn_of_earlier_fleets(call, fleet, self._earlier)
                raise explained_refusal(call, fleet, inputs, wanted.count, creation.refusal)
            progress.created(creation.last_operation, outcome=creation.error or "it was created")
            members = fleet.members(call)
            may_be_elsewhere = creation.created and not members and call.autonamed
            earlier = earlier_fleet(call, fleet, creation.group) if may_be_elsewhere else None
        if earlier is not None and earlier.id != fleet.id:
            raise EarlierFleetError(earlier)
        warn_of_earlier_fleets(call, fleet, self._earlier)
        with keeping_state(unread) as progress:
            progress.created(creation.last_operation, outcome=creation.error or "it was created")
            if len(members) < creation.created:
                members = members_after(call, fleet, [], creation.created, creation.outcomes)
            creation = creation.completed() if len(members) >= wanted.count else creation
            outputs = {**creation.outputs, **generation_output(wanted.labels.get(GENERATION_LABEL, ""))}
            live = live_fleet(call, fleet, members, inputs, outputs)
        report_shortfall(call, inputs, live, creation)
        return live

    def _fleet(self, inputs: dict[str, Any]) -> Fleet:
        region = place_or_default(self._google.settings, "region", inputs)
        return Fleet(self._google, self._project(inputs) or "", name_of(region or ""), inputs["fleetId"], self._zones)

    def _parse(self, resource_id: str) -> Fleet:
        found = _ID.fullmatch(path_of(resource_id))
        fleet_id = (found["tracked"] or found["found_by"]) if found else ""
        if found is None or not FLEET_ID[0].fullmatch(fleet_id):
            raise InvalidId(self.token, resource_id, self.id_forms)
        fleet_id = fleet_id.removeprefix(f"labels/{TRACKING_LABEL}=")
        return Fleet(self._google, found["project"], found["region"], fleet_id, self._zones)
