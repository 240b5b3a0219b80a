"""DiskAttachment: an existing disk on an existing instance: attach, read, change, detach, list.

Source: REST reference, `instances.attachDisk`, `instances.detachDisk` and `instances.setDiskAutoDelete`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import unquote

import attrs

from gcpx.compute.collection import Collection
from gcpx.compute.insertion import LAG, Insertion, insert_once, is_own, wait_for_insertions
from gcpx.compute.instance_properties.disks import (
    REGIONAL_DISK,
    ZONAL_DISK,
    AttachedDisk,
    device_names_have_no_spaces,
    force_attach_requires_regional_disk,
)
from gcpx.compute.listing import ImportableResources, ListQuery
from gcpx.compute.operations import Operation, Outcome, Wait
from gcpx.compute.reference import DISK, INSTANCE, rest
from gcpx.errors import MalformedResponse, ProviderError
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.creation import exists_already, keeping_state
from gcpx.gcp.errors import Conflict, NotFound, OperationFailed, Rejected
from gcpx.gcp.in_project import Lookups, missing_place, place_or_default, require_project
from gcpx.gcp.list_method import link_of
from gcpx.gcp.not_found import explain_not_found
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.request import COMPUTE, Request
from gcpx.gcp.settings import Settings
from gcpx.model import codec
from gcpx.model.context import Context
from gcpx.model.fields import Failure, chosen, field, record, requirement_of_each, rule, text
from gcpx.model.links import Location, name_of, path_of, same_link
from gcpx.model.naming import UNREAD
from gcpx.model.numbers import as_integer
from gcpx.model.ownership import Owner, owner
from gcpx.model.patterns import PROJECT, ZONE
from gcpx.model.resource import InvalidId, ListedResource, Page, Resource, State, gone
from gcpx.model.times import moment

if TYPE_CHECKING:
    from gcpx.compute.value_types import AttachedDiskValues, DiskAttachmentQueryValues, DiskAttachmentValues

ID_FORMS: Final = (
    "projects/PROJECT/zones/ZONE/instances/INSTANCE/DEVICE",
    "PROJECT/ZONE/INSTANCE/DEVICE",
    "ZONE/INSTANCE/DEVICE",
    "an instance's self link with /DEVICE",
    "projects/PROJECT/zones/ZONE/instances/INSTANCE/projects/PROJECT/zones/ZONE/disks/DISK, for any device name",
)
_ID_BY_DISK: Final = re.compile(r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)/(projects/.+/disks/[^/]+)")
_ID_BY_DEVICE: Final = re.compile(r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)/([^/]+)")
_SHORT_ID: Final = re.compile(r"(?:([^/]+)/)?([^/]+)/([^/]+)/([^/:]+)")
"""A colon in a device name is written %3A: `PROJECT/ZONE/INSTANCE:DISK` names no device."""


@attrs.frozen
class Address:
    """An instance, and a disk on it.

    Attributes:
        device: the disk's device name; empty if it is not known.
        disk: the disk's path from `projects/` on; empty if it is not known.
    """

    project: str
    zone: str
    instance: str
    device: str = ""
    disk: str = ""

    @property
    def path(self) -> str:
        """The instance's path."""
        return f"projects/{self.project}/zones/{self.zone}/instances/{self.instance}"

    @property
    def id(self) -> str:
        """The attachment's ID: by device name, or by disk until the device name is known."""
        return f"{self.path}/{quoted(self.device) if self.device else self.disk}"

    def path_of_disk(self, disk: str) -> str:
        """Complete a disk's name or link, from inputs, by the instance's project and zone."""
        path = path_of(disk)
        if "/" not in path:
            path = f"zones/{self.zone}/disks/{path}"
        return path if path.startswith("projects/") else f"projects/{self.project}/{path}"


def quoted(device: str) -> str:
    """Escape a device name, which may contain any character, as one part of an ID."""
    return re.sub(r"[%/?#]", lambda found: f"%{ord(found[0]):02X}", device)


