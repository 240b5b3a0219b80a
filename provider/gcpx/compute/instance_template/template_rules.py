"""Rules across the properties of an instance template."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gcpx.compute.documentation import rest
from gcpx.compute.instance_properties.encryption_keys import no_customer_keys
from gcpx.compute.instance_properties.instance_rules import boot_disk_is_missing
from gcpx.model.rules import Violation, elements, nested, rule
from gcpx.model.values import UNKNOWN, Path

_INSTANTIATE_FROM: Final = rest("instanceTemplates", "sourceInstanceParams.diskConfigs[].instantiateFrom")


@rule("customImage and instantiateFrom: CUSTOM_IMAGE must be set together", _INSTANTIATE_FROM)
def custom_image_and_instantiate_from_require_each_other(values: dict[str, Any]) -> list[Violation]:
    """Refuse one without the other."""
    source, image = values.get("instantiateFrom"), values.get("customImage")
    if image and source not in ("CUSTOM_IMAGE", UNKNOWN):
        return [("customImage", "requires instantiateFrom: CUSTOM_IMAGE")]
    return [("customImage", "is required with CUSTOM_IMAGE")] if source == "CUSTOM_IMAGE" and not image else []


@rule("sourceInstanceParams requires sourceInstance", rest("instanceTemplates", "sourceInstanceParams"))
def source_instance_params_require_source_instance(values: dict[str, Any]) -> list[Violation]:
    """Refuse parameters of a source instance without a source instance."""
    if values.get("sourceInstanceParams") and not values.get("sourceInstance"):
        return [("sourceInstanceParams", "requires sourceInstance: set it, or remove sourceInstanceParams")]
    return []


@rule("the properties of a template must include machineType", rest("instanceTemplates", "properties.machineType"))
def properties_include_machine_type(values: dict[str, Any]) -> list[Violation]:
    """Require a machine type, which Google requires when the template is created."""
    properties = values.get("properties")
    if isinstance(properties, dict) and not properties.get("machineType"):
        return [("properties.machineType", "is required: a template must have a machine type")]
    return []


@rule("the properties of a template must include a boot disk, disks[0]", rest("instanceTemplates", "properties.disks"))
def properties_include_boot_disk(values: dict[str, Any]) -> list[Violation]:
    """Require a boot disk, which Google requires when the template is created."""
    properties = values.get("properties")
    if not isinstance(properties, dict):
        return []
    return [(("properties", str(name)), reason) for name, reason in boot_disk_is_missing(properties)]


@rule(
    "the properties of a template must include a network interface",
    rest("instanceTemplates", "properties.networkInterfaces"),
)
def properties_include_network_interface(values: dict[str, Any]) -> list[Violation]:
    """Require a network interface, which Google requires when the template is created."""
    properties = values.get("properties")
    if not isinstance(properties, dict) or properties.get("networkInterfaces") not in (None, []):
        return []
    words = "must have at least one interface, such as [{}] for the network global/networks/default"
    return [("properties.networkInterfaces", words)]


@rule(
    "machineType, diskType, acceleratorType and resourcePolicies in properties must be names, not URLs",
    rest("instanceTemplates", "properties.disks[].initializeParams.diskType"),
)
def types_and_policies_are_names(values: dict[str, Any]) -> list[Violation]:
    """Refuse URLs of zonal resources, because a template has no zone."""
    reason = "must be a bare name, not a URL, in a template: write only the part after the last slash"
    places = _types_and_policies(nested(values, "properties"))
    return [(("properties", *path), reason) for path, value in places if isinstance(value, str) and "/" in value]


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
def customer_supplied_keys_are_absent(values: dict[str, Any]) -> list[Violation]:
    """Refuse keys that a template does not store."""
    return no_customer_keys("properties", values)
