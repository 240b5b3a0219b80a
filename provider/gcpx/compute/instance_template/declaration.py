"""The properties of an instance template.

Source: REST reference, `instanceTemplates` and `regionInstanceTemplates`.
"""

from __future__ import annotations

from gcpx.compute import image_names
from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties.declaration import InstanceProperties
from gcpx.compute.instance_template import template_rules
from gcpx.compute.list_query import ListQuery
from gcpx.compute.name_pattern import NAME
from gcpx.model.fields import Record, field, output_field, record
from gcpx.model.links import name_of
from gcpx.model.location_patterns import PROJECT, REGION
from gcpx.model.rules import exclusive, one_required


@record
class DiskInstantiationConfig(Record):
    """What the template contains for one disk of the source instance."""

    RULES = (
        template_rules.custom_image_and_instantiate_from_require_each_other,
        image_names.image_name_form("customImage"),
    )

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

    Set either `properties`, or `sourceInstance` to copy the properties of an existing instance. Google Cloud does not
    allow changes to a template, so every change replaces it; a preview shows which property causes the replacement.
    """

    RULES = (
        exclusive("properties", "sourceInstance"),
        one_required("properties", "sourceInstance"),
        template_rules.source_instance_params_require_source_instance,
        template_rules.properties_include_machine_type,
        template_rules.properties_include_boot_disk,
        template_rules.properties_include_network_interface,
        template_rules.types_and_policies_are_names,
        template_rules.customer_supplied_keys_are_absent,
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
