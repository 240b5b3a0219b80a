"""Images: public ones, those of a project, their deprecation, and the links by which disks name them."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Final

from gcpx_emulator.compute.call import NAME, Call, check_free, check_name, handles
from gcpx_emulator.compute.lists import list_items
from gcpx_emulator.compute.predefined_resources import predefined_resource
from gcpx_emulator.core.clock import timestamp
from gcpx_emulator.core.errors import invalid, not_found
from gcpx_emulator.core.json_data import Json

FAMILIES: Final = {
    "almalinux-cloud": {"almalinux-9": "almalinux-9-v20261014"},
    "centos-cloud": {"centos-stream-9": "centos-stream-9-v20261014", "centos-stream-10": "centos-stream-10-v20261014"},
    "cos-cloud": {"cos-stable": "cos-stable-125-19216-104-12"},
    "debian-cloud": {
        "debian-12": "debian-12-bookworm-v20261014",
        "debian-12-arm64": "debian-12-bookworm-arm64-v20261014",
        "debian-13": "debian-13-trixie-v20261014",
        "debian-13-arm64": "debian-13-trixie-arm64-v20261014",
    },
    "fedora-coreos-cloud": {"fedora-coreos-stable": "fedora-coreos-44-20261011-3-0-gcp-x86-64"},
    "opensuse-cloud": {"opensuse-leap": "opensuse-leap-15-6-v20261014-x86-64"},
    "rhel-cloud": {"rhel-9": "rhel-9-v20261014", "rhel-10": "rhel-10-v20261014"},
    "rocky-linux-cloud": {
        "rocky-linux-9": "rocky-linux-9-v20261014",
        "rocky-linux-9-optimized-gcp": "rocky-linux-9-optimized-gcp-v20261014",
    },
    "suse-cloud": {"sles-15": "sles-15-sp7-v20261014-x86-64"},
    "suse-sap-cloud": {"sles-15-sp6-sap": "sles-15-sp6-sap-v20261014-x86-64"},
    "ubuntu-os-cloud": {
        "ubuntu-2204-lts": "ubuntu-2204-jammy-v20261015",
        "ubuntu-2404-lts-amd64": "ubuntu-2404-noble-amd64-v20261015",
        "ubuntu-minimal-2404-lts-amd64": "ubuntu-minimal-2404-noble-amd64-v20261015",
    },
    "ubuntu-os-pro-cloud": {"ubuntu-pro-2404-lts-amd64": "ubuntu-pro-2404-noble-amd64-v20261015"},
    "windows-cloud": {"windows-2022": "windows-server-2022-dc-v20261014"},
    "windows-sql-cloud": {"sql-std-2022-win-2022": "sql-2022-standard-windows-2022-dc-v20261014"},
}
"""The newest image of each family, by project."""
DEPRECATED: Final = {
    "debian-cloud": {
        "debian-10-buster-v20240612": "OBSOLETE",
        "debian-11-bullseye-v20251009": "DEPRECATED",
        "debian-9-stretch-v20220621": "DELETED",
    }
}
"""The states of images that should no longer be used, by project; none belongs to a family."""
REPLACEMENT: Final = "debian-12-bookworm-v20261014"
"""The image that every deprecated image names as its replacement."""


def project_of_family(family: str) -> str | None:
    """Name the project that has a public family."""
    return next((project for project, families in FAMILIES.items() if family in families), None)


_SHORT_FAMILY: Final = re.compile(rf"family/({NAME.pattern})")
_LINK: Final = re.compile(
    rf"(?:https?://[^/]+/compute/\w+/)?(?:projects/(?P<project>[-a-z0-9.:]+)/)?global/images/"
    rf"(?P<family>family/)?(?P<name>{NAME.pattern}|\d+)"
)
_SOURCES: Final = ("rawDisk", "sourceDisk", "sourceImage", "sourceSnapshot")
_LINKED_SOURCES: Final = {"sourceDisk": "disk", "sourceSnapshot": "snapshot"}
_DEFAULTS: Final = {"sourceType": "RAW", "architecture": "X86_64", "diskSizeGb": "10", "archiveSizeBytes": "1073741824"}


def image_path(call: Call, field: str, link: str) -> str:
    """Return the path of the image or the image family that a link names.

    `family/FAMILY` is a public family or, if there is none, one of the project. Errors about the link name `field`.
    """
    short = _SHORT_FAMILY.fullmatch(link)
    if short:
        return f"projects/{project_of_family(short[1]) or call.path['project']}/global/images/{link}"
    parts = _LINK.fullmatch(link)
    if parts is None:
        raise invalid(field, link, "The URL is malformed.")
    project = parts["project"] or call.path["project"]
    return f"projects/{project}/global/images/{parts['family'] or ''}{parts['name']}"


def linked_image(call: Call, field: str, link: str) -> Json:
    """Read the image that a link names, or the newest one of a family; the error names `field` if there is none."""
    _, project, _, _, *family, name = image_path(call, field, link).split("/")
    image = (_newest if family else _image)(call, project, name)
    if image is None:
        raise invalid(field, link, "The referenced image resource cannot be found.")
    return image


def _image(call: Call, project: str, name: str) -> Json | None:
    """Find an image by name or numeric ID."""
    images = _images(call, project)
    return next((image for image in images if name in (image["name"], image["id"])), None)


def _newest(call: Call, project: str, family: str) -> Json | None:
    newest = FAMILIES.get(project, {}).get(family)
    public = [_public_image(call, project, newest)] if newest else []
    own = [image for image in call.store.list(f"projects/{project}/global/images") if image.get("family") == family]
    return max([*public, *own], key=itemgetter("creationTimestamp", "name"), default=None)


def _images(call: Call, project: str) -> list[Json]:
    names = [*FAMILIES.get(project, {}).values(), *DEPRECATED.get(project, ())]
    public = [_public_image(call, project, name) for name in names]
    return [*public, *call.store.list(f"projects/{project}/global/images")]


def _public_image(call: Call, project: str, name: str) -> Json:
    """Describe the public image of this name."""
    fields: Json = {**_DEFAULTS, "status": "READY"}
    if "arm64" in name:
        fields["architecture"] = "ARM64"
    families = [family for family, newest in FAMILIES.get(project, {}).items() if newest == name]
    if families:
        fields["family"] = families[0]
    state = DEPRECATED.get(project, {}).get(name)
    if state:
        replacement = call.url(f"projects/{project}/global/images/{REPLACEMENT}")
        fields["deprecated"] = {"state": state, "replacement": replacement}
    return predefined_resource(call, "image", f"projects/{project}/global/images", name, **fields)


@handles("compute.images.insert")
def insert_image(call: Call) -> Json:
    """Create an image of the project."""
    path = f"{call.parent}/images/{check_name(call.body)}"
    check_free(call, path)
    if not any(call.body.get(source) for source in _SOURCES):
        raise invalid("resource.sourceDisk", "", "A source is required.")
    for source in _LINKED_SOURCES.keys() & call.body.keys():
        call.linked(_LINKED_SOURCES[source], f"resource.{source}", call.body[source])
    if call.body.get("sourceImage"):
        linked_image(call, "resource.sourceImage", call.body["sourceImage"])
    head = {"kind": "compute#image", "id": call.store.new_id(), "creationTimestamp": timestamp(), "status": "READY"}
    return call.insert(path, _DEFAULTS | call.body | head | {"selfLink": call.url(path)})


@handles("compute.images.delete")
def delete_image(call: Call) -> Json:
    """Delete an image of the project."""
    return call.delete(f"{call.parent}/images/{call.path['image']}")


@handles("compute.images.get")
def get_image(call: Call) -> Json:
    """Read an image."""
    image = _image(call, call.path["project"], call.path["image"])
    if image is None:
        raise not_found(f"{call.parent}/images/{call.path['image']}")
    return image


@handles("compute.images.getFromFamily")
def get_newest_image(call: Call) -> Json:
    """Read the newest image of a family."""
    image = _newest(call, call.path["project"], call.path["family"])
    if image is None:
        raise not_found(f"{call.parent}/images/family/{call.path['family']}")
    return image


@handles("compute.images.list")
def list_images(call: Call) -> Json:
    """List the images of a project."""
    return list_items(call, "compute#imageList", f"{call.parent}/images", _images(call, call.path["project"]))


def image_warnings(call: Call, properties: Json) -> Json:
    """Return an operation's `warnings` about the images of disks, if any; refuse images that cannot be used."""
    warnings = []
    for index, disk in enumerate(properties.get("disks") or ()):
        link = (disk.get("initializeParams") or {}).get("sourceImage")
        if link:
            field = f"resource.properties.disks[{index}].initializeParams.sourceImage"
            deprecated = linked_image(call, field, link).get("deprecated")
            if deprecated is not None:
                warnings.append(_warning(field, link, deprecated))
    return {"warnings": warnings} if warnings else {}


def _warning(field: str, link: str, deprecated: Json) -> Json:
    state, replacement = deprecated["state"], deprecated["replacement"]
    if state != "DEPRECATED":
        raise invalid(field, link, f"The resource is {state}; use {replacement}.")
    message = f"The resource '{link}' is deprecated. A suggested replacement is '{replacement}'."
    data = [{"key": "resource_name", "value": link}, {"key": "replacement", "value": replacement}]
    return {"code": "DEPRECATED_RESOURCE_USED", "message": message, "data": data}
