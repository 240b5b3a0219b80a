"""InstanceTemplate: templates of instances, global and regional: create, read, delete, list.

A template never changes, so every change replaces it. Source: REST reference, `instanceTemplates` and
`regionInstanceTemplates`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import attrs

from gcpx.compute import image_names
from gcpx.compute.collection import Collection, EarlierInsertions, inserted_name
from gcpx.compute.instance_properties.disks import no_customer_keys
from gcpx.compute.instance_properties.properties import InstanceProperties, boot_disk_is_missing
from gcpx.compute.listing import ImportableResources, ListQuery
from gcpx.compute.online_checks import instance_checks
from gcpx.compute.reference import NAME, rest
from gcpx.gcp.client import GoogleClient
from gcpx.gcp.in_project import InProject, Lookups
from gcpx.gcp.list_method import link_of
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.gcp.partial_state import keeping_state
from gcpx.model import codec
from gcpx.model.fields import (
    Failure,
    Record,
    elements,
    exclusive,
    field,
    nested,
    one_required,
    output_field,
    record,
    rule,
)
from gcpx.model.links import name_of, path_of
from gcpx.model.naming import AUTONAMED, Autoname
from gcpx.model.patterns import PROJECT, REGION
from gcpx.model.resource import Context, InvalidId, ListedResource, Page, State
from gcpx.model.state import minimal_inputs
from gcpx.model.values import UNKNOWN, Path

_INSTANTIATE_FROM: Final = rest("instanceTemplates", "sourceInstanceParams.diskConfigs[].instantiateFrom")


@rule("customImage and instantiateFrom: CUSTOM_IMAGE must be set together", _INSTANTIATE_FROM)
def custom_image_and_instantiate_from_require_each_other(values: dict[str, Any]) -> list[Failure]:
    """Refuse one without the other."""
    source, image = values.get("instantiateFrom"), values.get("customImage")
    if image and source not in ("CUSTOM_IMAGE", UNKNOWN):
        return [Failure("customImage", "requires instantiateFrom: CUSTOM_IMAGE")]
    return [Failure("customImage", "is required with CUSTOM_IMAGE")] if source == "CUSTOM_IMAGE" and not image else []


@rule("sourceInstanceParams requires sourceInstance", rest("instanceTemplates", "sourceInstanceParams"))
def source_instance_params_require_source_instance(values: dict[str, Any]) -> list[Failure]:
    """Refuse parameters of a source instance without a source instance."""
    if values.get("sourceInstanceParams") and not values.get("sourceInstance"):
        return [Failure("sourceInstanceParams", "requires sourceInstance: set it, or remove sourceInstanceParams")]
    return []


@rule("the properties of a template must include machineType", rest("instanceTemplates", "properties.machineType"))
def properties_include_machine_type(values: dict[str, Any]) -> list[Failure]:
    """Require a machine type, which Google requires when the template is created."""
    properties = values.get("properties")
    if isinstance(properties, dict) and not properties.get("machineType"):
        return [Failure("properties.machineType", "is required: a template must have a machine type")]
    return []


@rule("the properties of a template must include a boot disk, disks[0]", rest("instanceTemplates", "properties.disks"))
def properties_include_boot_disk(values: dict[str, Any]) -> list[Failure]:
    """Require a boot disk, which Google requires when the template is created."""
    properties = values.get("properties")
    if not isinstance(properties, dict):
        return []
    return [failure.below("properties") for failure in boot_disk_is_missing(properties)]


@rule(
    "the properties of a template must include a network interface",
    rest("instanceTemplates", "properties.networkInterfaces"),
)
def properties_include_network_interface(values: dict[str, Any]) -> list[Failure]:
    """Require a network interface, which Google requires when the template is created."""
    properties = values.get("properties")
    if not isinstance(properties, dict) or properties.get("networkInterfaces") not in (None, []):
        return []
    words = "must have at least one interface, such as [{}] for the network global/networks/default"
    return [Failure("properties.networkInterfaces", words)]


@rule(
    "machineType, diskType, acceleratorType and resourcePolicies in properties must be names, not URLs",
    rest("instanceTemplates", "properties.disks[].initializeParams.diskType"),
)
def types_and_policies_are_names(values: dict[str, Any]) -> list[Failure]:
    """Refuse URLs of zonal resources, because a template has no zone."""
    reason = "must be a bare name, not a URL, in a template: write only the part after the last slash"
    places = _types_and_policies(nested(values, "properties"))
    return [Failure(("properties", *path), reason) for path, value in places if isinstance(value, str) and "/" in value]


def _types_and_policies(properties: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    """Find every type and policy in instance properties, with its path in them."""
    yield ("machineType",), properties.get("machineType")
    yield from _policies(("resourcePolicies",), properties)
    for index, disk in elements(properties, "disks"):
        parameters, path = nested(disk, "initializeParams"), ("disks", index, "initializeParams")
        yield (*path, "diskType"), parameters.get("diskType")
        yield from _policies((*path, "resourcePolicies"), parameters)
    for index, accelerator in elements(properties, "guestAccelerators"):
        yield ("guestAccelerators", index, "acceleratorType"), accelerator.get("acceleratorType")


def _policies(path: Path, owner: dict[str, Any]) -> Iterator[tuple[Path, Any]]:
    policies = owner.get("resourcePolicies")
    for index, policy in enumerate(policies if isinstance(policies, list) else ()):
        yield (*path, index), policy


@rule(
    "properties must not have customer-supplied encryption keys, which a template does not store",
    rest("instanceTemplates", "properties.disks[].diskEncryptionKey"),
)
def customer_supplied_keys_are_absent(values: dict[str, Any]) -> list[Failure]:
    """Refuse keys that a template does not store."""
    return no_customer_keys("properties", values)


@record
class DiskInstantiationConfig(Record):
    """What the template contains for one disk of the source instance."""

    RULES = (custom_image_and_instantiate_from_require_each_other, image_names.image_name_form("customImage"))

    auto_delete: bool = field("Delete the disk when its instance is deleted.")
    custom_image: str = field(
        "The image to create the disk from, such as `debian-12`, in any form that `sourceImage` accepts. Requires `instantiateFrom: CUSTOM_IMAGE`.",
        url="global/images",
        resolve=image_names.resolve,
    )
    device_name: str = field("The disk's device name on the source instance, such as `persistent-disk-1`.")
    instantiate_from: str = field(
        "Where the disk comes from: `SOURCE_IMAGE` (the image of the source disk), `SOURCE_IMAGE_FAMILY` (the family of that image), `CUSTOM_IMAGE` (the image in `customImage`), `ATTACH_READ_ONLY` (the source disk itself, attached read-only), `BLANK` (a new, empty disk), `DO_NOT_INCLUDE` (the template has no such disk) or `DEFAULT` (what Google does by default for this type of disk).",
        enum=(
            "ATTACH_READ_ONLY",
            "BLANK",
            "CUSTOM_IMAGE",
            "DEFAULT",
            "DO_NOT_INCLUDE",
            "SOURCE_IMAGE",
            "SOURCE_IMAGE_FAMILY",
        ),
        source=rest("instanceTemplates", "sourceInstanceParams.diskConfigs[].instantiateFrom"),
    )


@record
class SourceInstanceParams(Record):
    """How the template is created from its source instance."""

    disk_configs: list[DiskInstantiationConfig] = field(
        "Disks that differ from the default, one entry for each. Default: read-write disks are created from their source images, read-only disks are attached read-only, and local SSDs are created blank.",
        identity=("deviceName",),
    )


@record
class InstanceTemplateModel(Record):
    """An instance template: the properties that new instances are created with, global or for one region.

    Set either `properties`, or `sourceInstance` to copy the properties of an existing instance.

    Google Cloud does not allow changes to a template, so every change replaces it; a preview shows which property
    causes the replacement.
    """

    RULES = (
        exclusive("properties", "sourceInstance"),
        one_required("properties", "sourceInstance"),
        source_instance_params_require_source_instance,
        properties_include_machine_type,
        properties_include_boot_disk,
        properties_include_network_interface,
        types_and_policies_are_names,
        customer_supplied_keys_are_absent,
    )

    creation_timestamp: str = output_field("When the template was created (RFC 3339).", always=True)
    description: str = field("A description of the template, at most 2,048 characters.", max_length=2048)
    kind: str = output_field("Always `compute#instanceTemplate`.", always=True)
    name: str = field(
        "The template's name, such as `web-1`: 1 to 63 lower-case letters, digits and hyphens, beginning with a letter and not ending in a hyphen. Default: generated from the resource's name.",
        always=True,
        pattern=NAME,
        source=rest("instanceTemplates", "name"),
    )
    numeric_id: str = output_field("The numeric ID that Google assigned to the template.", wire="id", always=True)
    project: str = field(
        "The ID or number of the project, such as `my-project`. Default: the provider's project.",
        always=True,
        in_url=True,
        pattern=PROJECT,
    )
    properties: InstanceProperties = field(
        "The properties of the instances. Required without `sourceInstance`, from which they are otherwise copied. Conflicts with `sourceInstance`.",
        computed=True,
        always=True,
    )
    region: str = field(
        "The region of a regional template, such as `us-east1`. Default: none; the template is global.",
        in_url=True,
        pattern=REGION,
        normalize=name_of,
    )
    self_link: str = output_field("The template's URL.", always=True)
    self_link_unique: str = output_field(
        "The template's URL with its numeric ID. Unlike `selfLink`, it never refers to a later template with the same name.",
        always=True,
    )
    source_instance: str = field(
        "The instance to create the template from, such as `projects/my-project/zones/us-east1-b/instances/web`, or its URL. Conflicts with `properties`.",
        url="zones/instances",
        forgotten=True,
    )
    source_instance_params: SourceInstanceParams = field(
        "How the template is created from its source instance, such as `{diskConfigs: [{deviceName: data, instantiateFrom: BLANK}]}`. Requires `sourceInstance`. Google does not return it.",
        write_only=True,
    )


@record
class InstanceTemplateQuery(ListQuery):
    """Which templates to list."""

    region: str = field(
        "List only the regional templates of this region, such as `us-east1`. Default: global templates and those of all regions.",
        pattern=REGION,
    )


_TIMEOUT: Final = 240.0
"""Seconds that an operation may take if the user sets no custom timeout."""
_FULL_ID: Final = re.compile(r"projects/([^/]+)/(?:global|regions/([^/]+))/instanceTemplates/([^/]+)")
_SHORT_ID: Final = re.compile(r"([^/]+)/(?:([^/]+)/)?([^/]+)")


@attrs.frozen
class _Address:
    """A template's project, region (None for a global template) and name."""

    project: str
    region: str | None
    name: str

    @property
    def scope(self) -> str:
        return f"regions/{self.region}" if self.region else "global"

    @property
    def id(self) -> str:
        return f"projects/{self.project}/{self.scope}/instanceTemplates/{self.name}"


