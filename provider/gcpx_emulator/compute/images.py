"""Compute: images, public ones and those that a project made, and the links by which disks name them."""

from __future__ import annotations

import re
from typing import Final

import attrs

from gcpx_emulator.compute.catalog import item
from gcpx_emulator.compute.names import check_free, check_name
from gcpx_emulator.core.errors import invalid, not_found
from gcpx_emulator.core.handlers import Call, handles
from gcpx_emulator.core.listing import listing
from gcpx_emulator.core.operations import timestamp
from gcpx_emulator.core.store import Json

PUBLIC: Final = {
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
"""By project: families, each with its newest image."""
REPLACEMENT: Final = "debian-12-bookworm-v20261014"
OLD: Final = {
    "debian-cloud": {
        "debian-10-buster-v20240612": "OBSOLETE",
        "debian-11-bullseye-v20251009": "DEPRECATED",
        "debian-9-stretch-v20220621": "DELETED",
    }
}
"""By project and name: public images whose time is over; no family leads to them."""
_NAME: Final = r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?"
_LINK: Final = re.compile(
    rf"(?:https?://[^/]+/compute/\w+/)?(?:projects/(?P<project>[-a-z0-9.:]+)/)?global/images/"
    rf"(?P<family>family/)?(?P<name>{_NAME}|\d+)"
)
_SOURCES: Final = ("rawDisk", "sourceDisk", "sourceImage", "sourceSnapshot")


def image_path(call: Call, field: str, link: str) -> str:
    """Reduce a link to the path of an image or a family; `family/F` is a public one, or else the project's own."""
    if re.fullmatch(rf"family/{_NAME}", link):
        family = link.removeprefix("family/")
        project = next((name for name, families in PUBLIC.items() if family in families), call.path["project"])
        return f"projects/{project}/global/images/{link}"
    found = _LINK.fullmatch(link)
    if found is None:
        raise invalid(field, link, "The URL is malformed.")
    project = found["project"] or call.path["project"]
    return f"projects/{project}/global/images/{found['family'] or ''}{found['name']}"


def found_image(call: Call, field: str, link: str) -> Json:
    """Find the image that a link names, which of a family is the newest."""
    _, project, _, _, *family, name = image_path(call, field, link).split("/")
    image = (_newest if family else _named)(call, project, name)
    if image is None:
        raise invalid(field, link, "The referenced image resource cannot be found.")
    return image


def _named(call: Call, project: str, name: str) -> Json | None:
    images = _all(call, project)
    return next((image for image in images if name in (image["name"], image["id"])), None)


def _newest(call: Call, project: str, family: str) -> Json | None:
    members = [image for image in _all(call, project) if image.get("family") == family]
    return max(members, key=lambda image: (image["creationTimestamp"], image["name"]), default=None)


def _all(call: Call, project: str) -> list[Json]:
    names = [*PUBLIC.get(project, {}).values(), *OLD.get(project, ())]
    return [*(_public(call, project, name) for name in names), *call.store.list(f"projects/{project}/global/images")]


def _public(call: Call, project: str, name: str) -> Json:
    within = attrs.evolve(call, path={"project": project})
    families = [family for family, image in PUBLIC.get(project, {}).items() if image == name]
    state = OLD.get(project, {}).get(name)
    link = f"{call.base}/projects/{project}/global/images/{REPLACEMENT}"
    rest = {
        **({"family": families[0]} if families else {}),
        **({"deprecated": {"state": state, "replacement": link}} if state else {}),
        "status": "READY",
        "sourceType": "RAW",
        "architecture": "ARM64" if "arm64" in name else "X86_64",
        "diskSizeGb": "10",
        "archiveSizeBytes": "1073741824",
    }
    return item(within, "image", "global/images", name, **rest)


@handles("compute.images.insert")
def insert_image(call: Call) -> Json:
    """Make an image of the project's own."""
    name = check_name(call.body)
    path = f"{call.parent}/images/{name}"
    check_free(call, path)
    if not any(call.body.get(source) for source in _SOURCES):
        raise invalid("resource.sourceDisk", "", "A source is required.")
    body = {"sourceType": "RAW", "architecture": "X86_64", "diskSizeGb": "10", "archiveSizeBytes": "1073741824"}
    number = str(10**18 + call.store.next())
    body |= call.body | {"kind": "compute#image", "id": number, "creationTimestamp": timestamp(), "status": "READY"}
    body["selfLink"] = f"{call.base}/{path}"
    return call.operation("insert", path, number, [{"put": path, "body": body}])


@handles("compute.images.delete")
def delete_image(call: Call) -> Json:
    """Delete an image of the project's own."""
    return call.delete(f"{call.parent}/images/{call.path['image']}")


@handles("compute.images.get")
def get_image(call: Call) -> Json:
    """Read an image by name or number."""
    found = _named(call, call.path["project"], call.path["image"])
    if found is None:
        raise not_found(f"{call.parent}/images/{call.path['image']}")
    return found


@handles("compute.images.getFromFamily")
def image_from_family(call: Call) -> Json:
    """Give the newest image of a family."""
    found = _newest(call, call.path["project"], call.path["family"])
    if found is None:
        raise not_found(f"{call.parent}/images/family/{call.path['family']}")
    return found


@handles("compute.images.list")
def list_images(call: Call) -> Json:
    """List the images of a project."""
    items = _all(call, call.path["project"])
    return listing("compute#imageList", f"{call.parent}/images", items, call.query, call.base)
