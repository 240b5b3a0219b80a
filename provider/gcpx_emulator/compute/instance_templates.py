"""Instance templates, global and regional."""

from __future__ import annotations

import re
from typing import Final

from gcpx_emulator.compute.call import Call, handles
from gcpx_emulator.compute.deprecations import image_warnings
from gcpx_emulator.compute.encryption import is_customer_supplied
from gcpx_emulator.compute.instance_copies import copied_properties
from gcpx_emulator.compute.instance_properties import check_properties, kept_properties
from gcpx_emulator.compute.lists import aggregate, list_scope
from gcpx_emulator.compute.locations import REGIONS, check_location, region_in
from gcpx_emulator.compute.names import check_free, check_name
from gcpx_emulator.compute.version_views import show
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.json_data import Json

_REGIONAL: Final = re.compile(r"projects/[^/]+/regions/([^/]+)/instanceTemplates/[^/]+")


@handles("compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert")
def insert_template(call: Call) -> Json:
    """Create a template, from properties or from an instance."""
    check_location(call)
    path = f"{call.parent}/instanceTemplates/{check_name(call.body)}"
    check_free(call, path)
    properties = _properties(call)
    given = {name: value for name, value in call.body.items() if name != "sourceInstanceParams"}
    template = given | {
        "kind": "compute#instanceTemplate",
        "id": call.new_id(),
        "creationTimestamp": timestamp(),
        "selfLink": call.url(path),
        "properties": kept_properties(call, properties),
        **_links(call),
    }
    return call.insert(path, template, details=image_warnings(call, properties))


def _properties(call: Call) -> Json:
    """Return the properties in the call, or those of the instance that it names."""
    link, properties = call.body.get("sourceInstance"), call.body.get("properties")
    if not link:
        check_properties(properties or {})
        return _without_customer_keys(properties or {})
    if properties is not None:
        raise invalid("resource.sourceInstance", link, "Conflicts with properties.")
    instance = call.read(call.resolve(link))
    return copied_properties(call, instance, call.body.get("sourceInstanceParams") or {})


def _without_customer_keys(properties: Json) -> Json:
    """Leave out customer-supplied keys, which templates do not keep."""
    disks = [
        {name: value for name, value in disk.items() if name != "diskEncryptionKey" or not is_customer_supplied(value)}
        for disk in properties["disks"]
    ]
    return properties | {"disks": disks}


def _links(call: Call) -> Json:
    """Return the links to the region and to the source instance, if there are any."""
    region = {"region": call.url(call.parent)} if "region" in call.path else {}
    link = call.body.get("sourceInstance")
    return region | ({"sourceInstance": call.url(call.resolve(link))} if link else {})


def linked_template_properties(call: Call, field: str, link: str) -> Json:
    """Read the properties of the template that a link in a field names.

    A regional template can only be used in its own region.
    """
    path = call.resolve(link.partition("?")[0])
    regional, region = _REGIONAL.fullmatch(path), region_in(call)
    if regional and regional[1] != region:
        message = f"The template of region {regional[1]} cannot be used in region {region}."
        raise invalid(field, link, message)
    properties: Json = call.read(path)["properties"]
    return properties


@handles("compute.instanceTemplates.get", "compute.regionInstanceTemplates.get")
def get_template(call: Call) -> Json:
    """Read a template; v1 does not show beta fields."""
    return show(call, call.read(f"{call.parent}/instanceTemplates/{call.path['instanceTemplate']}"))


@handles("compute.instanceTemplates.list", "compute.regionInstanceTemplates.list")
def list_templates(call: Call) -> Json:
    """List the templates of a scope."""
    return list_scope(call, "instanceTemplates", "compute#instanceTemplatesListResponse")


@handles("compute.instanceTemplates.aggregatedList")
def aggregate_templates(call: Call) -> Json:
    """List the templates of every scope."""
    scopes = ["global", *(f"regions/{region}" for region in REGIONS)]
    return aggregate(call, "instanceTemplates", "compute#instanceTemplateAggregatedList", scopes)


@handles("compute.instanceTemplates.delete", "compute.regionInstanceTemplates.delete")
def delete_template(call: Call) -> Json:
    """Delete a template."""
    return call.delete(f"{call.parent}/instanceTemplates/{call.path['instanceTemplate']}")