def instance_of(inputs: DiskAttachmentValues, settings: Settings) -> Address:
    """Return project, zone and name of the instance in inputs; other inputs or the settings complete them.

    Raises:
        InvalidId: `instance` is in no known form.
    """
    parts = INSTANCE.pattern.fullmatch(inputs["instance"])
    if parts is None:
        raise InvalidId("an instance", inputs["instance"], (INSTANCE.words,))
    project = parts[1] or inputs.get("project") or settings.project or ""
    zone = parts[2] or inputs.get("zone") or settings.zone or ""
    return Address(project, zone.rpartition("/")[2] if isinstance(zone, str) else "", parts[3])


def parsed(resource_id: str, settings: Settings) -> Address | None:
    """Read an attachment's ID, in any of `ID_FORMS`; None if it has another form."""
    path = path_of(resource_id)
    by_disk = _ID_BY_DISK.fullmatch(path)
    if by_disk:
        return Address(by_disk[1], by_disk[2], by_disk[3], disk=by_disk[4])
    parts = _ID_BY_DEVICE.fullmatch(path) or _SHORT_ID.fullmatch(path)
    project = (parts[1] or settings.project) if parts else None
    return Address(project, parts[2], parts[3], unquote(parts[4])) if parts and project else None


_OF_THE_INSTANCE: Final = ("interface", "project", "zone")
_OF_THE_DISK: Final = ("diskEncryptionKey", "diskSizeGb", "guestOsFeatures", "userLicenses")


@requirement_of_each(
    "each of project and zone",
    "must be the one that instance names, or be left out",
    rest("instances.attachDisk", "zone"),
)
def instance_is_in_project_and_zone(values: DiskAttachmentValues) -> Iterator[str]:
    instance = values.get("instance")
    parts = INSTANCE.pattern.fullmatch(instance) if isinstance(instance, str) else None
    named = {"project": parts[1] or "", "zone": name_of(parts[2] or "")} if parts else {}
    for name, known in named.items():
        if known and _differs(known, values.get(name)):
            yield name


@rule(
    "",
    "a zonal disk must be in the zone of the instance, and a regional disk in its region",
    rest("instances.attachDisk", "source"),
)
def disk_is_in_the_zone(values: DiskAttachmentValues) -> list[Failure]:
    instance, disk, zone = values.get("instance"), values.get("disk"), values.get("zone")
    parts = INSTANCE.pattern.fullmatch(instance) if isinstance(instance, str) else None
    known = parts[2] if parts and parts[2] else name_of(zone) if isinstance(zone, str) else ""
    if not known or not isinstance(disk, str) or not DISK.pattern.fullmatch(disk):
        return []
    zonal, regional = ZONAL_DISK.fullmatch(disk), REGIONAL_DISK.fullmatch(disk)
    if zonal and zonal[1] != known:
        return [Failure("disk", "must be in the zone of the instance, unless it is a regional disk")]
    if regional and regional[1] != known.rpartition("-")[0]:
        return [Failure("disk", "must be in the region of the instance")]
    return []


def _differs(known: str, given: object) -> bool:
    """Return whether a project or zone certainly differs; a project's number may belong to any ID."""
    one, other = known, name_of(given) if isinstance(given, str) else known
    return one != other and one.isdecimal() == other.isdecimal()


