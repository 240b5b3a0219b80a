"""DiskAttachment: a disk on an instance. Whether it goes with the instance changes in place.

Source: Compute API, `instances.attachDisk`, `detachDisk` and `setDiskAutoDelete`.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final
from urllib.parse import unquote

import attrs

from gcpx.compute.collection import Collection
from gcpx.compute.instance_properties.declaration import AttachedDisk
from gcpx.compute.lists.parameters import Filtered
from gcpx.compute.lists.resource_ids import scoped
from gcpx.errors import CancelledError, ProviderError
from gcpx.gcp.client import Google
from gcpx.gcp.errors import NotFound, Rejected
from gcpx.gcp.lookups import Lookups
from gcpx.gcp.not_found import explain_not_found
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.gcp.place_defaults import require_project
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import field, record
from gcpx.model.links import Home, name_of, path_of
from gcpx.model.patterns import Form
from gcpx.model.places import LINK_PARTS, PROJECT, ZONE
from gcpx.model.resource import Found, InvalidId, Live, Page, Resource
from gcpx.model.rules import Failure, rule, text

_TIMEOUT: Final = 300.0
_ASIDE: Final = 0.5
"""Seconds between looks whether the user asked to stop while another attachment of the instance is under way."""
_PREFIX: Final = r"(?:(?:https?:)?//[^/]+/(?:compute/)?(?:v1|beta)/)?(?:projects/([^/\s]+)/)?"
_INSTANCE: Final = Form(
    re.compile(_PREFIX + r"(?:zones/([^/\s]+)/)?(?:instances/)?([^/\s?#]+)"),
    "NAME, zones/ZONE/instances/NAME, projects/PROJECT/zones/ZONE/instances/NAME or the instance's URL",
    ("projects/PROJECT/zones/ZONE/instances/NAME", "zones/ZONE/instances/NAME", "NAME"),
    LINK_PARTS,
)
_DISK: Final = Form(
    re.compile(_PREFIX + r"(?:(?:zones|regions)/[^/\s]+/disks/)?[^/\s?#]+"),
    "NAME, zones/ZONE/disks/NAME, regions/REGION/disks/NAME, with projects/PROJECT/ before it, or the disk's URL",
    tuple(
        f"{before}{shape}"
        for before in ("projects/PROJECT/", "")
        for shape in ("zones/ZONE/disks/NAME", "regions/REGION/disks/NAME", "NAME")
    ),
    LINK_PARTS,
)
_REGIONAL: Final = re.compile(r"(?:.*/)?regions/[^/]+/disks/[^/]+")


@rule("forceAttach is for regional disks", "compute 4.2, 7")
def _force_is_for_regional_disks(values: dict[str, Any]) -> list[Failure]:
    disk = values.get("disk")
    if values.get("forceAttach") is True and isinstance(disk, str) and not _REGIONAL.fullmatch(disk):
        return [("forceAttach", "must be left out unless disk is a regional disk, written regions/REGION/disks/NAME")]
    return []


@record
class DiskAttachmentModel(AttachedDisk):
    """An existing disk, zonal or regional, attached to an existing instance.

    Attachments to one instance are made in order, to different instances at once. `autoDelete` changes in place;
    every other change detaches the disk first and attaches it anew. An instance or disk that is gone takes the
    attachment with it, which is no error.
    """

    OMIT = frozenset({"initializeParams", "source"})
    ALWAYS = frozenset({"deviceName", "index", "kind", "mode", "type"})
    RULES = (_force_is_for_regional_disks,)

    @staticmethod
    def implied(values: dict[str, Any]) -> dict[str, Any]:
        """Read project and zone off the instance, and the size off the disk."""
        return {name: values.get(name) for name in ("project", "zone", "diskSizeGb")}

    disk: str = field(
        "The disk: a name in the instance's zone, `zones/Z/disks/D`, `regions/R/disks/D`, or its URL.",
        required=True,
        pattern=_DISK,
        url="zones/disks",
        wire="source",
    )
    force_attach: bool = field(
        "Attach a regional disk even if it is attached to another instance, which loses it. Default: false.", param=True
    )
    instance: str = field(
        "The instance: a name in `zone`, `zones/Z/instances/I`, or its URL.",
        required=True,
        pattern=_INSTANCE,
        param=True,
        url="zones/instances",
    )
    project: str = field(
        "The project. Default: that of `instance`, or the provider's.", always=True, param=True, pattern=PROJECT
    )
    zone: str = field(
        "The instance's zone. Default: that of `instance`, or the provider's.",
        always=True,
        param=True,
        pattern=ZONE,
        normalize=name_of,
    )


@attrs.frozen
class _Address:
    """An instance, and what is attached to it: a device, or where its name is not known yet, the disk by its path."""

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
        """The attachment's ID."""
        return f"{self.path}/{_quoted(self.device) if self.device else self.disk}"


