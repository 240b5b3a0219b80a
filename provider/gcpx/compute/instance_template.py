"""InstanceTemplate: templates of instances, global and regional: create, read, delete, list.

A template never changes, so every change replaces it. Source: REST reference, `instanceTemplates` and
`regionInstanceTemplates`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs

from gcpx.compute import image_names
from gcpx.compute.instance_properties.disks import NO_CUSTOMER_KEYS, ZONAL_DISK, customer_keys
from gcpx.compute.instance_properties.properties import InstanceProperties, boot_disk_is_missing
from gcpx.compute.listing import ListQuery
from gcpx.compute.named_resource import Address, NamedResource
from gcpx.compute.online_checks import instance_checks
from gcpx.compute.reference import INSTANCE_IN_ZONE, NAME, rest
from gcpx.gcp.online_checks import OnlineChecks
from gcpx.model import codec
from gcpx.model.context import Context
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
    requirement,
    requirement_of_each,
    rule,
    text,
)
from gcpx.model.links import name_of
from gcpx.model.patterns import PROJECT, REGION
from gcpx.model.resource import State
from gcpx.model.state import minimal_inputs
from gcpx.model.values import UNKNOWN, Path

if TYPE_CHECKING:
    from gcpx.compute.value_types import DiskInstantiationConfigValues, InstancePropertiesValues, InstanceTemplateValues

_INSTANTIATE_FROM: Final = rest("instanceTemplates", "sourceInstanceParams.diskConfigs[].instantiateFrom")


@requirement("customImage", "must be set together with instantiateFrom: CUSTOM_IMAGE", _INSTANTIATE_FROM)
def custom_image_and_instantiate_from_require_each_other(values: DiskInstantiationConfigValues) -> bool:
    source, image = values.get("instantiateFrom"), values.get("customImage")
    return source in ("CUSTOM_IMAGE", UNKNOWN) if image else source != "CUSTOM_IMAGE"


@requirement(
    "sourceInstanceParams",
    "requires sourceInstance: set it, or remove sourceInstanceParams",
    rest("instanceTemplates", "sourceInstanceParams"),
)
def source_instance_params_require_source_instance(values: InstanceTemplateValues) -> bool:
    return not values.get("sourceInstanceParams") or bool(values.get("sourceInstance"))


@requirement(
    "properties.machineType",
    "is required: a template must have a machine type",
    rest("instanceTemplates", "properties.machineType"),
)
def properties_include_machine_type(values: InstanceTemplateValues) -> bool:
    properties = values.get("properties")
    return not isinstance(properties, dict) or bool(properties.get("machineType"))


@rule(
    "", "the properties of a template must include a boot disk, disks[0]", rest("instanceTemplates", "properties.disks")
)
def properties_include_boot_disk(values: InstanceTemplateValues) -> list[Failure]:
    properties = values.get("properties")
    if not isinstance(properties, dict):
        return []
    return [failure.below("properties") for failure in boot_disk_is_missing(properties)]


@requirement(
    "properties.networkInterfaces",
    "must have at least one interface; an empty one is in the network global/networks/default",
    rest("instanceTemplates", "properties.networkInterfaces"),
)
def properties_include_network_interface(values: InstanceTemplateValues) -> bool:
    properties = values.get("properties")
    return not isinstance(properties, dict) or properties.get("networkInterfaces") not in (None, [])


@requirement_of_each(
    "each machineType, diskType, acceleratorType and resource policy in properties",
    "must be a bare name, not a URL, in a template: write only the part after the last slash",
    rest("instanceTemplates", "properties.disks[].initializeParams.diskType"),
)
def types_and_policies_are_names(values: InstanceTemplateValues) -> Iterator[Path]:
    for path, value in _types_and_policies(nested(values, "properties")):
        if isinstance(value, str) and "/" in value:
            yield ("properties", *path)


@requirement_of_each(
    "properties.disks[].source",
    "must be the bare name of a zonal disk, not its URL, in a template: write only the part after the last slash",
    rest("instanceTemplates", "properties.disks[].source"),
)
def zonal_disks_are_names(values: InstanceTemplateValues) -> Iterator[Path]:
    for index, disk in elements(nested(values, "properties"), "disks"):
        if ZONAL_DISK.fullmatch(text(disk, "source")):
            yield ("properties", "disks", index, "source")


def _types_and_policies(properties: InstancePropertiesValues) -> Iterator[tuple[Path, Any]]:
    """Find every type and policy in instance properties, with its path in them."""
    yield ("machineType",), properties.get("machineType")
    yield from _policies(("resourcePolicies",), properties.get("resourcePolicies"))
    for index, disk in elements(properties, "disks"):
        parameters, path = nested(disk, "initializeParams"), ("disks", index, "initializeParams")
        yield (*path, "diskType"), parameters.get("diskType")
        yield from _policies((*path, "resourcePolicies"), parameters.get("resourcePolicies"))
    for index, accelerator in elements(properties, "guestAccelerators"):
        yield ("guestAccelerators", index, "acceleratorType"), accelerator.get("acceleratorType")


def _policies(path: Path, policies: Any) -> Iterator[tuple[Path, Any]]:
    for index, policy in enumerate(policies if isinstance(policies, list) else ()):
        yield (*path, index), policy


@requirement_of_each(
    "properties.disks[].diskEncryptionKey",
    NO_CUSTOMER_KEYS,
    rest("instanceTemplates", "properties.disks[].diskEncryptionKey"),
)
def customer_supplied_keys_are_absent(values: InstanceTemplateValues) -> Iterator[Path]:
    return customer_keys("properties", values)


@record
class DiskInstantiationConfig(Record):
    """What the template contains for one disk of the source instance."""

    RULES = (
        custom_image_and_instantiate_from_require_each_other,
        image_names.image_name_form("customImage"),
        image_names.known_image_family("customImage"),
    )

    auto_delete: bool = field(
        "Delete the disk when its instance is deleted. Default: as on the source instance.", computed=True
    )
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

    HINTS: ClassVar = {
        "instanceDescription": "must be written `properties: {description: DESCRIPTION}` here",
        "metadataStartupScript": "must be written `properties: {metadata: {items: [{key: startup-script, value: SCRIPT}]}}` here",
        "namePrefix": "must be left out: without `name`, the template's name begins with the name of the resource",
        "serviceAccount": "must be written `properties: {serviceAccounts: [{email: EMAIL, scopes: [SCOPE]}]}` here",
    }
    RULES = (
        exclusive("properties", "sourceInstance"),
        one_required("properties", "sourceInstance"),
        source_instance_params_require_source_instance,
        properties_include_machine_type,
        properties_include_boot_disk,
        properties_include_network_interface,
        types_and_policies_are_names,
        zonal_disks_are_names,
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
    self_link: str = output_field("The template's URL.", always=True, url="global/instanceTemplates")
    self_link_unique: str = output_field(
        "The template's URL with its numeric ID. Unlike `selfLink`, it never refers to a later template with the same name.",
        always=True,
        url="global/instanceTemplates",
    )
    source_instance: str = field(
        "The instance to create the template from, such as `projects/my-project/zones/us-east1-b/instances/web`, or its URL. Conflicts with `properties`.",
        url="zones/instances",
        pattern=INSTANCE_IN_ZONE,
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
        "List only the regional templates of this region, such as `us-east1`. Default: the templates of all regions, and the global ones.",
        pattern=REGION,
    )


class InstanceTemplate(NamedResource):
    """Instance templates, identified by name in `global/instanceTemplates` or `regions/R/instanceTemplates`."""

    token = "gcpx:compute:InstanceTemplate"
    model = InstanceTemplateModel
    query = InstanceTemplateQuery
    collection = "instanceTemplates"
    version = "v1"
    left_out_of_imports = frozenset({"sourceInstance"})
    id_forms = (
        "projects/PROJECT/global/instanceTemplates/NAME",
        "projects/PROJECT/regions/REGION/instanceTemplates/NAME",
        "PROJECT/REGION/NAME",
        "PROJECT/NAME",
        "NAME",
        "a self link, with or without ?uniqueId=",
    )
    operation_timeout = 240.0

    def check_online(self, context: Context, olds: dict[str, Any], inputs: dict[str, Any]) -> list[Failure]:
        """Check the place and, unless the template exists already, its sources."""
        location = self.location(inputs, {})
        checks = OnlineChecks(self._lookups, context, location.project, location.region)
        if not self.creates(olds, inputs):
            return checks.run(inputs, [])
        source = partial(checks.check_link, text(inputs, "sourceInstance"), "", ("sourceInstance",))
        return checks.run(inputs, [source, *instance_checks(checks, nested(inputs, "properties"), ("properties",))])

    def beta(self, inputs: dict[str, Any] | None) -> bool:
        """Return whether a template may have beta properties, which only the beta path accepts and returns."""
        return inputs is None or codec.uses_beta(self.type, inputs)

    def read(self, context: Context, resource_id: str, inputs: dict[str, Any] | None) -> State | None:
        """Read the template; an imported one without beta properties gets the links of its later reads."""
        state = super().read(context, resource_id, inputs)
        if state is None or inputs is not None or self.beta(minimal_inputs(self.type, state.properties)):
            return state
        return attrs.evolve(state, properties=codec.with_links_of(self.version, self.type, state.properties))

    def state(self, address: Address, found: dict[str, Any]) -> State:
        """Describe a template, with its unique link."""
        state = super().state(address, found)
        unique_link = f"{found.get('selfLink', '')}?uniqueId={found.get('id')}"
        return State(state.id, {**state.properties, "selfLinkUnique": unique_link})
