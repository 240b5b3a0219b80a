"""InstanceTemplate: what instances are made from. Google never changes one, so every change replaces it.

Source: Compute API, `instanceTemplates` and `regionInstanceTemplates`.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import attrs

from gcpx.compute import image_names as images
from gcpx.compute.collection import Collection
from gcpx.compute.instance_properties.declaration import NAME, InstanceProperties, no_customer_keys
from gcpx.compute.instance_properties.instance_rules import LATE, boot_disk_is_missing
from gcpx.compute.lists.parameters import Filtered
from gcpx.compute.lists.resource_ids import scoped
from gcpx.compute.online_checks import instance_checks
from gcpx.gcp.in_project import InProject
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.model import codec
from gcpx.model.call import Call
from gcpx.model.fields import Record, field, record
from gcpx.model.links import name_of, path_of
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.places import PROJECT, REGION
from gcpx.model.resource import Found, InvalidId, Live, Page
from gcpx.model.rules import Failure, elements, exclusive, nested, one_required, rule
from gcpx.model.values import UNKNOWN, Path

_TIMEOUT = 240.0
_NAMED = (("disks", "initializeParams", "diskType"), ("guestAccelerators", "", "acceleratorType"))
"""Lists of the properties, the object within an element if any, and the field that holds a bare name."""


@rule("customImage and instantiateFrom: CUSTOM_IMAGE require each other", "compute 2.3")
def _custom_image_fits(values: dict[str, Any]) -> list[Failure]:
    source, image = values.get("instantiateFrom"), values.get("customImage")
    if image and source not in ("CUSTOM_IMAGE", UNKNOWN):
        return [("customImage", "needs instantiateFrom: CUSTOM_IMAGE")]
    return [("customImage", "is required with CUSTOM_IMAGE")] if source == "CUSTOM_IMAGE" and not image else []


@record
class DiskInstantiationConfig(Record):
    """What becomes of one disk of the source instance."""

    RULES = (_custom_image_fits, images.image_is_named("customImage"))

    auto_delete: bool = field("Delete the disk together with its instance.")
    custom_image: str = field(
        "The image to use, with `CUSTOM_IMAGE`, in any form that `sourceImage` accepts.",
        url="global/images",
        resolve=images.resolved,
    )
    device_name: str = field("The device name of the disk on the source instance.")
    instantiate_from: str = field(
        "How the disk is created: from the same image or image family, from a custom image, attached read-only, blank, or not at all.",
        enum=(
            "ATTACH_READ_ONLY",
            "BLANK",
            "CUSTOM_IMAGE",
            "DEFAULT",
            "DO_NOT_INCLUDE",
            "SOURCE_IMAGE",
            "SOURCE_IMAGE_FAMILY",
        ),
        source="compute 2.3",
    )


@record
class SourceInstanceParams(Record):
    """How a template follows its source instance."""

    disk_configs: list[DiskInstantiationConfig] = field(
        "One entry for each disk that differs from the default: read-write disks use their source images, read-only disks are attached read-only, local SSDs become blank.",
        identity=("deviceName",),
    )


@rule("sourceInstanceParams needs sourceInstance", "compute 2.3")
def _source_params_need_source(values: dict[str, Any]) -> list[Failure]:
    if values.get("sourceInstanceParams") and not values.get("sourceInstance"):
        return [("sourceInstanceParams", "needs sourceInstance")]
    return []


@rule("the properties of a template have machineType", LATE)
def _needs_machine_type(values: dict[str, Any]) -> list[Failure]:
    properties = values.get("properties")
    if isinstance(properties, dict) and not properties.get("machineType"):
        return [("properties.machineType", "is required: a template must have a machine type")]
    return []


@rule("the properties of a template have a boot disk, which is disks[0]", LATE)
def _needs_a_boot_disk(values: dict[str, Any]) -> list[Failure]:
    properties = values.get("properties")
    if not isinstance(properties, dict):
        return []
    return [(("properties", str(name)), reason) for name, reason in boot_disk_is_missing(properties)]


@rule("the properties of a template have a network interface", LATE)
def _needs_a_network_interface(values: dict[str, Any]) -> list[Failure]:
    properties = values.get("properties")
    if not isinstance(properties, dict) or properties.get("networkInterfaces") not in (None, []):
        return []
    words = "must hold at least one interface, such as [{}] for the network global/networks/default"
    return [("properties.networkInterfaces", words)]


@rule("a template takes bare names for machineType, diskType, acceleratorType and resourcePolicies", "compute 2.2")
def _bare_names(values: dict[str, Any]) -> list[Failure]:
    """Refuse URLs where a template, which is of no zone, can only hold names."""
    properties = nested(values, "properties")
    places: list[tuple[Path, Any]] = [(("properties", "machineType"), properties.get("machineType"))]
    for name, within, key in _NAMED:
        for index, item in elements(properties, name):
            owner = nested(item, within) if within else item
            places.append(
                (tuple(part for part in ("properties", name, index, within, key) if part != ""), owner.get(key))
            )
    places += _policies(properties)
    reason = "must be the bare name, the part after the last slash; a template does not accept a URL here"
    return [(path, reason) for path, value in places if isinstance(value, str) and "/" in value]


def _policies(properties: dict[str, Any]) -> list[tuple[Path, Any]]:
    """Give the names of policies, of the instances and of each disk."""
    owners: list[tuple[Path, dict[str, Any]]] = [(("properties",), properties)]
    for index, disk in elements(properties, "disks"):
        owners.append((("properties", "disks", index, "initializeParams"), nested(disk, "initializeParams")))
    lists = ((path, owner.get("resourcePolicies")) for path, owner in owners)
    return [
        ((*path, "resourcePolicies", index), item)
        for path, given in lists
        for index, item in enumerate(given if isinstance(given, list) else ())
    ]


@rule("a template does not accept customer-supplied keys", "compute 2.2")
def _keys_are_googles(values: dict[str, Any]) -> list[Failure]:
    return no_customer_keys("properties", values)


@record
class InstanceTemplateModel(Record):
    """An instance template, global or of one region.

    It is made from `properties`, or from a running instance with `sourceInstance`. Google Cloud never changes a
    template, so any change to one replaces it; the preview says so beforehand.
    """

    RULES = (
        exclusive("properties", "sourceInstance"),
        one_required("properties", "sourceInstance"),
        _source_params_need_source,
        _needs_machine_type,
        _needs_a_boot_disk,
        _needs_a_network_interface,
        _bare_names,
        _keys_are_googles,
    )

    creation_timestamp: str = field("When the template was created (RFC 3339).", output=True, always=True)
    description: str = field("A description of the template.", max_length=2048)
    kind: str = field("Always `compute#instanceTemplate`.", output=True, always=True)
    name: str = field(
        "The name: 1 to 63 characters (RFC 1035). Default: generated from the resource's name.",
        always=True,
        pattern=NAME,
        source="compute 2.1, 8",
    )
    numeric_id: str = field("The numeric ID that Google assigned to the template.", output=True, wire="id", always=True)
    project: str = field("The project. Default: the provider's.", always=True, param=True, pattern=PROJECT)
    properties: InstanceProperties = field(
        "The properties of the instances. Conflicts with `sourceInstance`, from which Google fills it in.",
        computed=True,
        always=True,
    )
    region: str = field(
        "The region of a regional template. Default: none, so the template is global.",
        param=True,
        pattern=REGION,
        normalize=name_of,
    )
    self_link: str = field("The template's URL.", output=True, always=True)
    self_link_unique: str = field(
        "The template's URL with its numeric ID, which no later template of the same name has.",
        output=True,
        always=True,
    )
    source_instance: str = field(
        "The instance to create the template from: `projects/P/zones/Z/instances/I` or its URL. Conflicts with `properties`.",
        url="zones/instances",
    )
    source_instance_params: SourceInstanceParams = field(
        "How the template is created from its source instance.", write_only=True
    )


@record
class InstanceTemplateQuery(Filtered):
    """Which templates to list."""

    region: str = field(
        "Only the regional templates of this region. Default: all templates, including global ones.", pattern=REGION
    )


@attrs.frozen
class _Address:
    project: str
    region: str | None
    name: str

    @property
    def scope(self) -> str:
        return f"regions/{self.region}" if self.region else "global"

    @property
    def id(self) -> str:
        return f"projects/{self.project}/{self.scope}/instanceTemplates/{self.name}"


def _unique(resource_id: str, found: dict[str, Any]) -> str:
    """Give the end that an ID with `?uniqueId=` has to have; any other may end as it likes."""
    return f"?uniqueId={found.get('id')}" if "?uniqueId=" in resource_id else ""


class InstanceTemplate(InProject):
    """Templates by name in `global/instanceTemplates` or `regions/R/instanceTemplates`."""

    token = "gcpx:compute:InstanceTemplate"
    model = InstanceTemplateModel
    query = InstanceTemplateQuery
    autoname = Autoname(property="name", pattern=NAME[0], max_length=63)
    in_place = frozenset()
    derived = frozenset({"sourceInstance"})
    id_forms = (
        "projects/PROJECT/global/instanceTemplates/NAME",
        "projects/PROJECT/regions/REGION/instanceTemplates/NAME",
        "PROJECT/REGION/NAME",
        "PROJECT/NAME",
        "NAME",
        "a self link, also with ?uniqueId=",
    )

    def check_online(self, call: Call, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Look up what the properties name."""
        del olds
        home = self.home(inputs, {})
        checks = OnlineChecks(self._lookups, call, home.project, home.region)
        return checks.run(inputs, instance_checks(checks, nested(inputs, "properties"), ("properties",)))

    def identity(self, inputs: dict[str, Any]) -> Any:
        """No two templates of a scope share a name."""
        return None if inputs.get(AUTONAMED) else self._address(inputs)

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Name what is certain: of properties that come from an instance nothing is."""
        return {"project": self._project(inputs), "kind": "compute#instanceTemplate"}

    def create(self, call: Call, inputs: dict[str, Any]) -> Live:
        """Insert, then read back by the ID that the operation names."""
        address = self._address(inputs)
        body = codec.to_body(self.type, inputs)
        collection = self._collection(address, beta=codec.uses_beta(self.type, inputs))
        known = partial(self._unread, address.id, {**inputs, "project": address.project})
        with keeping_state(known) as creation:
            operation = collection.insert(call, body, address.name)
            creation.created(operation)
            return self._live(address, collection.made(call, address.name, operation))

    def read(self, call: Call, resource_id: str, inputs: dict[str, Any] | None) -> Live | None:
        """Get by name; another template that took the name in the meantime is not ours."""
        address = self._parse(resource_id)
        beta = self._needs_beta(call, address) if inputs is None else codec.uses_beta(self.type, inputs)
        found = self._collection(address, beta=beta).get(address.name, call)
        if found is None or self._is_another(call, found) or not resource_id.endswith(_unique(resource_id, found)):
            return None
        return self._live(address, found)

    def delete(self, call: Call, resource_id: str) -> None:
        """Delete by name, after making sure that the name still stands for our template."""
        address = self._parse(resource_id)
        collection = self._collection(address, beta=False)
        if call.last.get("numericId"):
            found = collection.get(address.name, call)
            if found is None or self._is_another(call, found):
                return
        collection.delete(call, address.name)

    def page(self, call: Call, query: dict[str, Any], token: str, size: int) -> Page:
        """List a region's templates, or those of all scopes."""
        scope = f"regions/{name_of(query['region'])}" if query.get("region") else ""
        names = ("v1", "instanceTemplates", "selfLink,name")
        items, after = scoped(self._google, call, query, scope, names, token, size)
        return Page([Found(path_of(item["selfLink"]), item["name"]) for item in items], after)

    def _needs_beta(self, call: Call, address: _Address) -> bool:
        """Ask the beta path, the only one that shows every field, whether a template to be imported has a beta one."""
        found = self._collection(address, beta=True).get(address.name, call)
        return found is not None and codec.uses_beta(
            self.type, codec.minimal(self.type, codec.from_body(self.type, found))
        )

    def _live(self, address: _Address, found: dict[str, Any]) -> Live:
        properties = codec.from_body(self.type, found)
        link = str(found.get("selfLink", ""))
        extra = {"project": address.project, "selfLinkUnique": f"{link}?uniqueId={found.get('id')}"}
        region = {"region": address.region} if address.region else {}
        return Live(address.id, {**properties, **extra, **region})

    def _collection(self, address: _Address, *, beta: bool) -> Collection:
        return Collection(
            google=self._google,
            version="beta" if beta else "v1",
            project=address.project,
            path=f"{address.scope}/instanceTemplates",
            timeout=_TIMEOUT,
            view="FULL" if beta else None,  # without it, partner metadata is left out
        )

    def _address(self, inputs: dict[str, Any]) -> _Address:
        region = inputs.get("region")
        return _Address(
            self._project(inputs) or "",
            str(region).rpartition("/")[2] if region and region is not UNKNOWN else None,
            inputs.get("name", ""),
        )

    def _parse(self, resource_id: str) -> _Address:
        path = path_of(resource_id)
        full = re.fullmatch(
            r"projects/([^/]+)/(?:global|regions/([^/]+))/instanceTemplates/([^/]+)", path
        ) or re.fullmatch(r"([^/]+)/(?:([^/]+)/)?([^/]+)", path)
        if full:
            return _Address(full[1], full[2], full[3])
        project = self._google.settings.project
        if project and NAME[0].fullmatch(path):
            return _Address(project, None, path)
        raise InvalidId(self.token, resource_id, self.id_forms)