def _quoted(device: str) -> str:
    """Write a device name as one part of an ID, whatever characters it has."""
    return re.sub(r"[%/?#]", lambda found: f"%{ord(found[0]):02X}", device)


@record
class DiskAttachmentQuery(Filtered):
    """Which instances' disks to list; the filter is about the instances."""

    zone: str = field("Only instances in this zone. Default: in all zones.", pattern=ZONE)


class DiskAttachment(Resource):
    """Attachments by device name on an instance. One is ours as long as our disk is under our device name."""

    token = "gcpx:compute:DiskAttachment"
    model = DiskAttachmentModel
    query = DiskAttachmentQuery
    in_place = frozenset({("autoDelete",), ("forceAttach",)})
    id_forms = (
        "projects/PROJECT/zones/ZONE/instances/INSTANCE/DEVICE",
        "PROJECT/ZONE/INSTANCE/DEVICE",
        "ZONE/INSTANCE/DEVICE",
        "an instance's self link with /DEVICE",
        "projects/PROJECT/zones/ZONE/instances/INSTANCE/projects/PROJECT/zones/ZONE/disks/DISK, whatever its device",
    )

    def __init__(self, google: Google, lookups: Lookups) -> None:
        self._google = google
        self._lookups = lookups
        self._locks: dict[str, threading.Lock] = {}

    def query_problems(self, query: dict[str, Any]) -> list[Failure]:
        """Require a project to list."""
        return require_project(self._google.settings, query)

    def problems(self, inputs: dict[str, Any]) -> list[Failure]:
        """Require a project and a zone, of the instance or of the provider."""
        instance = inputs.get("instance")
        if not isinstance(instance, str) or not _INSTANCE[0].fullmatch(instance):
            return []
        address = self._address(inputs)
        words = "is required: set it here, name the instance by its URL, or `pulumi config set gcpx:{0}`"
        missing = [name for name in ("project", "zone") if not getattr(address, name) and inputs.get(name) is None]
        return [(name, words.format(name)) for name in missing]

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Look up project and zone."""
        del olds
        home = self.home(inputs, {})
        checks = OnlineChecks(self._lookups, call, home.project)
        named = "zone" if inputs.get("zone") or not inputs.get("instance") else "instance"
        return checks.run(inputs, [partial(checks.check_zone, home.zone or "", (named,))])

    def home(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> Home:
        """Complete names by where the instance is."""
        given = {**outputs, **inputs}
        if not _INSTANCE[0].fullmatch(text(given, "instance")):
            settings = self._google.settings
            return Home.of(inputs, outputs, project=settings.project, zone=settings.zone)
        address = self._address(given)
        return Home.of({"project": address.project, "zone": address.zone})

    def explained(self, call: Call, inputs: dict[str, Any], error: ProviderError) -> ProviderError:
        """Name the input that something that is missing is named by."""
        return explain_not_found(self._google, call, inputs, error)

    def identity(self, inputs: dict[str, Any]) -> Any:
        """Let every replacement detach first: a disk or a device name is rarely free before."""
        del inputs
        return ()

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Name where the instance is."""
        if not isinstance(inputs.get("instance"), str):
            return {}
        address = self._address(inputs)
        zone = inputs.get("zone")
        kept = zone if isinstance(zone, str) and name_of(zone) == address.zone else address.zone
        places = {name: value for name, value in (("project", address.project), ("zone", kept)) if value}
        return {**places, "kind": "compute#attachedDisk"}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Attach, then look which device it became."""
        address = self._address(inputs)
        source = self._source(address, inputs["disk"])
        body = codec.to_body(self.type, inputs) | {"source": source}
        query = {"forceAttach": True} if inputs.get("forceAttach") else {}
        ours = attrs.evolve(address, device=inputs.get("deviceName") or "", disk=source)
        known = Live.unread(ours.id, {**inputs, "project": address.project, "zone": address.zone})
        with self._alone(call, address), keeping_state(lambda _: known) as creation:
            self._instances(address).act(call, address.instance, "attachDisk", body, **query)
            creation.created()
            live = self._find(call, ours, inputs)
            if live is None:
                raise NotFound(f"Google does not list {source} on {address.path}")
            return live

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Find the disk on the instance; without the instance there is no attachment."""
        known = {name: call.last.get(name) for name in ("deviceName", "disk")}
        return self._find(call, self._parse(resource_id), {**known, **(inputs or {})})

    def update(self, call: Call, resource_id: str, old: dict[str, Any], new: dict[str, Any]) -> Live:
        """Set whether the disk goes with the instance."""
        address = self._parse(resource_id)
        live = super().update(call, resource_id, old, new)
        wanted = bool(new.get("autoDelete"))
        if bool(live.properties.get("autoDelete")) == wanted:
            return live
        device = live.properties["deviceName"]
        with self._alone(call, address):
            self._instances(address).act(
                call, address.instance, "setDiskAutoDelete", None, autoDelete=wanted, deviceName=device
            )
        return super().update(call, resource_id, old, new)

    def delete(self, call: Call, resource_id: str) -> None:
        """Detach the disk, if it is still the one that we attached."""
        address = self._parse(resource_id)
        with self._alone(call, address):
            live = self._find(call, address, call.last)
            if live is None:
                return
            try:
                device = live.properties["deviceName"]
                self._instances(address).act(call, address.instance, "detachDisk", None, deviceName=device)
            except (NotFound, Rejected) as error:
                if self._find(call, address, call.last) is not None:
                    raise error from None

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List the disks on instances, other than boot disks and local SSDs, which belong to the instance itself."""
        scope = f"zones/{name_of(query['zone'])}" if query.get("zone") else ""
        names = ("beta", "instances", "selfLink,disks(deviceName,boot,type)")
        items, after = scoped(self._google, call, query, scope, names, token, size)
        found = [
            Found(f"{path_of(item['selfLink'])}/{_quoted(disk['deviceName'])}", disk["deviceName"])
            for item in items
            for disk in item.get("disks", ())
            if not disk.get("boot") and disk.get("type") != "SCRATCH"
        ]
        return Page(found, after)

    def _find(self, call: Call, address: _Address, known: dict[str, Any]) -> Live | None:
        """Find our disk on the instance. Another disk under our device name is not ours, nor is another device.

        Google's answers tell the device name; before the first of them, and in an ID that names the disk, the disk
        decides. In an import by device name, the device name decides.
        """
        instance = self._instances(address).get(address.instance, call)
        device = known.get("deviceName") or address.device
        disk = address.disk or (self._source(address, known["disk"]) if known.get("disk") else "")
        for found in instance.get("disks", ()) if instance else ():
            if device in {"", found.get("deviceName")} and disk in {"", path_of(found.get("source", ""))}:
                return self._live(address, found, known)
        return None

    def _live(self, address: _Address, found: dict[str, Any], known: dict[str, Any]) -> Live:
        place = {"project": address.project, "zone": address.zone, "instance": address.path}
        force = {"forceAttach": known["forceAttach"]} if known.get("forceAttach") is not None else {}
        properties = codec.from_body(self.type, found)
        return Live(attrs.evolve(address, device=found["deviceName"]).id, {**properties, **place, **force})

    @contextmanager
    def _alone(self, call: Call, address: _Address) -> Iterator[None]:
        """Let one change at a time work on an instance: Google refuses a second one."""
        lock = self._locks.setdefault(address.path, threading.Lock())
        while not lock.acquire(timeout=_ASIDE):
            if call.cancelled.is_set():
                raise CancelledError("cancelled before the call was made; nothing was changed")
        try:
            yield
        finally:
            lock.release()

    def _source(self, address: _Address, disk: str) -> str:
        path = path_of(disk)
        if "/" not in path:
            path = f"zones/{address.zone}/disks/{path}"
        return path if path.startswith("projects/") else f"projects/{address.project}/{path}"

    def _instances(self, address: _Address) -> Collection:
        return Collection(
            google=self._google,
            version="beta",
            project=address.project,
            path=f"zones/{address.zone}/instances",
            timeout=_TIMEOUT,
        )

    def _address(self, inputs: dict[str, Any]) -> _Address:
        settings = self._google.settings
        found = _INSTANCE[0].fullmatch(inputs["instance"])
        if found is None:
            raise InvalidId("an instance", inputs["instance"], (_INSTANCE[1],))
        project = found[1] or inputs.get("project") or settings.project or ""
        zone = found[2] or inputs.get("zone") or settings.zone or ""
        return _Address(project, zone.rpartition("/")[2] if isinstance(zone, str) else "", found[3])

    def _parse(self, resource_id: str) -> _Address:
        path = path_of(resource_id)
        by_disk = re.fullmatch(r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)/(projects/.+/disks/[^/]+)", path)
        if by_disk:
            return _Address(by_disk[1], by_disk[2], by_disk[3], disk=by_disk[4])
        found = re.fullmatch(r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)/([^/]+)", path) or re.fullmatch(
            r"(?:([^/]+)/)?([^/]+)/([^/]+)/([^/]+)", path
        )
        project = (found[1] or self._google.settings.project) if found else None
        if found is None or project is None:
            raise InvalidId(self.token, resource_id, self.id_forms)
        return _Address(project, found[2], found[3], unquote(found[4]))