class InstanceTemplate(InProject):
    """Instance templates, identified by name in `global/instanceTemplates` or `regions/R/instanceTemplates`."""

    token = "gcpx:compute:InstanceTemplate"
    model = InstanceTemplateModel
    query = InstanceTemplateQuery
    autoname = Autoname(property="name", pattern=NAME[0], max_length=63)
    left_out_of_imports = frozenset({"sourceInstance"})
    id_forms = (
        "projects/PROJECT/global/instanceTemplates/NAME",
        "projects/PROJECT/regions/REGION/instanceTemplates/NAME",
        "PROJECT/REGION/NAME",
        "PROJECT/NAME",
        "NAME",
        "a self link, also with ?uniqueId=",
    )
    operation_timeout = _TIMEOUT

    def __init__(self, google: GoogleClient, lookups: Lookups) -> None:
        super().__init__(google, lookups)
        self._earlier = EarlierInsertions(self.token)

    def check_online(self, context: Context, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Check that what the properties name exists."""
        del olds
        location = self.location(inputs, {})
        checks = OnlineChecks(self._lookups, context, location.project, location.region)
        return checks.run(inputs, instance_checks(checks, nested(inputs, "properties"), ("properties",)))

    def unique_key(self, inputs: dict[str, Any]) -> Any:
        """Return scope and name, which two templates cannot share; None for a generated name."""
        return None if inputs.get(AUTONAMED) else self._address(inputs)

    def predict(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Predict the project. Properties that come from a source instance cannot be predicted."""
        return {"project": self._project(inputs), "kind": "compute#instanceTemplate"}

    def create(self, context: Context, inputs: dict[str, Any]) -> State:
        """Insert the template, then read it by the numeric ID that the operation returns."""
        address = self._address(inputs)
        body = codec.to_body(self.type, inputs)
        collection = self._collection(address, beta=codec.uses_beta(self.type, inputs))
        with keeping_state(partial(self._unread_template, address, inputs)) as creation:
            inserted = collection.insert(context, body)
            creation.created(inserted.operation)
            named = _named_by(address, inserted.operation)
            state = self._state(named, collection.read_inserted(context, named.name, inserted.operation))
        self._earlier.warn(context, collection, inserted.operation)
        return attrs.evolve(state, adopted=inserted.earlier)

    def settle(self, context: Context, resource_id: str) -> None:
        """Wait for what interrupted runs are still inserting."""
        address = self._parse(resource_id)
        self._collection(address, beta=False).settle(context, address.name)

    def read(self, context: Context, resource_id: str, inputs: dict[str, Any] | None) -> State | None:
        """Read by name; a template with another numeric ID is not this resource."""
        address = self._parse(resource_id)
        beta = self._needs_beta(context, address) if inputs is None else codec.uses_beta(self.type, inputs)
        collection = self._collection(address, beta=beta)
        template = collection.get_own(context, address.name)
        if template is None or _has_other_unique_id(resource_id, template):
            return None
        return self._state(address, template)

    def delete(self, context: Context, resource_id: str) -> None:
        """Delete by numeric ID, so that another template of this name stays."""
        address = self._parse(resource_id)
        self._collection(address, beta=False).delete(context, address.name)

    def page(self, context: Context, query: dict[str, Any], token: str, size: int) -> Page:
        """List the templates of a region, or those of all scopes."""
        templates = ImportableResources(
            google=self._google,
            project=self._project(query),
            version="v1",
            collection="instanceTemplates",
            fields="selfLink,name",
            scope=f"regions/{name_of(query['region'])}" if query.get("region") else "",
            filter=query.get("filter"),
        )
        items, next_token = templates.read_page(context, token, size)
        return Page([ListedResource(link_of(item), item["name"]) for item in items], next_token)

    def _needs_beta(self, context: Context, address: _Address) -> bool:
        """Return whether a template to be imported has beta properties, which only the beta path returns."""
        template = self._collection(address, beta=True).get(context, address.name)
        return template is not None and codec.uses_beta(
            self.type, minimal_inputs(self.type, codec.from_body(self.type, template))
        )

    def _unread_template(self, address: _Address, inputs: dict[str, Any], operation: dict[str, Any]) -> State:
        named = _named_by(address, operation)
        return self._unread(named.id, {**inputs, "name": named.name, "project": named.project}, operation)

    def _state(self, address: _Address, template: dict[str, Any]) -> State:
        properties = codec.from_body(self.type, template)
        unique_link = f"{template.get('selfLink', '')}?uniqueId={template.get('id')}"
        region = {"region": address.region} if address.region else {}
        return State(address.id, {**properties, "project": address.project, "selfLinkUnique": unique_link, **region})

    def _collection(self, address: _Address, *, beta: bool) -> Collection:
        return Collection(
            google=self._google,
            version="beta" if beta else "v1",
            project=address.project,
            path=f"{address.scope}/instanceTemplates",
            timeout=_TIMEOUT,
            view="FULL" if beta else None,  # the default view leaves out partner metadata
        )

    def _address(self, inputs: dict[str, Any]) -> _Address:
        region = inputs.get("region")
        return _Address(
            self._project(inputs) or "",
            name_of(region) if region and region is not UNKNOWN else None,
            inputs.get("name", ""),
        )

    def _parse(self, resource_id: str) -> _Address:
        path = path_of(resource_id)
        parts = _FULL_ID.fullmatch(path) or _SHORT_ID.fullmatch(path)
        if parts:
            return _Address(parts[1], parts[2], parts[3])
        project = self._google.settings.project
        if project and NAME[0].fullmatch(path):
            return _Address(project, None, path)
        raise InvalidId(self.token, resource_id, self.id_forms)


def _named_by(address: _Address, operation: dict[str, Any]) -> _Address:
    """Return the address of the template that an operation creates."""
    return attrs.evolve(address, name=inserted_name(operation, address.name))


def _has_other_unique_id(resource_id: str, template: dict[str, Any]) -> bool:
    """Return whether an ID ends with `?uniqueId=` and the numeric ID of another template."""
    _, has_unique_id, unique_id = resource_id.partition("?uniqueId=")
    return bool(has_unique_id) and unique_id != str(template.get("id"))
