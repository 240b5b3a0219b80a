"""BulkInstances: a fleet of instances that is created in one call and scaled in place.

Source: Compute Engine REST reference, `regionInstances.bulkInsert`, and the methods of `instances`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import attrs

from gcpx.compute.bulk_instances.capacity import FleetSize, have_too_few_names, is_parked
from gcpx.compute.bulk_instances.changes import Goal, after_last_update, merged_properties
from gcpx.compute.bulk_instances.creation import (
    Creation,
    Demand,
    EarlierFleetError,
    create_instances,
    created_earlier,
    describe_progress,
    earlier_fleet,
    report_shortfall,
    warn_of_earlier_fleets,
)
from gcpx.compute.bulk_instances.declaration import BulkInstancesModel, BulkInstancesQuery
from gcpx.compute.bulk_instances.fleet import (
    TIMEOUT,
    Fleet,
    RegionZones,
    matching,
    naming_unmanaged,
    region_of,
    what_matches,
    without_deleted,
)
from gcpx.compute.bulk_instances.member import (
    CHANGED_IN_PLACE,
    FLEET_ID,
    GENERATION_LABEL,
    TRACKING_LABEL,
    Instance,
    fleet_values,
    generation_of,
    ignored_settings,
    is_tracked,
    membership_labels,
)
from gcpx.compute.bulk_instances.online import fleet_checks
from gcpx.compute.bulk_instances.outputs import (
    CREATION_OUTPUTS,
    accepted_size,
    describe_images,
    describe_own,
    imported_fleet,
    imported_inputs,
    kept_outputs,
    live_fleet,
    own_settings,
    unfinished_rollout,
    unread_fleet,
)
from gcpx.compute.bulk_instances.plan import PendingAction, Policy
from gcpx.compute.bulk_instances.preview import (
    announce,
    announce_creation,
    describe_drift,
    describe_lost,
    describe_new,
    read_templates,
    will_set_back,
)
from gcpx.compute.bulk_instances.rules import (
    fallback_zones_are_in_the_region,
    regional_template_is_in_the_region,
    zones_are_in_the_region,
)
from gcpx.compute.bulk_instances.update import FleetUpdate, ReadinessWatch
from gcpx.compute.insertion import EarlierInsertions, taken_over, wait_for_insertions
from gcpx.compute.listing import ImportableResources
from gcpx.compute.operations import Outcome, Wait, created_instances
from gcpx.errors import ProviderError, safe_message, without_stop
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.creation import keeping_state
from gcpx.gcp.in_project import InProject, Lookups, missing_place, place_or_default
from gcpx.gcp.list_method import any_scope, scopes_in
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.model.context import Context
from gcpx.model.fields import Failure, chosen, nested, text
from gcpx.model.import_command import how_to_manage
from gcpx.model.links import Location, name_of, path_of
from gcpx.model.naming import AUTONAMED, UNREAD, Autoname
from gcpx.model.resource import Announcing, Growing, InvalidId, ListedResource, Page, PartialError, State
from gcpx.model.values import Path, has_unknown
from gcpx.model.words import counted, names_in_words

if TYPE_CHECKING:
    from gcpx.compute.value_types import BulkInstancesQueryValues, BulkInstancesValues


_BEING_MADE: Final = frozenset({"PROVISIONING", "STAGING"})
"""The statuses of a member while its creation may be going on."""


def _known_members(context: Context) -> set[str | None]:
    """Return the IDs of the members in the state, without the ones that may still have been under creation."""
    members = fleet_values(context.prior).get("members") or ()
    return {item.get("id") for item in members if item.get("status") not in _BEING_MADE}


_ID: Final = re.compile(
    r"projects/(?P<project>[^/]+)/regions/(?P<region>[^/]+)/"
    r"(?:bulkInstances/(?P<tracked>[^/]+)|(?P<found_by>labels/[^/]+=[^/]*|namePattern/[^/]+))"
)
_SET_BACK: Final[Path] = ("members",)
"""The output that shows in a diff if what somebody has changed on members is set back."""
_OF_MEMBERS: Final[frozenset[Path]] = frozenset(
    {("instanceProperties",), ("instanceFlexibilityPolicy",), ("sourceInstanceTemplate",), _SET_BACK}
)
"""Changes at these paths reach the members in batches."""
_OF_FLEETS: Final[frozenset[Path]] = frozenset(
    {("count",), ("minCount",), ("perInstanceProperties",), ("locationPolicy",), ("onStopped",), ("updatePolicy",)}
    | {("fallbacks",), ("maxDeleted",), ("placement",), ("rollingAction",)}
)


class FleetIdTakenError(ProviderError):
    """The fleet ID of a new fleet matches instances that the resource did not create."""

    code = "ALREADY_EXISTS"

    def __init__(self, fleet: Fleet, reason: str, advice: str) -> None:
        super().__init__(f"fleetId: must match no existing instance in {fleet.region}: {reason}.\n{advice}")


class SmallerFleetError(ProviderError):
    """A new fleet is smaller than the one that it should replace."""

    code = "ABORTED"

    def __init__(self, created: int, there: int, explanation: str) -> None:
        they, ones = ("it", "one was") if created == 1 else ("they", "ones were")
        super().__init__(
            f"{counted(created, 'instance')} could be created, but the fleet that {they} should replace has {there:,}; it "
            f"stays, and the new {ones} deleted. Run `pulumi up` to try again, or lower count to {created:,}"
            f"{f':{chr(10)}{explanation}' if explanation else ''}"
        )


class BulkInstances(InProject, Growing, Announcing):
    """Fleets by tracking label, by another label, or by name pattern."""

    token = "gcpx:compute:BulkInstances"
    model = BulkInstancesModel
    query = BulkInstancesQuery
    autoname = Autoname(property="fleetId", max_length=63)
    in_place = _OF_FLEETS | _OF_MEMBERS
    compared = _OF_FLEETS | {
        ("instanceProperties", name) for name in ("labels", "machineType", "metadata", "serviceAccounts", "tags")
    }
    compared_if_given = CHANGED_IN_PLACE
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
        self._earlier = EarlierInsertions()

    def failures(self, inputs: dict[str, Any]) -> list[Failure]:
        """Require a project and a region; with the provider's region, check the template's too."""
        places = {name: place_or_default(self._google.settings, name, inputs) for name in ("project", "region")}
        failures = [missing_place(name) for name, place in places.items() if not place]
        if inputs.get("region") or not places["region"]:
            return failures
        placed: BulkInstancesValues = {**fleet_values(inputs), "region": places["region"]}
        of_region = (regional_template_is_in_the_region, fallback_zones_are_in_the_region, zones_are_in_the_region)
        return failures + [failure for find in of_region for failure in find(placed)]

    def creation_failures(self, inputs: dict[str, Any]) -> list[Failure]:
        """Refuse the IDs of imported fleets: they match existing instances; a new fleet only has what it creates."""
        fleet_id = text(fleet_values(inputs), "fleetId")
        if is_tracked(fleet_id):
            return []
        form = "labels/KEY=VALUE" if membership_labels(fleet_id) else "namePattern/PATTERN"
        words = (
            "must be a label value, such as crew, or be left out, because only imported fleets have an ID of this form; to "
            f"manage instances that exist, import them with `pulumi import {self.token} NAME "
            f"projects/PROJECT/regions/REGION/{form}`"
        )
        return [Failure("fleetId", words)]

    def provider_defaults(self) -> dict[str, Any]:
        """Return the provider's project and region, which an import leaves out."""
        region = self._google.settings.region
        return {**super().provider_defaults(), "region": name_of(region) if region else None}

    def location(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Location:
        """Complete short names with the fleet's project and region."""
        return Location.of(inputs, outputs, project=self._google.settings.project, region=self._google.settings.region)

    def check_online(self, context: Context, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Check that the things that the inputs name exist, and that the region's quotas allow the new instances."""
        location = self.location(inputs, {})
        checks = OnlineChecks(self._lookups, context, location.project, location.region)
        return checks.run(inputs, fleet_checks(checks, fleet_values(olds), fleet_values(inputs)))

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return the region and the explicit fleet ID; fleets of named instances share one, as names may be in use."""
        values = fleet_values(inputs)
        if values.get("perInstanceProperties"):
            return ()
        return None if inputs.get(AUTONAMED) is True else (name_of(text(values, "region")), values.get("fleetId"))

    def must_delete_first(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Also delete the old fleet first if both have the same ID, or if there are too few names for both."""
        return bool(self._conflict(old, new)) or super().must_delete_first(old, new)

    def deleted_first(self, old: dict[str, Any], new: dict[str, Any], outputs: dict[str, Any]) -> str:
        """Name the members that are deleted before new ones are created, and say why."""
        names = fleet_values(outputs).get("memberNames") or []
        what = counted(len(names), "member is", "members are")
        why = self._conflict(old, new) or "the new ones may have the same names"
        return f"{what} deleted before new ones are created, because {why}: {names_in_words(names)}" if names else ""

    @staticmethod
    def _conflict(old: dict[str, Any], new: dict[str, Any]) -> str:
        """Say why a fleet and its replacement cannot exist at the same time; empty if they can."""
        former, later = fleet_values(old), fleet_values(new)
        if have_too_few_names(former, later):
            return "namePattern has too few names for both fleets"
        is_same = new.get(AUTONAMED) is not True and later.get("fleetId") == former.get("fleetId")
        return "both fleets have the same fleetId" if is_same else ""

    def ignoring(self, outputs: dict[str, Any], paths: Collection[Path]) -> dict[str, Any]:
        """Leave out settings that others have changed on members, and that the user ignores (`ignoreChanges`)."""
        ignored = ignored_settings(paths)
        if not ignored or not isinstance(outputs.get("members"), list):
            return outputs
        members = [
            {**item, "differs": [name for name in item["differs"] if name not in ignored]}
            if isinstance(item, dict) and item.get("differs")
            else item
            for item in outputs["members"]
        ]
        return {**outputs, "members": members}

    def left_over(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> list[Path]:
        """Enforce the settings of members that a refresh has found changed, and that an update sets back."""
        values = fleet_values(inputs)
        if is_parked(values) or has_unknown({name: values.get(name) for name in ("count", "perInstanceProperties")}):
            return []
        return [_SET_BACK] if will_set_back(values, fleet_values(outputs)) else []

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Predict project and region."""
        return {name: inputs.get(name) or default for name, default in self.provider_defaults().items()}

    def create(self, context: Context, inputs: dict[str, Any]) -> State:
        """Create all instances; none for a parked fleet. Take over instances that an interrupted run has created."""
        values, fleet = fleet_values(inputs), self._fleet(inputs)
        try:
            return self._create(context, fleet, values)
        except EarlierFleetError as error:
            context.inform(taken_over(error.fleet.resource_id, error.operation))
            return self._create(context, error.fleet, {**values, "fleetId": error.fleet.id})

    def _create(self, context: Context, fleet: Fleet, inputs: BulkInstancesValues) -> State:
        size, names = FleetSize.of(inputs), list(inputs.get("perInstanceProperties") or {})
        properties, action = merged_properties(context, fleet, inputs), PendingAction.of(inputs, {})
        first: BulkInstancesValues = {  # the outputs that its first update needs
            "generation": generation_of(properties),
            "lastMachineType": name_of(properties.get("machineType") or ""),
            **action.outputs({}, []),  # new members do not need it
        }
        labels = {GENERATION_LABEL: first["generation"], **action.labels}
        demand = Demand(count=size.wanted, names=names, labels=labels)
        with self._reserve(context, fleet):
            adopted = self._has_own_instances(context, fleet, inputs, demand)
            if is_parked(inputs):
                return live_fleet(context, fleet, [], inputs, first)
            demand = attrs.evolve(demand, resumed=adopted)
            unread = partial(unread_fleet, fleet, inputs, fleet_values(context.prior))
            with naming_unmanaged(context, fleet), keeping_state(context, unread):
                return attrs.evolve(self._grow(context, fleet, inputs, demand, first), adopted=adopted)

    def settle(self, context: Context, resource_id: str) -> None:
        """Wait for instances that interrupted creations and updates are still creating."""
        known = _known_members(context)

        def is_shown(outcome: Outcome) -> bool:
            fleet = self._parse(resource_id)
            fleet.zones.add(fleet.project, fleet.region, outcome.per_location)
            new = [member for member in fleet.members(context) if str(member["id"]) not in known]
            return len(new) >= created_instances(outcome.per_location).total()

        fleet, wait = self._parse(resource_id), Wait("bulk insert", TIMEOUT, describe_progress)
        wait_for_insertions(context, fleet.operations, f"regions/{fleet.region}", wait, is_shown)

    def read(self, context: Context, resource_id: str, inputs: dict[str, Any] | None) -> State | None:
        """Read the fleet from its members; None if an import, or a creation that was never read, has none.

        An import takes in everything that matches the ID, and describes it as inputs, too.
        """
        fleet = self._parse(resource_id)
        with naming_unmanaged(context, fleet):
            members = fleet.matching(context) if inputs is None else self._settled_members(context, fleet)
        values, prior = fleet_values(inputs or {}), fleet_values(context.prior)
        if not members and (inputs is None or not ("memberCount" in prior or is_parked(values))):
            return None
        if inputs is None:
            return self._imported(context, fleet, members)
        goal = Goal.reached(fleet, values, prior)
        differs = goal.drift(members)
        known: BulkInstancesValues = {**chosen(prior, CREATION_OUTPUTS), **kept_outputs(prior, goal, members)}
        state = live_fleet(context, fleet, members, values, known, differs)
        if self._google.settings.validate_online and not context.prior.get(UNREAD):  # each `pulumi up` reads first
            state = attrs.evolve(state, properties={**state.properties, **accepted_size(prior, values, members)})
        lost, drift = describe_lost(prior, members), describe_drift(values, fleet_values(state.properties))
        if lost and not members:
            context.warn(f"{lost}; the fleet stays in the state, and `pulumi up` creates its members again")
        elif lost:
            context.inform(lost)
        if drift:
            context.warn(drift)
        unfinished = unfinished_rollout(prior, goal, members)
        if unfinished:
            raise PartialError(state, unfinished)
        return state

    def _settled_members(self, context: Context, fleet: Fleet) -> list[Instance]:
        """List the members, if a killed run has begun to create some, only when it creates no more of them.

        It could not report that it was interrupted, but members that are new show it. A fleet that is unfinished by the
        state has been settled before.
        """
        members, known = fleet.members(context), _known_members(context)
        if context.prior.get(UNREAD) or all(str(member["id"]) in known for member in members):
            return members
        self.settle(context, fleet.resource_id)
        return fleet.members(context)

    def _imported(self, context: Context, fleet: Fleet, members: list[Instance]) -> State:
        """Describe an import, and say what it cannot describe by one set of properties."""
        inputs = imported_inputs(context, fleet, members)
        state = imported_fleet(context, fleet, members, inputs, own_settings(inputs, members))
        for words in (describe_own(fleet_values(state.properties)), describe_images(context, fleet, members)):
            if words:
                context.warn(words)
        return state

    def reminder(self, outputs: dict[str, Any]) -> str:
        """Say which members have differed since an import, until the first update."""
        return describe_own(fleet_values(outputs))

    def announce_creation(self, context: Context, inputs: dict[str, Any]) -> None:
        """Say how many instances a creation makes, by how many requests, and with which names."""
        announce_creation(context, fleet_values(inputs))

    def announce_update(self, context: Context, old: dict[str, Any], new: dict[str, Any]) -> Collection[str]:
        """Say what an update does, and to which members."""
        before, values = fleet_values(old), fleet_values(new)
        context, last = after_last_update(context, before, values)
        lookups = self._lookups if self._google.settings.validate_online else None
        project = self.location(new, {}).project
        templates = read_templates(lookups, context, project, last, values) if lookups and project else {}
        return announce(context, last, values, templates, before)

    def update(self, context: Context, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> State:
        """Delete surplus members, start or replace stopped ones, change outdated ones, create missing ones."""
        fleet, before, values = self._parse(resource_id), fleet_values(old), fleet_values(new)
        context, last = after_last_update(context, before, values)
        with naming_unmanaged(context, fleet):
            # A killed run could not report what it began to create, and lists may not show any of it yet.
            self.settle(context, resource_id)
            state = FleetUpdate(context, fleet, last, values, before).run(fleet.members(context))
        if new_members := describe_new(fleet_values(context.prior), fleet_values(state.properties)):
            context.inform(new_members)
        return state

    def delete(self, context: Context, resource_id: str) -> None:
        """Delete every member."""
        fleet = self._parse(resource_id)
        with naming_unmanaged(context, fleet):
            fleet.delete(context, fleet.members(context))

    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List the fleets that gcpx created, by the label of their instances; on one page, because fleets span pages."""
        del token, size
        project, wanted = self._project(query), name_of(cast("BulkInstancesQueryValues", query).get("region") or "")
        instances = ImportableResources(
            google=self._google,
            project=project,
            version="beta",
            collection="instances",
            fields="zone,labels",
            filter=f"labels.{TRACKING_LABEL}:*",
            needs=scopes_in(wanted) if wanted else any_scope,
        ).read_all(context)
        fleets = dict.fromkeys((region_of(instance), instance["labels"][TRACKING_LABEL]) for instance in instances)
        return Page([
            ListedResource(Fleet(self._google, project, region, fleet_id).resource_id, fleet_id)
            for region, fleet_id in fleets
            if wanted in {"", region}
        ])  # fmt: skip

    @contextmanager
    def _reserve(self, context: Context, fleet: Fleet) -> Iterator[None]:
        """Reserve the ID of a fleet while it is being created; refuse one that another resource has reserved."""
        if self._creating.setdefault(fleet.resource_id, context.urn) != context.urn:
            words = "another resource is creating instances that match it"
            raise FleetIdTakenError(fleet, words, "Choose another ID")
        try:
            yield
        finally:
            self._creating.pop(fleet.resource_id, None)

    def _has_own_instances(self, context: Context, fleet: Fleet, inputs: BulkInstancesValues, demand: Demand) -> bool:
        """Return whether an earlier run created instances before its response was lost; refuse instances of others."""
        found = fleet.matching(context)
        own = created_earlier(context, fleet, inputs, demand, found) if found and not context.is_blocked else []
        there = without_deleted(context, fleet.operations, own)
        if len(there) < len(own):
            gone = {item["id"] for item in own} - {item["id"] for item in there}
            own, found = there, [item for item in found if item["id"] not in gone]
        if not found:
            return False
        membership = fleet.membership
        membership.take_in(own)
        if not own or len(found) > demand.count or membership.members_among(context, fleet, found) != found:
            taken = matching(found) if context.is_blocked else what_matches(found, own)
            advice = how_to_manage(context, fleet.resource_id, "choose another ID")
            raise FleetIdTakenError(fleet, taken, advice)
        return True

    def _grow(
        self, context: Context, fleet: Fleet, inputs: BulkInstancesValues, demand: Demand, first: BulkInstancesValues
    ) -> State:
        """Create the instances of a new fleet, and read it back; `first` are outputs that its first update needs."""
        unread = partial(unread_fleet, fleet, inputs, fleet_values(context.prior))
        with keeping_state(context, unread) as progress:
            creation = create_instances(context, fleet, inputs, [], demand)
            if creation.refusal is not None:
                warn_of_earlier_fleets(context, fleet)
                raise creation.refusal
            progress.created(creation.last_operation, outcome=creation.error or "it was created")
            members = fleet.members(context)
            may_be_elsewhere = creation.created and not members and context.autonamed
            last = creation.outcomes[-1:] if may_be_elsewhere else []
            earlier = next((earlier_fleet(context, fleet, outcome) for outcome in last), None)
        if earlier is not None and earlier.id != fleet.id:
            raise EarlierFleetError(earlier, creation.last_operation)
        warn_of_earlier_fleets(context, fleet)
        with keeping_state(context, unread) as progress:
            progress.created(creation.last_operation, outcome=creation.error or "it was created")
            if len(members) < creation.created:
                members = creation.list_members()
            if len(members) >= demand.count:
                creation.complete()
            outputs: BulkInstancesValues = {**creation.outputs, **first}
            state = live_fleet(context, fleet, members, inputs, outputs)
        if 0 < len(members) < demand.count:
            self._keep_larger(context, fleet, members, state, creation)
        report_shortfall(context, inputs, state, creation)
        if nested(nested(inputs, "updatePolicy"), "ready"):
            try:
                started = ReadinessWatch(context, fleet, Policy.of(inputs)).wait(members)
            except ProviderError as error:
                made = f"{counted(len(members), 'instance was', 'instances were')} created"
                words = f"{made}, but {without_stop(safe_message(error))}; run `pulumi up` to wait for them again"
                raise PartialError(state, words) from error
            state = state if started == members else live_fleet(context, fleet, started, inputs, outputs)
        return state

    def _keep_larger(
        self, context: Context, fleet: Fleet, members: list[Instance], state: State, creation: Creation
    ) -> None:
        """Refuse a new fleet that is smaller than the one that it replaces, and delete it again; `state` describes it.

        Raises:
            SmallerFleetError: the new fleet is deleted.
            PartialError: it is not known how large the other one is, or the new one could not be deleted.
        """
        known = context.replaces.known if context.replaces is not None else frozenset()
        others = [self._parse(item) for item in sorted(known) if _ID.fullmatch(item) and item != fleet.resource_id]
        try:
            own = {member["id"] for member in members}
            found = [item for other in others for item in other.matching(context) if item["id"] not in own]
            there = sum(context.is_replaced(str(item["id"])) for item in found)
            if there > len(members):
                fleet.delete(context, members)
        except ProviderError as error:
            raise PartialError(state, str(error)) from error
        if there > len(members):
            raise SmallerFleetError(len(members), there, creation.explanation)

    def _fleet(self, inputs: dict[str, Any]) -> Fleet:
        region = place_or_default(self._google.settings, "region", inputs)
        return Fleet(
            self._google,
            self._project(inputs) or "",
            name_of(region or ""),
            fleet_values(inputs)["fleetId"],
            self._zones,
            self._earlier,
        )

    def _parse(self, resource_id: str) -> Fleet:
        found = _ID.fullmatch(path_of(resource_id))
        fleet_id = (found["tracked"] or found["found_by"]) if found else ""
        if found is None or not FLEET_ID.pattern.fullmatch(fleet_id):
            raise InvalidId(self.token, resource_id, self.id_forms)
        fleet_id = fleet_id.removeprefix(f"labels/{TRACKING_LABEL}=")
        return Fleet(self._google, found["project"], found["region"], fleet_id, self._zones, self._earlier)