@record
class DiskAttachmentModel(AttachedDisk):
    """An existing disk, zonal or regional, attached to an existing instance.

    A replacement detaches the disk and attaches it again.

    gcpx attaches the disks of one instance one after another, and the disks of different instances in parallel. A
    change of the disk or of the instance, such as another size of the disk, is not a change of the attachment. If the
    instance or the disk is deleted, the attachment counts as deleted too.
    """

    OMIT = frozenset({"initializeParams", "source"})
    ALWAYS = frozenset({"deviceName", "index", "kind", "mode", "type"})
    RULES = (
        force_attach_requires_regional_disk("disk", rest("instances.attachDisk", "forceAttach")),
        instance_is_in_project_and_zone,
        disk_is_in_the_zone,
        device_names_have_no_spaces,
    )

    @staticmethod
    def implied(values: dict[str, Any]) -> dict[str, Any]:
        """Return the values that belong to the instance or the disk; the machine type decides which interface is possible."""
        return {name: values.get(name) for name in (*_OF_THE_INSTANCE, *_OF_THE_DISK)}

    disk: str = field(
        "The disk, such as `data` if it is in the instance's zone, `zones/us-east1-b/disks/data`, `regions/us-east1/disks/data`, or its URL.",
        required=True,
        pattern=DISK,
        url="zones/disks",
        wire="source",
    )
    disk_size_gb: int = field(
        "The disk's size in GB (2^30 bytes), such as `100`; at least 1. An attachment does not change the size of its disk: if the size in the program is not the disk's size, gcpx prints a warning, and the output `diskSizeGb` shows the disk's size. Default: the disk's current size. Changes in place.",
        unsent=True,
        int64=True,
        minimum=1,
    )
    force_attach: bool = field(
        "Attach the disk even if it is attached to another instance, which then loses it. Default: false. Requires a regional disk. Changes in place, and takes effect the next time that the disk is attached.",
        in_url=True,
    )
    instance: str = field(
        "The instance, such as `web` if it is in `zone`, `zones/us-east1-b/instances/web`, or its URL.",
        required=True,
        pattern=INSTANCE,
        in_url=True,
        url="zones/instances",
    )
    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the project in `instance`, or the provider's.",
        always=True,
        in_url=True,
        pattern=PROJECT,
    )
    zone: str = field(
        "The instance's zone, such as `us-east1-b`. Default: the zone in `instance`, or the provider's.",
        always=True,
        in_url=True,
        pattern=ZONE,
        normalize=name_of,
    )


@record
class DiskAttachmentQuery(ListQuery):
    """Which instances' disks to list; `filter` applies to the instances."""

    zone: str = field(
        "List only disks on instances in this zone, such as `us-east1-b`. Default: all zones.", pattern=ZONE
    )


_ATTACHED_ANEW: Final = ("detachDisk", "attachDisk")
"""The kinds of operations that, in this order, may have replaced our attachment by somebody else's."""


@attrs.frozen
class _Attached:
    """Our disk on an instance: both as Google returns them (REST JSON)."""

    instance: dict[str, Any]
    disk: AttachedDiskValues


