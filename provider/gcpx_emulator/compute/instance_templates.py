"""Compute: instance templates, global and regional."""

from __future__ import annotations

import re

from gcpx_emulator.compute.catalog import ZONES, check_place
from gcpx_emulator.compute.deprecations import notes
from gcpx_emulator.compute.encryption import customer_supplied
from gcpx_emulator.compute.instance_copies import copied_properties
from gcpx_emulator.compute.instance_properties import check_properties, stored_properties
from gcpx_emulator.compute.names import check_free, check_name
from gcpx_emulator.compute.presentation import aggregated, listed, seen
from gcpx_emulator.core.errors import invalid
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.operations import timestamp
from gcpx_emulator.core.store import Json


@handles("compute.instanceTemplates.insert", "compute.regionInstanceTemplates.insert")
def insert_template(call: Call) -> Json:
    """Make a template, from properties or from an instance."""
    check_place(call)
    name, body = check_name(call.body), dict(call.body)
    path = f"{call.parent}/instanceTemplates/{name}"
    check_free(call, path)
    if body.get("sourceInstance"):
        if "properties" in body:
            raise invalid("resource.sourceInstance", body["sourceInstance"], "Conflicts with properties.")
        instance = call.found(call.linked(body["sourceInstance"]))
        properties = copied_properties(call, instance, body.get("sourceInstanceParams") or {})
        body["sourceInstance"] = f"{call.base}/{call.linked(body['sourceInstance'])}"
    else:
        properties = _without_customers_keys(check_properties(body.get("properties") or {}))
    body.pop("sourceInstanceParams", None)
    number = str(10**18 + call.store.next())
    body |= {
        "kind": "compute#instanceTemplate",
        "id": number,
        "creationTimestamp": timestamp(),
        "selfLink": f"{call.base}/{path}",
        "properties": stored_properties(call, properties),
    }
    if "region" in call.path:
        body["region"] = f"{call.base}/{call.parent}"
    extra = notes(call, properties)
    return call.operation("insert", path, number, [{"put": path, "body": body}], extra=extra)


def _without_customers_keys(properties: Json) -> Json:
    """Forget the keys that are the customer's own, which templates do not store."""
    disks = [
        {name: value for name, value in disk.items() if name != "diskEncryptionKey" or not customer_supplied(value)}
        for disk in properties["disks"]
    ]
    return properties | {"disks": disks}


def of_template(call: Call, field: str, link: str) -> Json:
    """Give the properties of the template that a field names; a regional one serves its own region alone."""
    path = call.linked(link.partition("?")[0])
    found = re.fullmatch(r"projects/[^/]+/regions/([^/]+)/instanceTemplates/[^/]+", path)
    region = call.path.get("region") or call.path["zone"].rpartition("-")[0]
    if found and found[1] != region:
        raise invalid(field, link, f"The template of region {found[1]} cannot be used in region {region}.")
    properties: Json = call.found(path)["properties"]
    return properties


@handles("compute.instanceTemplates.get", "compute.regionInstanceTemplates.get")
def get_template(call: Call) -> Json:
    """Read a template; v1 shows no beta field."""
    return seen(call, call.found(f"{call.parent}/instanceTemplates/{call.path['instanceTemplate']}"))


@handles("compute.instanceTemplates.list", "compute.regionInstanceTemplates.list")
def list_templates(call: Call) -> Json:
    """List the templates of a scope."""
    return listed(call, "instanceTemplates", "compute#instanceTemplatesListResponse")


@handles("compute.instanceTemplates.aggregatedList")
def aggregate_templates(call: Call) -> Json:
    """List the templates of every scope."""
    return aggregated(call, "instanceTemplates", "compute#instanceTemplateAggregatedList", [
        "global", *(f"regions/{name}" for name in ZONES)
    ])  # fmt: skip


@handles("compute.instanceTemplates.delete", "compute.regionInstanceTemplates.delete")
def delete_template(call: Call) -> Json:
    """Delete a template."""
    return call.delete(f"{call.parent}/instanceTemplates/{call.path['instanceTemplate']}")
