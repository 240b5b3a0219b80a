"""Images: public ones, those of a project, their deprecation, and the links from disks to them."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any, Final

from gcpx_emulator.compute.call import NAME, Call, existing, fixed_id, handles
from gcpx_emulator.compute.fingerprints import fingerprint
from gcpx_emulator.compute.lists import list_page
from gcpx_emulator.compute.predefined_resources import predefined_resource
from gcpx_emulator.compute.public_images import (
    PublicImage,
    added_public_image,
    newest_public_image,
    project_of_family,
    public_families,
    public_images,
)
from gcpx_emulator.core.controls import ControlBody, Field, did_you_mean, is_object, setting
from gcpx_emulator.core.errors import ApiError, invalid, not_found
from gcpx_emulator.core.json_data import Json
from gcpx_emulator.core.listing import in_order, page_of

_SHORT_FAMILY: Final = re.compile(rf"family/({NAME.pattern})")
_LINK: Final = re.compile(
    rf"(?:https?://[^/]+/compute/\w+/)?(?:projects/(?P<project>[-a-z0-9.:]+)/)?"
    rf"(?:global/images/(?P<family>family/)?(?P<name>{NAME.pattern}|\d+)"
    rf"|zones/(?:-|[a-z0-9-]+)/imageFamilyViews/(?P<view>{NAME.pattern}))"
)
"""The links to images; gcloud names a family by its view in a zone, or in the zone `-` of the instance."""
_DEBIAN: Final = re.compile(r"debian-([0-9]+)-([a-z]+)-(?:(arm64)-)?v([0-9]{8})")
_DEBIAN_CODE: Final = "3853522013536123851"
"""The code of the license of Debian 11, as recorded from 2022 to 2026; here all versions of Debian have it."""
_OF_PUBLIC_IMAGES: Final[Json] = {
    "enableConfidentialCompute": False,
    "labelFingerprint": fingerprint({"public-image": "true"}),
    "labels": {"public-image": "true"},
    "rawDisk": {"containerType": "TAR", "source": ""},
    "status": "READY",
    "storageLocations": ["asia", "us", "eu"],
}
"""The fields that all public images share, as recorded for one of Debian in 2025."""
DEFAULTS: Final = {"sourceType": "RAW", "diskSizeGb": "10", "archiveSizeBytes": "1073741824"}
"""The fields that every image has."""


def _are_families(value: Any) -> bool:
    return is_object(value) and all(
        isinstance(families, list) and all(isinstance(name, str) and NAME.fullmatch(name) for name in families)
        for families in value.values()
    )


_FAMILIES: Final = setting(
    "image-families",
    ControlBody("image-families", {"added": Field("an object with lists of families by project", _are_families)}).check,
)
"""The public families that exist besides the known ones, such as those that Google has retired."""


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
    name = f"family/{parts['view']}" if parts["view"] else f"{parts['family'] or ''}{parts['name']}"
    return f"projects/{project}/global/images/{name}"


def linked_image(call: Call, field: str, link: str) -> Json:
    """Read the image that a link names, or the newest one of a family; without one, the error names `field`.

    Many new disks of one call may name the same image, so it is read once.
    """
    key = f"image {link}"
    if key not in call.found:
        _, project, _, _, *family, name = image_path(call, field, link).split("/")
        found = _newest(call, project, name) if family else existing("image", field, link, _image(call, project, name))
        if found is None:
            raise _no_family(f"projects/{project}/global/images", project, name)
        call.found[key] = found
    image: Json = call.found[key]
    return image


def _no_family(images: str, project: str, family: str) -> ApiError:
    """Say that an image family does not exist; if it is that of a public project, name those that do."""
    error, known = (
        not_found(f"{images}/family/{family}"),
        [name for owner, name in public_families() if owner == project],
    )
    hint = f"{did_you_mean(family, known)} POST /_emulator/image-families adds others." if known else ""
    return ApiError(404, f"{error.message}{hint}")


def _image(call: Call, project: str, name: str) -> Json | None:
    """Find an image by name or numeric ID."""
    public = public_images(project).get(name)
    if public is not None:
        return _shown(call, public)
    images = _images(call, project)
    return next((image for image in images if name in (image["name"], image["id"])), None)


_ACTIVE: Final = "ACTIVE"


def _newest(call: Call, project: str, family: str) -> Json | None:
    """Find the newest usable image of a family."""
    newest = newest_public_image(project, family)
    public = [_shown(call, newest)] if newest else [item for item in _added(call, project) if item["family"] == family]
    own = [image for image in call.store.list(f"projects/{project}/global/images") if image.get("family") == family]
    usable = [image for image in own if (image.get("deprecated") or {}).get("state", _ACTIVE) == _ACTIVE]
    return max([*public, *usable], key=itemgetter("creationTimestamp", "name"), default=None)


def _images(call: Call, project: str) -> list[Json]:
    public = [_shown(call, image) for image in public_images(project).values()]
    return [*public, *_added(call, project), *call.store.list(f"projects/{project}/global/images")]


def _added(call: Call, project: str) -> list[Json]:
    families = _FAMILIES.read(call.store).get("added", {}).get(project, ())
    return [_shown(call, added_public_image(project, family)) for family in families]


def _shown(call: Call, image: PublicImage) -> Json:
    """Describe a public image."""
    parent = f"projects/{image.project}/global/images"
    own = {"diskSizeGb": str(image.size), "architecture": image.architecture}
    fields: Json = {**DEFAULTS, **_OF_PUBLIC_IMAGES, **own}
    if image.family:
        fields["family"] = image.family
    if image.features:
        fields["guestOsFeatures"] = [{"type": feature} for feature in image.features]
    if image.licenses:
        paths = [f"projects/{license_.replace('/', '/global/licenses/')}" for license_ in image.licenses]
        fields["licenses"] = [call.url(path) for path in paths]
        fields["licenseCodes"] = [_DEBIAN_CODE if "/debian-cloud/" in path else fixed_id(path) for path in paths]
    if image.built:
        year, month, day = image.built[:4], image.built[4:6], image.built[6:]
        fields["creationTimestamp"] = f"{year}-{month}-{day}T00:00:00.000-07:00"
    debian = _DEBIAN.fullmatch(image.name)
    if debian:
        number, title, architecture, date = debian.groups()
        words = f"{number} ({title}), {architecture or 'amd64'} built on {date}"
        fields["description"] = f"Debian, Debian GNU/Linux, {words}"
    if image.state:
        fields["deprecated"] = {"state": image.state, "replacement": call.url(f"{parent}/{image.replacement}")}
    return predefined_resource(call, "image", parent, image.name, **fields)


@handles("compute.images.get", "compute.images.getFromFamily")
def get_image(call: Call) -> Json:
    """Read an image, or the newest image of a family."""
    project, family = call.path["project"], call.path.get("family")
    image = _newest(call, project, family) if family else _image(call, project, call.path["image"])
    if image is None and family:
        raise _no_family(f"{call.parent}/images", project, family)
    if image is None:
        raise not_found(f"{call.parent}/images/{call.path['image']}")
    return image


@handles("compute.images.list")
def list_images(call: Call) -> Json:
    """List the images of a project."""
    images = in_order({image["name"]: image for image in _images(call, call.path["project"])})
    return list_page(call, "compute#imageList", f"{call.parent}/images", lambda: page_of(images, call.query))


def image_warnings(call: Call, properties: Json) -> Json:
    """Return an operation's `warnings` about the images of disks, if any; refuse images that cannot be used."""
    warnings = []
    for index, disk in enumerate(properties.get("disks") or ()):
        link = (disk.get("initializeParams") or {}).get("sourceImage")
        if link:
            field = f"resource.properties.disks[{index}].initializeParams.sourceImage"
            deprecated = linked_image(call, field, link).get("deprecated")
            if deprecated is not None and deprecated.get("state", _ACTIVE) != _ACTIVE:
                warnings.append(_warning(field, link, deprecated))
    return {"warnings": warnings} if warnings else {}


def _warning(field: str, link: str, deprecated: Json) -> Json:
    state, replacement = deprecated["state"], deprecated.get("replacement")
    if state != "DEPRECATED":
        raise invalid(field, link, f"The resource is {state}{f'; use {replacement}' if replacement else ''}.")
    message, data = f"The resource '{link}' is deprecated.", [{"key": "resource_name", "value": link}]
    if replacement:
        message += f" A suggested replacement is '{replacement}'."
        data.append({"key": "replacement", "value": replacement})
    return {"code": "DEPRECATED_RESOURCE_USED", "message": message, "data": data}