class DiskAttachment(Resource["DiskAttachmentValues"]):
    """Attachments, identified by device name on an instance.

    An attachment is ours while our disk has our device name. Another disk under that name, or our disk under another
    name, was attached by someone else, so ours is gone.
    """

    token = "gcpx:compute:DiskAttachment"
    model = DiskAttachmentModel
    query = DiskAttachmentQuery
    in_place = frozenset({("autoDelete",), ("diskSizeGb",), ("forceAttach",)})
    id_forms = ID_FORMS
    operation_timeout = 300.0

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups
        self._locks: dict[str, threading.Lock] = {}
        """A lock for each instance, by path."""

    def query_failures(self, query: dict[str, Any]) -> list[Failure]:
        """Require a project to list."""
        return require_project(self._google.settings, query)

    def failures(self, inputs: DiskAttachmentValues) -> list[Failure]:
        """Require a project and a zone: in `instance`, in their own properties, or from the provider."""
        if not self._has_instance(inputs):
            return []
        address = self._address(inputs)
        missing = [name for name in ("project", "zone") if not getattr(address, name) and inputs.get(name) is None]
        return [missing_place(name, "name the instance by its URL") for name in missing]

    def check_online(self, context: Context, olds: DiskAttachmentValues, inputs: DiskAttachmentValues) -> list[Failure]:
        """Check that project and zone exist, and then the instance and the disk."""
        del olds
        location = self.location(inputs, {})
        named = INSTANCE.pattern.fullmatch(text(inputs, "instance"))
        project_path = ("instance" if named and named[1] else "project",)
        zone_path = ("instance" if named and named[2] else "zone",)
        checks = OnlineChecks(self._lookups, context, location.project, project_path=project_path)
        in_zone = checks.run(inputs, [partial(checks.check_zone, location.zone or "", zone_path)])
        place = f"zones/{location.zone}" if location.zone else ""
        links = [(name, f"{place}/{name}s" if place else "") for name in ("instance", "disk")]
        return in_zone or checks.run(
            {}, [partial(checks.check_link, text(inputs, name), collection, (name,)) for name, collection in links]
        )

    def location(self, inputs: DiskAttachmentValues, outputs: dict[str, Any]) -> Location:
        """Return the instance's project and zone, which complete short names."""
        given = _values({**outputs, **inputs})
        if not self._has_instance(given):
            settings = self._google.settings
            return Location.of(inputs, outputs, project=settings.project, zone=settings.zone)
        address = self._address(given)
        return Location.of({"project": address.project, "zone": address.zone})

    def explain_error(self, context: Context, inputs: DiskAttachmentValues, error: ProviderError) -> ProviderError:
        """Name the input that refers to a missing resource."""
        return explain_not_found(self._google, context, inputs, error)

    def unique_key(self, inputs: DiskAttachmentValues) -> Any:
        """Let every replacement detach first, because the disk or its device name is usually still in use."""
        del inputs
        return ()

    def identity(self, resource_id: str, outputs: dict[str, Any]) -> str:
        """Return the ID that names the disk, which an attachment has at least until its device name is known."""
        address, disk = parsed(resource_id, self._google.settings), text(_values(outputs), "disk")
        if address is None or not (address.disk or disk):
            return resource_id
        return attrs.evolve(address, device="", disk=address.disk or address.path_of_disk(disk)).id

    def predict(self, inputs: DiskAttachmentValues) -> dict[str, Any]:
        """Predict the instance's project and zone."""
        if not isinstance(inputs.get("instance"), str):
            return {}
        address = self._address(inputs)
        zone = inputs.get("zone")
        as_written = zone if isinstance(zone, str) and name_of(zone) == address.zone else address.zone
        places = {name: value for name, value in (("project", address.project), ("zone", as_written)) if value}
        return {**places, "kind": "compute#attachedDisk"}

    def create(self, context: Context, inputs: DiskAttachmentValues) -> State:
        """Attach the disk, then read the device name that it got."""
        instance = self._address(inputs)
        disk = instance.path_of_disk(inputs["disk"])
        address = attrs.evolve(instance, device=inputs.get("deviceName") or "", disk=disk)
        instances = self._instances(address)
        # A request of this creation attached it, which is proof enough.
        call = attrs.evolve(context, prior={})

        def unread(operation: Mapping[str, Any]) -> State:
            target = operation.get("targetId")
            given = {**inputs, "project": address.project, "zone": address.zone}
            return State.unread(address.id, given, target if isinstance(target, str) else None)

        insertion = _AttachmentInsertion(
            context=call,
            operations=instances.operations,
            scope=instances.scope,
            instances=instances,
            instance=address.instance,
            query={"forceAttach": True} if inputs.get("forceAttach") else {},
            body=codec.to_body(self.type, inputs) | {"source": disk},
            find=partial(self.find, call, address, inputs),
            was_unread=bool(context.prior.get(UNREAD)),
        )
        with self._exclusively(context, address), keeping_state(context, unread) as progress:
            try:
                inserted = insert_once(insertion)
                operation = inserted.outcome.result()
            except (Conflict, Rejected) as error:
                attached = self.find(call, attrs.evolve(address, device=""), {"disk": disk})
                if attached is None:
                    raise
                words = {"state": "is attached", "verb": "attached"}
                raise exists_already(error, context, attached.id, "attach another disk", **words) from error
            progress.created(operation)
            found = insertion.find()
            if found is None:
                raise NotFound(f"Google does not list {disk} on {address.path}")
            state = attrs.evolve(found, adopted=inserted.earlier)
        _warn_of_size(context, state, inputs)
        return state

    def settle(self, context: Context, resource_id: str) -> None:
        """Wait for the attachments of interrupted runs."""
        address = self._parse(resource_id)
        instances = self._instances(address)
        wait = Wait(f"attachDisk of {instances.path}/{address.instance}", self.operation_timeout)

        def is_shown(_: Outcome) -> bool:
            return self.find(context, address, _values(context.prior)) is not None

        wait_for_insertions(context, instances.operations, instances.scope, wait, is_shown)

    def read(self, context: Context, resource_id: str, inputs: DiskAttachmentValues | None) -> State | None:
        """Find the disk on the instance; None if either is gone."""
        known = self._known(context, inputs or {})
        state = self.find(context, self._parse(resource_id), known)
        _warn_of_size(context, state, inputs or {})
        return state

    def update(self, context: Context, resource_id: str, old: DiskAttachmentValues, new: DiskAttachmentValues) -> State:
        """Set `autoDelete`, unless it already has the new value."""
        address = self._parse(resource_id)
        known, wanted = self._known(context, new), bool(new.get("autoDelete"))
        found = self._attached(context, address, known)
        if found is None:
            raise gone(resource_id)
        if bool(found.disk.get("autoDelete")) == wanted:
            state = self._state(address, found.disk, known)
        else:
            query = {"autoDelete": wanted, "deviceName": found.disk["deviceName"]}
            with self._exclusively(context, address):
                self._instances(address).invoke(context, found.instance, "setDiskAutoDelete", **query)
            without_size = _values({**new, "diskSizeGb": None})  # compared only once, at the end
            state = super().update(context, resource_id, old, without_size)
        _warn_of_size(context, state, new)
        return state

    def delete(self, context: Context, resource_id: str) -> None:
        """Detach the disk, if it is still ours."""
        address = self._parse(resource_id)
        with self._exclusively(context, address):
            found = self._attached(context, address, _values(context.prior))
            if found is None:
                return
            query = {"deviceName": found.disk["deviceName"]}
            try:
                self._instances(address).invoke(context, found.instance, "detachDisk", **query)
            except (NotFound, OperationFailed, Rejected) as error:
                if self.find(context, address, _values(context.prior)) is not None:
                    raise error from None

    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List the disks on instances, except boot disks and local SSDs, which belong to their instance."""
        values = cast("DiskAttachmentQueryValues", query)
        instances = ImportableResources(
            google=self._google,
            project=place_or_default(self._google.settings, "project", query),
            version="beta",
            collection="instances",
            fields="selfLink,disks(deviceName,boot,type)",
            scope=f"zones/{name_of(values['zone'])}" if values.get("zone") else "",
            filter=values.get("filter"),
        )
        items, next_token = instances.read_page(context, token, size)
        return Page(
            [
                ListedResource(f"{link_of(instance)}/{quoted(disk['deviceName'])}", disk["deviceName"])
                for instance in items
                for disk in instance.get("disks", ())
                if not disk.get("boot") and disk.get("type") != "SCRATCH"  # the others cannot be imported
            ],
            next_token,
        )

    @staticmethod
    def _known(context: Context, inputs: DiskAttachmentValues) -> DiskAttachmentValues:
        """Return the inputs and outputs that identify our disk."""
        return {**chosen(_values(context.prior), ("deviceName", "disk")), **inputs}

    def find(self, context: Context, address: Address, known: DiskAttachmentValues) -> State | None:
        """Describe our disk on the instance; None if it is not attached. `known` is as in `_attached`."""
        found = self._attached(context, address, known)
        return None if found is None else self._state(address, found.disk, known)

    def _attached(self, context: Context, address: Address, known: DiskAttachmentValues) -> _Attached | None:
        """Find our disk on the instance; None if either is gone.

        Device name and disk must match, as far as they are known. The device name is not known before Google has
        returned it, and an ID by disk does not contain it. In an import by device name, the disk is not known.
        `known` are inputs or outputs; their `deviceName` and `disk` complete `address`.
        """
        instances = self._instances(address)
        instance = instances.get(context, address.instance)
        if instance is None:
            return None
        device = known.get("deviceName") or address.device
        disk = address.disk or (address.path_of_disk(known["disk"]) if known.get("disk") else "")
        for attached in _disks_of(instance, address.path):
            is_same = not disk or same_link(disk, attached.get("source", ""), "zones/disks")
            if device in {"", attached.get("deviceName")} and is_same:
                is_ours = is_own(
                    context,
                    instances.operations,
                    instances.scope,
                    instance,
                    _ATTACHED_ANEW,
                    resource_id=attrs.evolve(address, device=attached["deviceName"]).id,
                )
                return _Attached(instance, attached) if is_ours else None
        return None

    def _state(self, address: Address, attached: AttachedDiskValues, known: DiskAttachmentValues) -> State:
        place = {"project": address.project, "zone": address.zone, "instance": address.path}
        force = {"forceAttach": known["forceAttach"]} if known.get("forceAttach") is not None else {}
        properties = codec.from_body(self.type, attached)
        return State(attrs.evolve(address, device=attached["deviceName"]).id, {**properties, **place, **force})

    def _exclusively(self, context: Context, address: Address) -> AbstractContextManager[None]:
        """Make one change to an instance's attachments at a time, because Google refuses concurrent ones."""
        return context.holding(self._locks.setdefault(address.path, threading.Lock()), address.path)

    def _instances(self, address: Address) -> Collection:
        path = f"zones/{address.zone}/instances"
        return Collection(
            google=self._google, version="beta", project=address.project, path=path, timeout=self.operation_timeout
        )

    def _has_instance(self, inputs: DiskAttachmentValues) -> bool:
        """Return whether `instance` is known, and in a known form."""
        return INSTANCE.pattern.fullmatch(text(inputs, "instance")) is not None

    def _address(self, inputs: DiskAttachmentValues) -> Address:
        return instance_of(inputs, self._google.settings)

    def _parse(self, resource_id: str) -> Address:
        address = parsed(resource_id, self._google.settings)
        if address is None:
            raise InvalidId(self.token, resource_id, self.id_forms)
        return address


