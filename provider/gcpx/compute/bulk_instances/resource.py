"""BulkInstances: a fleet of instances made in one call and scaled in place.

Source: Compute API, `regionInstances.bulkInsert`, and the methods of single instances.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from gcpx.compute.bulk_instances.bulk_rules import template_is_of_the_region
from gcpx.compute.bulk_instances.declaration import FLEET_ID, BulkInstancesModel, BulkInstancesQuery, LocationStatus
from gcpx.compute.bulk_instances.fleet import TRACKING_LABEL, Fleet, shortfall
from gcpx.compute.bulk_instances.members import made_up, member, scaling, settings, size
from gcpx.compute.bulk_instances.overrides import differ, laid_over
from gcpx.compute.collection import Collection
from gcpx.compute.online_checks import check_quotas, instance_checks
from gcpx.compute.operations import Outcome
from gcpx.compute.resource_list import ResourceList
from gcpx.errors import ProviderError
from gcpx.gcp.client import Google
from gcpx.gcp.errors import ApiError
from gcpx.gcp.in_project import InProject
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.online_checks import OnlineCheck, OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.gcp.place_defaults import missing_place
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import object_type
from gcpx.model.links import Home, name_of, path_of
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.numbers import as_integer
from gcpx.model.resource import Found, InvalidId, Live, Page, PartialError
from gcpx.model.rules import Failure, elements, nested, number, text


class BulkInstances(InProject):
    """Fleets by tracking label, by another label, or by name pattern."""

    token = "gcpx:compute:BulkInstances"
    model = BulkInstancesModel
    query = BulkInstancesQuery
    autoname = Autoname(property="fleetId", pattern=FLEET_ID[0], max_length=63)
    in_place = frozenset(
        {("count",), ("minCount",), ("perInstanceProperties",), ("locationPolicy",)}
        | {("instanceProperties", name) for name in ("labels", "tags", "metadata")}
    )
    id_forms = (
        "projects/PROJECT/regions/REGION/bulkInstances/FLEET",
        "projects/PROJECT/regions/REGION/namePattern/PATTERN",
        "projects/PROJECT/regions/REGION/labels/KEY=VALUE",
    )

    def __init__(self, google: Google, lookups: Lookups) -> None:
        super().__init__(google, lookups)
        self._making: dict[str, str] = {}
        """The fleets that are being made, with the URNs of their resources."""

    def problems(self, inputs: dict[str, Any]) -> list[Failure]:
        """Require a project and a region."""
        failures = super().problems(inputs)
        if not inputs.get("region") and not self._google.settings.region:
            failures.append(missing_place("region"))
        elif not inputs.get("region"):
            failures += template_is_of_the_region({**inputs, "region": self._google.settings.region})
        return failures

    def defaults(self) -> dict[str, Any]:
        """Leave out the provider's project and region."""
        region = self._google.settings.region
        return {**super().defaults(), "region": name_of(region) if region else None}

    def home(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Home:
        """Complete names by project and region."""
        return Home.of(inputs, outputs, project=self._google.settings.project, region=self._google.settings.region)

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Look up what the properties and the policy name, and whether quotas have room for those that are new."""
        home = self.home(inputs, {})
        checks = OnlineChecks(self._lookups, call, home.project, home.region)
        properties, policy = nested(inputs, "instanceProperties"), nested(inputs, "locationPolicy")
        more = planned(inputs) - planned(olds)
        least = more + int(number(inputs, "minCount") or planned(inputs)) - planned(inputs)
        every = [*instance_checks(checks, properties, ("instanceProperties",)), *_zones(checks, policy)]
        if home.project and home.region:
            every.append(partial(check_quotas, checks, text(properties, "machineType"), more, least))
        return checks.run(inputs, every)

    def identity(self, inputs: dict[str, Any]) -> Any:
        """Let fleets of given names go before they come, and those of a given label: numbers alone are free."""
        if inputs.get("perInstanceProperties"):
            return ()
        return None if inputs.get(AUTONAMED) else (name_of(text(inputs, "region")), inputs.get("fleetId"))

    def collides(self, old: dict[str, Any], new: dict[str, Any]) -> bool:
        """Let the old fleet go first where it would take the new one's members for its own, or the other way round."""
        kept = not new.get(AUTONAMED) and new.get("fleetId") == old.get("fleetId")
        by_our_label = "/" not in f"{old.get('fleetId')}{new.get('fleetId')}"
        return kept or not by_our_label or super().collides(old, new)

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Name where the fleet is."""
        return {name: inputs.get(name) or default for name, default in self.defaults().items()}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Make all instances in one call."""
        fleet = self._fleet(inputs)
        names = list(inputs.get("perInstanceProperties") or ())
        with self._alone(call, fleet):
            self._refuse_strangers(call, fleet, inputs, names)
            return self._grown(call, fleet, inputs, [], size(inputs), names)

    @contextmanager
    def _alone(self, call: Call, fleet: Fleet) -> Iterator[None]:
        """Refuse to create two fleets with the same ID at the same time."""
        if self._making.setdefault(_id(fleet), call.urn) != call.urn:
            raise Taken(fleet, "another resource is creating instances that match it")
        try:
            yield
        finally:
            self._making.pop(_id(fleet), None)

    def _refuse_strangers(self, call: Call, fleet: Fleet, inputs: dict[str, Any], names: list[str]) -> None:
        """Refuse instances that already exist, unless a run whose response was lost created them."""
        members = fleet.members(call)
        count = size(inputs)
        if not members:
            return
        if len(members) > count or not fleet.was_made(call, self._body(fleet, inputs, 0, count, names)):
            words = f"{len(members):,} instances, such as {members[0]['name']}, match it and were not created by this resource"
            raise Taken(fleet, words)

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Find the members; a fleet without any is gone."""
        fleet = self._parse(resource_id)
        members = fleet.members(call)
        if not members:
            return None
        if inputs is None:
            inputs = made_up(fleet, members, lambda disk: fleet.image_of(call, disk))
        return self._live(fleet, members, inputs, call.last)

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Bring number, names, labels, tags and metadata to what is wanted; what is so already costs no call."""
        fleet = self._parse(resource_id)
        members = fleet.members(call)
        extra, missing, names = scaling(members, old, new)
        fleet.delete(call, extra)
        gone = {item["id"] for item in extra}
        kept = [item for item in members if item["id"] not in gone]
        changed = self._change(call, fleet, kept, *self._settings(call, fleet, old, new))
        if missing:
            return self._grown(call, fleet, new, kept, missing, names)
        return self._live(fleet, fleet.members(call) if extra or changed else members, new, call.last)

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete every member."""
        fleet = self._parse(resource_id)
        fleet.delete(call, fleet.members(call))

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List the fleets that gcpx made, by the label of their instances: all at once, since one spans pages."""
        del token, size
        project, wanted = self._project(query), name_of(query.get("region") or "")
        fleets: dict[tuple[str, str], None] = {}
        instances = ResourceList(
            google=self._google,
            project=project,
            version="beta",
            collection="instances",
            fields="zone,labels",
            filter=f"labels.{TRACKING_LABEL}:*",
        )
        for item in instances.read_all(call):
            region = name_of(item["zone"]).rpartition("-")[0]
            if wanted in {"", region}:
                fleets[region, item["labels"][TRACKING_LABEL]] = None
        return Page([
            Found(f"projects/{project}/regions/{region}/bulkInstances/{fleet}", fleet) for region, fleet in fleets
        ])  # fmt: skip

    def _grown(
        self,
        call: Call,
        fleet: Fleet,
        inputs: dict[str, Any],
        before: list[dict[str, Any]],
        count: int,
        names: list[str],
    ) -> Live:
        known = self._unlisted(fleet, inputs, call.last)
        with keeping_state(lambda _: known) as creation:
            outcome = fleet.grow(call, self._body(fleet, inputs, len(before), count, names), before)
            creation.created(outcome=outcome.error or "it was created")
            members = fleet.members(call)
            live = self._live(fleet, members, inputs, {}, outcome)
        wanted = size(inputs)
        if not members:
            raise outcome.error or NothingMade(wanted, shortfall(outcome))
        if outcome.error is not None and len(members) < _least(inputs):
            raise _failure(live, len(members), wanted, outcome.error)
        if len(members) < wanted:
            why = f": {outcome.error}" if outcome.error else ""
            call.warn(
                f"{len(members):,} of {wanted:,} instances could be created{why}; run `pulumi refresh` and `pulumi up` to create the rest"
            )
        return live

    def _body(self, fleet: Fleet, inputs: dict[str, Any], there: int, count: int, names: list[str]) -> dict[str, Any]:
        """Write a request for so many more instances."""
        body = codec.to_body(self.type, inputs)
        properties = dict(body.get("instanceProperties", {}))
        # Another fleet's label on a template would make instances members of both.
        foreign = {TRACKING_LABEL: None} if "sourceInstanceTemplate" in body else {}
        if (fleet.labels or foreign) and properties.get("labels", {}) is not None:
            properties["labels"] = {**foreign, **properties.get("labels", {}), **fleet.labels}
        least = min(count, max(min(1, _least(inputs)), _least(inputs) - there))
        body |= {"count": str(count), "minCount": str(least)}
        if properties:
            body["instanceProperties"] = properties
        if names:
            body["perInstanceProperties"] = {name: body["perInstanceProperties"][name] for name in names}
        return body

    def _settings(
        self, call: Call, fleet: Fleet, old: dict[str, Any], new: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Give the old and the new labels, tags and metadata; read the template only if needed."""
        before, after = (inputs.get("instanceProperties") or {} for inputs in (old, new))
        template = new.get("sourceInstanceTemplate")
        below = fleet.properties_of(call, template) if template and differ(before, after) else {}
        return laid_over(below, before), laid_over(below, after)

    def _change(
        self, call: Call, fleet: Fleet, members: list[dict[str, Any]], old: dict[str, Any], new: dict[str, Any]
    ) -> bool:
        """Set labels, tags and metadata where they differ; tells whether they did anywhere."""
        new = {**new, "labels": {**(new.get("labels") or {}), **fleet.labels}}

        def work(zone: Collection, item: dict[str, Any]) -> None:
            for verb, wanted in settings(item, old, new).items():
                zone.read_modify_write(call, item["name"], verb, wanted)

        stale = [item for item in members if settings(item, old, new)]
        fleet.each(call, stale, "changed", work)
        return bool(stale)

    def _live(
        self,
        fleet: Fleet,
        members: list[dict[str, Any]],
        inputs: dict[str, Any],
        last: dict[str, Any],
        outcome: Outcome | None = None,
    ) -> Live:
        kept: dict[str, Any] = {name: last[name] for name in ("perLocationStatus", "operationGroupId") if name in last}
        if outcome is not None:
            status = outcome.per_location
            kind = object_type(LocationStatus)
            kept["perLocationStatus"] = {name: codec.from_body(kind, item) for name, item in status.items()}
            kept["operationGroupId"] = outcome.operation.get("operationGroupId")
        if inputs.get("__found"):
            kept |= {name: inputs[name] for name in ("namePattern", "instanceProperties") if name in inputs}
        own = inputs.get("perInstanceProperties")
        if own:
            there = {item["name"] for item in members}
            kept["perInstanceProperties"] = {name: value for name, value in own.items() if name in there}
        if not own or inputs.get("count") is not None:
            kept["count"] = len(members)
        properties = {
            **{name: value for name, value in kept.items() if value is not None},
            "createdCount": len(members),
            "members": [member(item) for item in members],
            "fleetId": fleet.id,
            "project": fleet.project,
            "region": fleet.region,
        }
        return Live(_id(fleet), properties)

    def _unlisted(self, fleet: Fleet, inputs: dict[str, Any], last: dict[str, Any]) -> Live:
        """Describe a fleet whose members could not be listed after a creation: by what was known before it."""
        known = {name: last[name] for name, prop in self.type.properties.items() if prop.traits.output and name in last}
        place = {"fleetId": fleet.id, "project": fleet.project, "region": fleet.region}
        return Live.unread(_id(fleet), {**known, **inputs, **place})

    def _fleet(self, inputs: dict[str, Any]) -> Fleet:
        configured = self._google.settings
        project = self._project(inputs) or ""
        return Fleet(self._google, project, name_of(inputs.get("region") or configured.region or ""), inputs["fleetId"])

    def _parse(self, resource_id: str) -> Fleet:
        form = r"projects/([^/]+)/regions/([^/]+)/(?:bulkInstances/([^/]+)|(labels/[^/]+=[^/]*|namePattern/[^/]+))"
        found = re.fullmatch(form, path_of(resource_id))
        if found is None or not FLEET_ID[0].fullmatch(found[3] or found[4]):
            raise InvalidId(self.token, resource_id, self.id_forms)
        return Fleet(self._google, found[1], found[2], found[3] or found[4].removeprefix(f"labels/{TRACKING_LABEL}="))


class Taken(ProviderError):  # noqa: N818 - it names the outcome
    """The ID of a new fleet matches instances that the resource did not create."""

    code = "ALREADY_EXISTS"

    def __init__(self, fleet: Fleet, why: str) -> None:
        super().__init__(
            f"fleetId: must match no existing instance in {fleet.region}: {why}. Choose another ID, import the existing "
            f"instances with `pulumi import` and the ID {_id(fleet)}, or, if this is a replacement, set the resource "
            "option deleteBeforeReplace"
        )


class NothingMade(ProviderError):  # noqa: N818 - it names the outcome
    """A bulk creation that is done, but created no instance."""

    def __init__(self, wanted: int, shortfall: str) -> None:
        super().__init__(
            f"a fleet needs at least one instance, but 0 of {wanted:,} could be created{shortfall}; nothing was left behind: "
            "run `pulumi up` to try again, or allow other zones with `locationPolicy` or other machine types with `instanceFlexibilityPolicy`"
        )


def _id(fleet: Fleet) -> str:
    place = fleet.id if "/" in fleet.id else f"bulkInstances/{fleet.id}"
    return f"projects/{fleet.project}/regions/{fleet.region}/{place}"


def _zones(checks: OnlineChecks, policy: dict[str, Any]) -> Iterator[OnlineCheck]:
    """Check the zones of a location policy, in both of its forms."""
    for name in nested(policy, "locations"):
        yield partial(checks.check_zone, name, ("locationPolicy", "locations", name))
    for index, item in elements(policy, "zones"):
        yield partial(checks.check_zone, text(item, "zone"), ("locationPolicy", "zones", index, "zone"))


def planned(inputs: dict[str, Any]) -> int:
    """Count the instances that inputs ask for, as far as they are known."""
    count = number(inputs, "count")
    return int(count) if count is not None else len(nested(inputs, "perInstanceProperties"))


def _least(inputs: dict[str, Any]) -> int:
    least = as_integer(inputs.get("minCount"))
    return size(inputs) if least is None else least


def _failure(live: Live, there: int, wanted: int, error: ApiError) -> Exception:
    """Keep what is left in the state."""
    return PartialError(live, f"{error} {there:,} of {wanted:,} instances exist; run `pulumi up` to try again.")