def _values(values: Mapping[str, Any]) -> DiskAttachmentValues:
    """Return inputs or outputs, which were checked before, with their declared type."""
    return cast("DiskAttachmentValues", values)


def _disks_of(instance: dict[str, Any], path: str) -> list[AttachedDiskValues]:
    """Return the disks of an instance (REST JSON); a disk that cannot be read does not count as detached."""
    disks = instance.get("disks")
    if not isinstance(disks, list) or not disks or not all(map(_is_disk, disks)):
        raise MalformedResponse(f"Google's response for {path} has no disks, or a disk without its name or its source")
    return cast("list[AttachedDiskValues]", disks)


def _is_disk(found: Any) -> bool:
    if not isinstance(found, dict):
        return False
    name, source = found.get("deviceName"), found.get("source")
    if not isinstance(name, str) or not name:
        return False
    return found.get("type") == "SCRATCH" or (isinstance(source, str) and "/disks/" in source)


def _warn_of_size(context: Context, state: State | None, inputs: DiskAttachmentValues) -> None:
    """Warn if a disk does not have the program's size, because an attachment cannot change it."""
    size, wanted = state and _values(state.properties).get("diskSizeGb"), as_integer(inputs.get("diskSizeGb"))
    if size is not None and wanted is not None and size != wanted:
        context.warn(
            f"diskSizeGb is {wanted} in the program, but the disk has {size} GB. An attachment does not change the size "
            "of its disk: correct or leave out diskSizeGb, or resize the disk"
        )


@attrs.frozen(kw_only=True)
class _AttachmentInsertion(Insertion):
    """The request that attaches a disk.

    Attributes:
        instances: the collection of the instance.
        instance: its name.
        query: the query parameters of the request.
        body: the inputs as REST JSON.
        find: reads the attachment; None if the disk is not attached as wanted.
        was_unread: whether the state has it without having read it, because this finishes an earlier creation.
    """

    instances: Collection
    instance: str
    query: dict[str, Any]
    body: dict[str, Any]
    find: Callable[[], State | None]
    was_unread: bool

    @property
    def content(self) -> list[Any]:
        """Return the method, the instance and the disk."""
        return [self._path, self.body, self.query]

    def request(self, request_id: str) -> Request:
        """Return the call."""
        query = {**self.query, "requestId": request_id}
        return Request(api=COMPUTE, method="POST", path=self._path, query=query, body=self.body)

    def exists(self) -> bool:
        """Return whether the disk is attached."""
        return self.find() is not None

    def wait(self, operation: Operation) -> Outcome:
        """Wait for the call."""
        wait = Wait(self.thing(operation), self.instances.timeout)
        return self.operations.outcome(self.context, operation, wait)

    def was_known(self, operation: Operation) -> bool:
        """Return whether the state has it as unread, or a disk was detached from the instance since."""
        return self.was_unread or self._may_be_detached(operation)

    def may_lag(self, operation: Operation) -> bool:
        """Return whether reads may still lag: false if a disk was detached later than any lag.

        An earlier detachment may concern another disk, which the operation does not name, while ours is not shown yet.
        """
        ended = moment(operation.get("endTime"))
        if ended is None:
            return True
        return not self._may_be_detached({**operation, "insertTime": (ended + timedelta(seconds=LAG)).isoformat()})

    def thing(self, operation: Operation) -> str:
        """Name the call."""
        del operation
        return f"attachDisk of {self.instances.path}/{self.instance}"

    def owner(self, outcome: Outcome) -> Owner:
        """Decide who owns the attachment.

        If the disk was detached since, ours is gone, although a read may still show it, or somebody else may have
        attached it again. An operation does not name the disk that it detaches; only a request ID of this resource
        proves it.
        """
        context, operation, target = self.context, outcome.operation, str(outcome.operation.get("targetId"))
        if outcome.error is not None:
            return Owner.NOBODY
        live = self.instances.get(context, self.instance)
        is_there = live is not None and str(live["id"]) == target
        found = self.find() if is_there else None
        if found is None and context.is_blocked:
            return Owner.NOBODY
        is_in_state = found is not None and (context.is_replaced(found.id) or context.is_blocked)

        def made_by_us() -> bool:
            mark, happened = context.request_mark, partial(self.operations.happened_in_turn, context, self.scope)
            if not is_there:
                is_detached = target in self.operations.deleted_since(context, self.scope, operation)
            elif found is not None:
                is_detached = happened(operation, _ATTACHED_ANEW) or (
                    bool(mark) and happened(operation, ("detachDisk",), mark)
                )
            else:
                is_detached = bool(mark) and self._may_be_detached(operation, mark)
            return not is_detached

        return owner(target if found else None, made_by_us, is_in_state=is_in_state)

    @property
    def _path(self) -> str:
        return f"{self.instances.url_of(self.instance)}/attachDisk"

    def _may_be_detached(self, operation: Operation, beginning: str = "") -> bool:
        """Return whether a disk was detached from the instance since, by a request ID with this beginning."""
        detached = self.operations.changed_since(self.context, self.scope, operation, {"detachDisk"}, beginning)
        return str(operation.get("targetId")) in detached
